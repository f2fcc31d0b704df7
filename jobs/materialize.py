"""Refresh views and publish them: for spark-submit, cron or any scheduler.

    spark-submit jobs/materialize.py carrier_punctuality route_load
    python jobs/materialize.py --as-of 2013-11-15
    python jobs/materialize.py --from 2013-10-01 --to 2013-11-01      # into the history

Exit codes: 0 published, 2 wrong input or an expectation failed, 3 an outside system failed, 70 a defect. A refresh
that fails is never served: what was served before still is, and the other views are refreshed all the same. With
several failures the code is the highest of theirs.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from featurekit.clock import format_instant, parse_instant
from featurekit.errors import FeaturekitError
from featurekit.feature_store import FeatureStore
from featurekit.materializing import MaterializeErrors


def main(arguments: Sequence[str] | None = None) -> int:
    """Materialize and return the exit code."""
    asked = _parser().parse_args(arguments)
    code = 0
    try:
        now = parse_instant(asked.now) if asked.now else None
        as_of = parse_instant(asked.as_of) if asked.as_of else None
        with FeatureStore.from_settings(asked.settings, now=now) as store:
            if asked.start:
                end = parse_instant(asked.end) if asked.end else None
                refreshes = store.backfill(asked.views or None, start=parse_instant(asked.start), end=end)
            else:
                refreshes = store.materialize(asked.views or None, as_of=as_of)
    except MaterializeErrors as error:
        sys.stderr.write(f"{error}\n")
        refreshes, code = error.outcomes, error.exit_code
    except FeaturekitError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception:  # noqa: BLE001 - a defect must have its own exit code, not Python's 1
        traceback.print_exc()
        return 70
    for refresh in refreshes:
        done = f"{refresh.rows:,} rows computed" if refresh.is_new else "there already"
        times = f"as of {format_instant(refresh.as_of)}, served from {format_instant(refresh.visible_from)}"
        sys.stdout.write(f"{refresh.view} {times}: {done}\n")
        sys.stderr.writelines(f"{refresh.view}: {note}\n" for note in refresh.notes)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", nargs="*", metavar="VIEW", help="views to refresh; all registered ones if none")
    parser.add_argument("--as-of", metavar="TIME", help="a grid instant (default: all that are due)")
    parser.add_argument("--from", dest="start", metavar="TIME", help="fill the history from this time on")
    parser.add_argument("--to", dest="end", metavar="TIME", help="and before this time (default: until now)")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="featurekit.toml (default: found from here)")
    parser.add_argument("--now", metavar="TIME", help="the clock, for data of the past")
    return parser


if __name__ == "__main__":
    sys.exit(main())
