"""`dataset build --as` and `dataset compare` by command line, on the project that `init` writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.spark

LABELS = """\
customer_id,basket_amount,asked_at,outcome
1,40.0,2026-01-08T12:00:00Z,yes
2,10.5,2026-01-07T01:00:00Z,no
1,40.0,2026-01-08T12:00:00Z,yes
99,1.0,2026-01-08T12:00:00Z,no
"""
WORDS = ("checkout", "--labels", "labels.csv", "--timestamp", "asked_at")


def test_the_three_sets_are_built_and_compared_feature_by_feature(cli: Cli, project: Path) -> None:
    (project / "labels.csv").write_text(LABELS)
    assert cli("register").exit_code == 0
    too_early = cli("dataset", "build", *WORDS, "--as", "served", "--out", "x")
    assert too_early.exit_code == 2
    assert "no refresh of checkout is on record" in too_early.stderr
    assert cli("materialize", "--at", "2026-01-08T12:00Z", "--now", "2026-01-08T12:00Z").exit_code == 0
    document = cli("dataset", "compare", *WORDS, "--out", "three", "--json").document
    by_name = {feature["name"]: feature for feature in document["features"]}
    assert document["rows"] == 4
    worries = [feature["worry"] for feature in document["features"]]
    assert worries == sorted(worries, reverse=True)
    assert sorted(document["sets"]) == ["declared", "event-time", "served"]
    assert len({made["id"] for made in document["sets"].values()}) == 3
    # Of the four rows one was asked before the first refresh, and its entity has something to lose.
    assert document["sets"]["served"]["views"][0]["unavailable"] == 1
    spend = by_name["customer_spend.spend_7d"]
    assert spend["served"]["share"] > 0
    tables = {mode: pq.read_table(project / "three" / mode) for mode in ("declared", "served", "event-time")}
    assert {table.num_rows for table in tables.values()} == {4}
    built = cli("dataset", "build", *WORDS, "--as", "served", "--out", "served", "--json").document
    assert (built["id"], built["as_of"], built["leaks"]) == (document["sets"]["served"]["id"], "served", False)
    diff = cli("dataset", "diff", "three/declared", "three/served", "--json")
    assert diff.exit_code == 1
    differing = next(each for each in diff.document["features"] if each["name"] == "customer_spend.spend_7d")
    assert differing["differing"] / 4 == spend["served"]["share"]

    shown = cli("dataset", "compare", *WORDS, "--top", "1")
    assert shown.exit_code == 0
    assert "what to worry about first" in " ".join(shown.stdout.split())
    assert cli("dataset", "compare", *WORDS, "--out", "three").exit_code == 2
    leaking = cli("dataset", "build", *WORDS, "--as", "event-time", "--out", "all")
    assert "it holds what nobody knew yet" in " ".join(leaking.stdout.split())
    assert cli("dataset", "build", *WORDS, "--as", "seen", "--out", "x").exit_code == 2
