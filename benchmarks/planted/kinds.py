"""All kinds of fault, and the pairs."""

from __future__ import annotations

from typing import Final

from benchmarks.planted.faulty_definitions import DEFINITION_KINDS
from benchmarks.planted.faulty_keys import KEY_KINDS
from benchmarks.planted.faulty_rows import ROW_KINDS
from benchmarks.planted.faulty_sources import SOURCE_KINDS
from benchmarks.planted.kind import Kind

KINDS: Final[dict[str, Kind]] = {one.name: one for one in (*DEFINITION_KINDS, *SOURCE_KINDS, *ROW_KINDS, *KEY_KINDS)}
VIEWS: Final = tuple(dict.fromkeys(one.view for one in KINDS.values()))
PAIRS: Final[tuple[tuple[Kind, Kind], ...]] = tuple(
    (KINDS[one], KINDS[other])
    for one, other in (
        # both in the same cells
        ("previous refresh", "float32"),
        ("previous refresh", "times 1000"),
        ("previous refresh", "null → 0"),
        ("late rows counted", "rounded to a digit"),
        ("duplicate events", "float32"),
        ("filter left out", "divided by 60"),
        ("training takes a logarithm that serving forgets", "float32"),
        ("windows a day too long", "fraction cut off"),
        ("a statistic of the whole day", "null → 0"),
        ("TTL ignored", "timestamp five hours off"),
        ("nulls count as 0 in averages", "sign flipped"),
        ("rows off by one", "float32"),
        ("bound closed", "null → default"),
        # one here, one there
        ("n in place of n - 1", "text trimmed"),
        ("times 100", "text lower-cased"),
        ("previous definition", "null → error code"),
        ("a logarithm added", "wrapped at 32 bits"),
        ("two fields swapped", "times 1000"),
        ("nulls counted", "constant"),
        ("coalesce left out", "timestamp in seconds"),
    )
)
