"""Asks Spark for the case of every code point and writes `featurekit/targets/kernels/case_tables.py`.

    python -m tests.semantics.record_case

Python's own tables are those of its Unicode version (3.11: 14), Spark's are those of the ICU it ships (Unicode 17): 55
letters differ each way. The context of a capital sigma needs two more sets: the letters that have case, and the
characters that are passed over when looking for one. Title case is written where it is not the upper case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from featurekit.targets.kernels import case_tables

TARGET = Path(__file__).parents[2] / "featurekit/targets/kernels/case_tables.py"
_SIGMA, _FINAL = "Σ", "ς"
_POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def ask(spark: Any) -> dict[str, Any]:
    """Return what Spark says: the maps LOWER, UPPER and TITLE, the sets CASED and IGNORABLE."""
    import pyarrow

    spark.createDataFrame(pyarrow.table({"c": [chr(point) for point in _POINTS]})).createOrReplaceTempView("points")
    answer = spark.sql(
        f"SELECT c, lower(c) AS lower, upper(c) AS upper, initcap(c) AS title, lower(c || '{_SIGMA}') AS after,"
        f" lower('A' || c || '{_SIGMA}') AS between FROM points"
    ).toArrow()
    rows = answer.to_pylist()
    cased = {ord(row["c"]) for row in rows if row["after"].endswith(_FINAL)}
    return {
        "LOWER": {ord(row["c"]): row["lower"] for row in rows if row["lower"] != row["c"]},
        "UPPER": {ord(row["c"]): row["upper"] for row in rows if row["upper"] != row["c"]},
        "TITLE": {ord(row["c"]): row["title"] for row in rows if row["title"] != row["c"]},
        "CASED": frozenset(cased),
        "IGNORABLE": frozenset(ord(row["c"]) for row in rows if row["between"].endswith(_FINAL)) - cased,
    }


def recorded() -> dict[str, Any]:
    """Return the same as the package has it."""
    return {name: getattr(case_tables, name) for name in ("LOWER", "UPPER", "TITLE", "CASED", "IGNORABLE")}


def _runs(mapping: Mapping[int, str]) -> list[tuple[int, int, int, int]]:
    """Return the one-letter entries as runs of (first, last, step, distance)."""
    runs: list[list[int]] = []
    for point, text in sorted(mapping.items()):
        if len(text) > 1:
            continue
        distance = ord(text) - point
        if runs and runs[-1][3] == distance and point - runs[-1][1] in (1, 2):
            first, last, step, _ = runs[-1]
            if first == last or step == point - last:
                runs[-1] = [first, point, point - last, distance]
                continue
        runs.append([point, point, 1, distance])
    return [(first, last, step, distance) for first, last, step, distance in runs]


def _ranges(points: Iterable[int]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for point in sorted(points):
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    return ranges


def _title_beyond_upper(answer: Mapping[str, Any]) -> dict[int, str]:
    upper, title = answer["UPPER"], answer["TITLE"]
    points = {point for point in {*upper, *title} if upper.get(point) != title.get(point)}
    return {point: title.get(point, chr(point)) for point in points}


def _lines(entries: Iterable[object]) -> str:
    lines = [""]
    for entry in entries:
        if len(lines[-1]) + len(f"{entry}, ") > 114:
            lines.append("")
        lines[-1] += f"{entry}, "
    return "\n".join(f"    {line.rstrip()}" for line in lines)


def _source(answer: Mapping[str, Any], version: str) -> str:
    parts = [
        f'"""Case by the tables of Spark {version}; written by `python -m tests.semantics.record_case`, not by hand.',
        "",
        "Runs are (first, last, step, distance), ranges (first, last); letters that become several are listed apart.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final",
        "",
        "_Runs = tuple[tuple[int, int, int, int], ...]",
        "_Ranges = tuple[tuple[int, int], ...]",
        "",
        "# fmt: off",
    ]
    for name in ("LOWER", "UPPER"):
        several = {point: text for point, text in answer[name].items() if len(text) > 1}
        entries = [f"{point}: {text!a}" for point, text in sorted(several.items())]
        parts += [f"_{name}_RUNS: Final[_Runs] = (", _lines(_runs(answer[name])), ")"]
        parts += [f"_{name}_SEVERAL: Final[dict[int, str]] = {{", _lines(entries).replace("'", '"'), "}"]
    entries = [f"{point}: {text!a}" for point, text in sorted(_title_beyond_upper(answer).items())]
    parts += ["_TITLE_BEYOND_UPPER: Final[dict[int, str]] = {", _lines(entries).replace("'", '"'), "}"]
    for name in ("CASED", "IGNORABLE"):
        parts += [f"_{name}_RANGES: Final[_Ranges] = (", _lines(_ranges(answer[name])), ")"]
    parts += [
        "# fmt: on",
        "",
        "",
        "def _map(runs: _Runs, several: dict[int, str]) -> dict[int, str]:",
        "    letters = (",
        "        (point, chr(point + distance))",
        "        for first, last, step, distance in runs",
        "        for point in range(first, last + 1, step)",
        "    )",
        "    return {**dict(letters), **several}",
        "",
        "",
        "def _set(ranges: _Ranges) -> frozenset[int]:",
        "    return frozenset(point for first, last in ranges for point in range(first, last + 1))",
        "",
        "",
        "LOWER: Final = _map(_LOWER_RUNS, _LOWER_SEVERAL)",
        "UPPER: Final = _map(_UPPER_RUNS, _UPPER_SEVERAL)",
        "TITLE: Final = {",
        "    point: text for point, text in {**UPPER, **_TITLE_BEYOND_UPPER}.items() if text != chr(point)",
        "}",
        "CASED: Final = _set(_CASED_RANGES)",
        "IGNORABLE: Final = _set(_IGNORABLE_RANGES)",
        "",
    ]
    return "\n".join(parts)


def main() -> None:
    from tests.semantics.session import start

    spark = start()
    TARGET.write_text(_source(ask(spark), spark.version), encoding="utf-8")


if __name__ == "__main__":
    main()
