"""`check --replay`: is what was served, by the log, what training says of the same requests?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featurekit.cli.answer import Answer
from featurekit.cli.context import invocation
from featurekit.cli.show_replay import replay_answer
from featurekit.clock import parse_instant
from featurekit.consistency.files import check_writable, write_report
from featurekit.consistency.replay.logged import ReplayRule
from featurekit.consistency.replay.replay import MOST_LATE, ReplayLimits
from featurekit.feature_store import FeatureStore

_DEFAULT = ReplayRule()


def replay(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The folder of the served-feature log.")],
    services: Annotated[
        list[str] | None, typer.Argument(metavar="SERVICE", help="All services in the log without one.")
    ] = None,
    max_requests: Annotated[
        int, typer.Option("--max-requests", metavar="N", help="How many logged rows of a service are replayed at most.")
    ] = _DEFAULT.max_rows,
    share: Annotated[
        float, typer.Option("--share", metavar="SHARE", help="Of all entities, about how many: 0.1 is every tenth.")
    ] = _DEFAULT.share,
    seed: Annotated[str, typer.Option("--seed", metavar="TEXT", help="Another seed chooses other entities.")] = "",
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only requests from then on.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only requests before then.")] = None,
    max_late: Annotated[
        float, typer.Option("--max-late", metavar="SHARE", help="Which share of a view's answers may have been late.")
    ] = MOST_LATE,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page.")] = None,
    report_json: Annotated[
        Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")
    ] = None,
    no_record: Annotated[
        bool, typer.Option("--no-record", help="Leave the run out of what check history lists.")
    ] = False,
) -> Answer:
    """Compare what was really served with what training says of the same requests.

    Takes logged requests, recomputes each view as of what was served and each on-demand feature from what was served
    beside it, and says of each difference which of the two it is about; late answers are told apart from both. Needs no
    online store. Exits with 1 where something differs, was late too often, or could not be compared.
    """
    check_writable(html, report_json)
    rule = ReplayRule(
        share=share,
        max_rows=max_requests,
        seed=seed,
        since=None if since is None else parse_instant(since),
        until=None if until is None else parse_instant(until),
    )
    with FeatureStore(invocation(context).settings()) as store:
        limits = ReplayLimits(most_late=max_late)
        report = store.replay(log.absolute(), services or (), rule=rule, limits=limits, record=not no_record)
    write_report(report, html=html, json=report_json)
    return replay_answer(report)
