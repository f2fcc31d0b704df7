"""The tour: the whole loop on the flights of 2013, from definition to diagnosis; writes docs/tour.md.

    python -m featurekit.examples.tour            run it, print it, write the page
    python -m featurekit.examples.tour --check    run it, and fail where the page says something else

Every command on the page is run as it stands there, and every snippet is executed as it is shown. The page leaves out
what differs from run to run: times, ports, hashes, digits beyond the third.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from featurekit.cli.app import app
from featurekit.clock import parse_instant
from featurekit.examples.faults import fill_null_with_zero, serve_yesterdays_row
from featurekit.examples.flights import label_rows, write_labels, write_sources
from featurekit.examples.tour_truths import three_truths
from featurekit.feature_store import FeatureStore
from featurekit.online import embedded

NOW: Final = "2013-11-15T13:30Z"
LABELS: Final = ("2013-11-01", "2013-11-15")
_STATE: Final = Path(".featurekit/tour")
_OUT: Final = _STATE / "out"
_ROOT: Final = Path(__file__).parents[2]
_INTRO: Final = f"""\
# Tour: from definition to diagnosis

The flights of 2013 out of New York, served as of the morning of 15 November 2013. `make tour` runs all of this on your
machine; this page is what it printed. The clock is a setting, so 2013 can be served as 2013 was:
`export FEATUREKIT_NOW={NOW}`.
"""

TRAIN: Final = """\
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
from featurekit.examples.model import train_model

training = pq.read_table(".featurekit/tour/out/training")
training = training.sort_by([("event_timestamp", "ascending"), ("flight_id", "ascending")])
numbers = [f.name for f in training.schema if "." in f.name
           and (pa.types.is_floating(f.type) or pa.types.is_integer(f.type) or pa.types.is_boolean(f.type))]
model = train_model(training, numbers, label="late", seed=2013)
Path(".featurekit/tour/out/delay.onnx").write_bytes(model.onnx_bytes)
print(f"{model.rows:,} flights, {len(numbers)} features, AUC {model.auc:.2f} on those held out")
"""
LOOK_UP: Final = """\
import pyarrow.parquet as pq
from featurekit import FeatureStore

flights = pq.read_table(".featurekit/tour/out/flights.parquet")
keys = flights.select(["carrier", "origin", "dest", "tailnum"])
request = flights.select(["distance", "scheduled_at"])
store = FeatureStore.from_settings()
features = store.lookup("flight_delay", keys, request)
for flight, row in zip(flights["flight_id"].to_pylist(), features.to_dict()):
    print(f"{flight:32} {row['carrier_punctuality.mean_delay_7d']:8.3f} {row['dest_load.late_share_7d']:8.3f}"
          f" {str(row['plane_history.last_dest']):>5} {row['trip.hour_local']:4} {row['plane_facts.maker']:8}")
"""
PREDICT: Final = """\
predictions = store.predict("delay", keys, request)
print(f"{predictions.model} v{predictions.version}, run by {predictions.provider}")
for flight, late, truth in zip(flights["flight_id"].to_pylist(), predictions.to_python(), flights["late"].to_pylist()):
    print(f"{flight:32} {late:6.2f}   {'late' if truth else 'on time'}")
