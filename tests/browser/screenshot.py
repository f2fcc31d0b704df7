"""The picture of a report in docs/images: a week of checks on the flights, with faults planted for the last three days.

    python -m tests.browser.screenshot                 run the week, write the page and the pictures
    python -m tests.browser.screenshot --page FILE     only picture a page that is there

The page itself is left beside the state, in .featurekit/screenshot/report.html.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from featurekit.clock import DAY, format_instant, parse_instant
from featurekit.consistency.sample import SampleRule
from featurekit.examples.flights import write_sources
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.online.refresh import read_head
from featurekit.status import Status
from featurekit.types import Field
from tests.browser.conftest import CHROMIUM

ROOT: Final = Path(__file__).parents[2]
STATE: Final = ROOT / ".featurekit" / "screenshot"
IMAGES: Final = ROOT / "docs" / "images"
LAST: Final = parse_instant("2013-11-15T14:30Z")
VIEWS: Final = ("carrier_punctuality", "route_load", "plane_history", "plane_facts")
HEIGHT: Final = 1150
Change = Callable[[Any, Status], tuple[Any, Status]]


def fill_with_zero(value: Any, status: Status) -> tuple[Any, Status]:
    return (0, Status.PRESENT) if status is Status.NULL else (value, status)


def in_percent(value: Any, status: Status) -> tuple[Any, Status]:
    return (value * 100 if status is Status.PRESENT else value), status


FAULTS: Final[dict[int, tuple[str, str, Change]]] = {
    # From how many days before the last on, what a job does to which feature on its way to the store.
    2: ("plane_facts", "built", fill_with_zero),
    1: ("carrier_punctuality", "late_share_7d", in_percent),
}


def run_week() -> str:
    """Return the page of the last of eight daily checks."""
    embedded.stop(STATE)
    shutil.rmtree(STATE, ignore_errors=True)
    STATE.mkdir(parents=True)
    if not (ROOT / "data" / "departures.parquet").exists():
        write_sources(ROOT / "data")
    try:
        for before in range(7, -1, -1):
            with _store_at(LAST - before * DAY) as store:
                if before == 7:
                    store.register()
                store.materialize(VIEWS)
                for since, (view, feature, change) in FAULTS.items():
                    if before <= since:
                        rewrite(store, view, feature, change)
                report = store.check(VIEWS, sample=SampleRule(seed="2013"))
                print(f"{format_instant(store.settings.clock())}  {report.summary}", flush=True)
    finally:
        embedded.stop(STATE)
    return report.to_html()


def _store_at(now: int) -> FeatureStore:
    asked = {"FEATUREKIT_STATE": str(STATE), "FEATUREKIT_NOW": format_instant(now), "FEATUREKIT_ENVIRONMENT": "prod"}
    return FeatureStore.from_settings(ROOT / "featurekit.toml", environ={**os.environ, **asked})


def rewrite(store: FeatureStore, name: str, feature: str, change: Change) -> None:
    """Write all rows of a view's newest refresh anew, with one feature changed and everything else as it was."""
    view = store.definitions.views[name]
    found = KeySpace(namespace=store.namespace, view=name, fingerprint=view.fingerprint.data, as_of=0)
    newest = read_head(store.online, found).entries[-1]
    space = found.at(newest.as_of, newest.restatement, newest.live)
    place = [each.name for each in view.features].index(feature)
    codec = RowCodec([Field(each.name, each.type) for each in view.features], view.fingerprint.data)
    changed = {}
    for key in [key for key in store.online.find(store.namespace.row_prefix()) if key.endswith(space.row_suffix)]:
        (content,) = store.online.read([key])
        if content is None:
            continue
        row = codec.decode_row(content)
        values, statuses = list(row.values), list(row.statuses)
        values[place], statuses[place] = change(values[place], statuses[place])
        changed[key] = codec.encode_row(values, as_of=row.as_of, last_event=row.last_event, statuses=statuses)
    store.online.write(changed)


def picture(page: Path) -> None:
    """Write what a person sees first of a page, in both colour schemes."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for scheme in ("light", "dark"):
            size = {"width": 1280, "height": HEIGHT}
            context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            shown = context.new_page()
            shown.goto(page.as_uri())
            shown.screenshot(path=IMAGES / f"report-{scheme}.png")
        browser.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pictures; return 2 where there is no browser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, metavar="FILE", help="a report's page that is there already")
    asked = parser.parse_args(arguments)
    if CHROMIUM is None:
        print("chromium is not installed: apt-get install chromium", file=sys.stderr)
        return 2
    page = asked.page
    if page is None:
        text = run_week()
        page = STATE / "report.html"
        page.write_text(text, encoding="utf-8")
    picture(page.absolute())
    return 0


if __name__ == "__main__":
    sys.exit(main())
