"""The tour's chapter on what training sets promise, as declared, as served, by event time, and what is delivered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from featurekit.clock import DAY, format_instant
from featurekit.config import read_settings
from featurekit.examples.auc import HELD_OUT, SERVICE, serve, write_question_rows

DAYS: Final = 2
_ENVIRONMENT: Final = "november"
_JUDGE: Final = """\
from pathlib import Path
from featurekit.examples.auc import judge

verdict = judge(Path("{out}/three"), Path("{out}/answers.parquet"))
print(verdict)
print(f"trained on {{verdict.trained:,}} flights, judged by {{verdict.rows:,}}; {{verdict.late:.0%}} of them were late")
"""
_VERDICT: Final = """
The declared set keeps its word, and refreshes by hand are on record in the served one. The set by event time
promises what can't be delivered: some of what its model goes by is not known yet when it is asked. On two
calm days little tells who is late; `make auc` takes a third one, and finds the same at an AUC of 0.73.
"""


class Steps(Protocol):
    """What the chapter needs of the tour."""

    def say(self, title: str, text: str) -> None: ...
    def command(self, words: str, *, exits_with: int = 0) -> None: ...
    def snippet(self, code: str) -> None: ...
    def add(self, text: str) -> None: ...


def three_truths(tour: Steps, out: Path) -> None:
    """Serve a fortnight badly and two days well, in an environment of its own; compare, train and judge."""
    out.mkdir()
    labels = write_question_rows(Path("data"), out, DAYS)
    with _environment():
        serve(read_settings(start=Path.cwd(), environ=os.environ), labels, out / "answers.parquet")
        tour.say(
            "Three truths",
            """What is a training set worth? It can hold what serving promises (declared), what it really answered
            (served), or what nobody could know yet (event-time). In another environment
            (`FEATUREKIT_ENVIRONMENT=november`) views were refreshed by hand twice a week until 14 November, and from
            the 15th on when they were due, hour by hour; the flights of the 15th and 16th were looked up when they were
            asked about. One command builds all three sets of the same labels:""",
        )
        tour.command(
            f"dataset compare {SERVICE} --labels {labels} --out {out}/three --top 10"
            f" --now {format_instant(HELD_OUT + DAYS * DAY)}"
        )
    tour.add(
        "\nThe same model, trained on each of them until the 14th: what does its set say that it is worth on the two"
        "\ndays after, and what is it worth there with the values that the store answered?\n"
    )
    tour.snippet(_JUDGE.format(out=out))
    tour.add(_VERDICT)


@contextmanager
def _environment() -> Iterator[None]:
    before = os.environ.get("FEATUREKIT_ENVIRONMENT")
    os.environ["FEATUREKIT_ENVIRONMENT"] = _ENVIRONMENT
    try:
        yield
    finally:
        if before is None:
            del os.environ["FEATUREKIT_ENVIRONMENT"]
        else:
            os.environ["FEATUREKIT_ENVIRONMENT"] = before