"""


class Tour:
    """Runs steps, shows each on standard output as it ends, and keeps the page."""

    def __init__(self) -> None:
        self.page = _INTRO
        self._names: dict[str, Any] = {}
        print(_INTRO)

    def say(self, title: str, text: str) -> None:
        """Begin a chapter."""
        self.add(f"\n## {title}\n\n{textwrap.fill(' '.join(text.split()), 120)}\n")

    def command(self, words: str, *, exits_with: int = 0) -> None:
        """Run a featurekit command line in this process, so that all share one Spark, and show what it prints."""
        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            try:
                app(words.split())
                code: Any = 0
            except SystemExit as end:
                code = end.code or 0
        self.add(f"\n```text\n$ featurekit {words}\n{settled(output.getvalue())}```\n")
        if code != exits_with:
            raise SystemExit(f"`featurekit {words}` ended with exit code {code}, not {exits_with}")

    def snippet(self, code: str) -> None:
        """Execute a snippet in the names of those before it, and show it with what it prints."""
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(code, "<tour>", "exec"), self._names)
        self.add(f"\n```python\n{code}```\n\n```text\n{settled(output.getvalue())}```\n")

    def fault(self, title: str, plant: Callable[[FeatureStore], str]) -> None:
        """Break something in the online store, and say what."""
        with FeatureStore.from_settings() as store:
            self.add(f"\n- *{title}*: {settled(plant(store)).strip()}\n")

    def close(self) -> None:
        if store := self._names.get("store"):
            store.close()

    def add(self, text: str) -> None:
        """Show text, and put it on the page."""
        self.page += text
        print(text, end="", flush=True)


def settled(text: str) -> str:
    """Return text without what differs from run to run or from machine to machine; columns stay in line.

    >>> settled("redis://127.0.0.1:40369/0 d1c85ccf1cb0 0.12345 1.5\\n")
    'redis://127.0.0.1:… … 0.123 1.5\\n'
    """
    text = text.replace(f"{Path.cwd()}/", "")
    text = re.sub(r"127\.0\.0\.1:\d+(?:/\d+)?", "127.0.0.1:…", text)
    text = re.sub(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b", "…", text)
    text = re.sub(r"-?\b\d+\.\d{4,}(?:e-?\d+)?(?P<column> {2})?", _rounded, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").splitlines()) + "\n" if text.strip() else ""


def _rounded(found: re.Match[str]) -> str:
    number = f"{float(found[0]):.3f}"
    return number.ljust(len(found[0])) if found["column"] else number


def run(root: Path) -> str:
    """Run the tour in a checkout and return its page; its own state lies under .featurekit/tour."""
    with chdir(root), _settings():
        embedded.stop(_STATE)
        shutil.rmtree(_STATE, ignore_errors=True)
        _OUT.mkdir(parents=True)
        tour = Tour()
        try:
            _walk(tour)
        finally:
            tour.close()
            embedded.stop(_STATE)
        return tour.page


def _walk(tour: Tour) -> None:
    write_sources(Path("data"))
    labels = write_labels(Path("data"), *map(parse_instant, LABELS))
    shutil.move(labels.path, _OUT / "labels.parquet")
    _write_flights_to_ask_about()

    tour.say(
        "Definitions",
        """`feature_defs/` holds the entities, sources, views and the service, as YAML with SQL inside. Loading executes
        nothing; every mistake of the repo is reported at once.""",
    )
    tour.command("validate")

    tour.say(
        "Register",
        """Registering computes nothing. It records versions and publishes the lookup plan; `plan` shows beforehand what
        would change.""",
    )
    tour.command("register")

    tour.say(
        "Materialize",
        """Each view is computed as of the grid instants that are due: by UTC days, by New York days, by hours. Spark's
        executors write the rows straight into the online store; what a view expects is judged before it is served.""",
    )
    tour.command("materialize carrier_punctuality --as-of 2013-11-14")
    tour.command("materialize")

    tour.say(
        "Look up",
        """The client needs Redis and nothing else. Ten flights that leave two hours from now, 67 features each, in one
        round trip:""",
    )
    tour.snippet(LOOK_UP)

    tour.say(
        "One value, end to end",
        "`trace` follows one value through the real code, from its source rows to what a model gets.",
    )
    tour.command("trace carrier_punctuality.mean_delay_7d --entity carrier=UA")

    tour.say(
        "A training set",
        """For each label, what serving would have answered at its time: the refresh that was due by then, not what an
        all-seeing warehouse knows.""",
    )
    tour.command(
        f"dataset build flight_delay --labels {_OUT}/labels.parquet --timestamp event_timestamp --out {_OUT}/training"
    )

    tour.say("A model", "A small one, handed on as ONNX and bound to the service it was trained for.")
    tour.snippet(TRAIN)
    tour.command(f"model register delay --onnx {_OUT}/delay.onnx --service flight_delay")

    tour.say("Predict", "Lookup, request features, tensor, model. What came of each flight stands beside it.")
    tour.snippet(PREDICT)

    tour.say(
        "Check", "What is served is compared, value by value, with what the training path says of the same entities."
    )
    tour.command(f"check --html {_OUT}/check.html")

    three_truths(tour, _OUT / "november")

    tour.say("Two faults", "Nobody would see these in a dashboard:")
    tour.fault("a stale row", serve_yesterdays_row)
    tour.fault("a filled null", fill_null_with_zero)
    tour.command("check carrier_punctuality plane_facts --max-entities 5000", exits_with=1)
    tour.add("\nBoth are found and named. The exit code is 1, so a scheduler sees it too.\n")


def _write_flights_to_ask_about() -> None:
    """Write the ten next flights that are asked about two hours ahead: keys, request values, and what came of them."""
    table = label_rows(Path("data"), parse_instant("2013-11-15T15:30Z"), parse_instant("2013-11-15T18:00Z")).table
    pq.write_table(table.slice(0, 10), _OUT / "flights.parquet")


@contextmanager
def _settings() -> Iterator[None]:
    wanted = {"FEATUREKIT_NOW": NOW, "FEATUREKIT_STATE": str(_STATE)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour; return 1 where --check finds another page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with docs/tour.md instead of writing it")
    asked = parser.parse_args(arguments)
    page = run(_ROOT)
    file = _ROOT / "docs" / "tour.md"
    if asked.check:
        if file.read_text(encoding="utf-8") == page:
            return 0
        print("docs/tour.md says something else; `make tour` writes it", file=sys.stderr)
        return 1
    file.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
