"""Drop what nothing needs any more from the online store: for cron or any scheduler. Starts no Spark.

    python jobs/gc.py --dry-run

Exit codes: 0 done, 2 wrong input, 3 an outside system failed, 70 a defect.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from featurekit.errors import FeaturekitError
from featurekit.feature_store import FeatureStore


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect and return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        with FeatureStore.from_settings(asked.settings) as store:
            done = store.gc(dry_run=asked.dry_run)
    except FeaturekitError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except Exception:  # noqa: BLE001 - a defect must have its own exit code, not Python's 1
        traceback.print_exc()
        return 70
    gone = len(done.views) + len(done.services) + len(done.spaces) + len(done.plans)
    would = "would drop" if done.is_dry else "dropped"
    sys.stdout.write(f"{would} {done.rows:,} rows and {gone:,} other things\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="featurekit.toml (default: found from here)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
