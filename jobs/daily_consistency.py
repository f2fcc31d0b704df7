"""Compare what is served with what training says, and write the report: for spark-submit, cron or any scheduler.

    spark-submit jobs/daily_consistency.py --report out/check.html --json out/check.json
    python jobs/daily_consistency.py carrier_punctuality --max-entities 500

Exit codes: 0 everything agrees, 1 the check found something, 2 wrong input, 3 an outside system failed, 70 a defect.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from featurekit.clock import parse_instant
from featurekit.consistency.files import check_writable, write_report
from featurekit.consistency.sample import SampleRule
from featurekit.errors import FeaturekitError
from featurekit.feature_store import FeatureStore
from featurekit.notifying import check_sinks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check and return its exit code."""
    asked = _parser().parse_args(arguments)
    try:
        check_writable(asked.report, asked.json)
        sample = SampleRule(
            share=asked.share, max_entities=asked.max_entities, per_stratum=asked.per_stratum, seed=asked.seed
        )
        now = parse_instant(asked.now) if asked.now else None
        at = parse_instant(asked.at) if asked.at else None
        with FeatureStore.from_settings(asked.settings, now=now) as store:
            if asked.alert:
                check_sinks(store.settings)
            report = store.check(asked.views or None, sample=sample, at=at)
            write_report(report, html=asked.report, json=asked.json)
            for failure in store.alert(report).failures if asked.alert else ():
                sys.stderr.write(f"{failure}\n")  # kept, and sent the next time: the verdict is the check's
    except FeaturekitError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception:  # noqa: BLE001 - a defect must not look like a mismatch, which is Python's exit code 1
        traceback.print_exc()
        return 70
    sys.stdout.write(f"{report.summary}\n")
    return report.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", nargs="*", metavar="VIEW", help="views to check; all registered ones if none")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report as one HTML page")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    parser.add_argument("--at", metavar="TIME", help="the time of the lookups (default: now)")
    parser.add_argument("--share", type=float, default=1.0, help="of all entities, 0 to 1 (default: %(default)s)")
    parser.add_argument("--max-entities", type=int, default=1000, metavar="N", help="per view (default: %(default)s)")
    parser.add_argument(
        "--per-stratum", type=int, default=20, metavar="N", help="of each rare kind beside them (default: %(default)s)"
    )
    parser.add_argument("--alert", action="store_true", help="tell the sinks of [alerts] what turned")
    parser.add_argument("--seed", default="", help="another seed, other entities: the day's date, say")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="featurekit.toml (default: found from here)")
    parser.add_argument("--now", metavar="TIME", help="the clock, for data of the past")
    return parser


if __name__ == "__main__":
    sys.exit(main())
