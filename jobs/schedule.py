"""Do what the declared cadence has due, and end: for spark-submit, or any scheduler that runs it often.

    spark-submit jobs/schedule.py
    python jobs/schedule.py --dry-run

Exit codes: 0 done and well, 1 a check found something, 2 wrong input or an expectation failed, 3 an outside system
failed, 70 a defect. With several the code is the highest of theirs. Where another instance is at work it does nothing.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from featurekit.batch_state import batch_state
from featurekit.clock import format_instant, parse_instant
from featurekit.errors import FeaturekitError, RefreshRunningError
from featurekit.feature_store import FeatureStore
from featurekit.monitoring.batch import write_metrics
from featurekit.scheduled_work import ScheduledWork


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is due and return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        now = parse_instant(asked.now) if asked.now else None
        with FeatureStore.from_settings(asked.settings, now=now) as store:
            return _run(store, asked)
    except RefreshRunningError as error:
        sys.stdout.write(f"another instance is at work: {error.where}\n")
        return 0
    except FeaturekitError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception:  # noqa: BLE001 - a defect must have its own exit code, not Python's 1
        traceback.print_exc()
        return 70


def _run(store: FeatureStore, asked: argparse.Namespace) -> int:
    work = ScheduledWork(store)
    if asked.dry_run:
        for task in work.plan().due:
            sys.stdout.write(f"{task.name}: due since {format_instant(task.due_at)}\n")
        return 0
    done, delivery = work.run(is_stopped=lambda: False)
    for one in done:
        out = sys.stdout if one.error is None else sys.stderr
        out.write(f"{one.task.name}: {one.told}\n")
    sys.stderr.writelines(f"{failure}\n" for failure in delivery.failures)
    if asked.metrics_file:
        write_metrics(lambda: batch_state(store, work.plan()), asked.metrics_file)
    return max((one.exit_code for one in done), default=0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="only show what is due")
    parser.add_argument("--metrics-file", type=Path, metavar="FILE", help="write metrics there, for node_exporter")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="featurekit.toml (default: found from here)")
    parser.add_argument("--now", metavar="TIME", help="the clock, for data of the past")
    return parser


if __name__ == "__main__":
    sys.exit(main())
