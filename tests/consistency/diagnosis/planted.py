"""Columns of all types, and a fault planted in some rows of one of them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal as DecimalValue

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import Answers, Cells, FieldSpec, Flags
from featurekit.consistency.compare import compare_fields
from featurekit.consistency.diagnosis.compared import Compared
from featurekit.status import Status
from featurekit.types import Boolean, Decimal, Float64, Int64, String, Timestamp
from tests.consistency.sides import OWN, REFRESH, Written, cells, field

ROWS = 600
_WORDS = ("Ábc", "def ", "ghi", " Jkl", "mno", "ﬁn", "PQR", "St", "e\u0301x", "naïve")


def honest_side(seed: int) -> tuple[tuple[FieldSpec, ...], Answers]:
    """Return fields with what training says of them: counts, shares, flags, texts, instants, with and without NULLs."""
    rng = np.random.default_rng(seed)
    busy = rng.lognormal(3, 1, ROWS)

    def some(values: list[Written], nulls: float) -> list[Written]:
        return [None if rng.random() < nulls else value for value in values]

    def text(number: int) -> str:
        return f"{_WORDS[number % 10]}{number % 37}{' ' if number % 5 == 0 else ''}"

    columns: dict[str, tuple[FieldSpec, list[Written]]] = {
        "count": (field("count", Int64()), rng.poisson(busy).tolist()),
        "mean": (field("mean", Float64()), some(rng.normal(8, 20, ROWS).tolist(), 0.1)),
        "share": (
            field("share", Float64()),
            some((rng.integers(0, 20, ROWS) / rng.integers(20, 40, ROWS)).tolist(), 0.05),
        ),
        "rare": (field("rare", Float64()), (rng.random(ROWS) < 0.02).astype(float).tolist()),
        "flag": (field("flag", Boolean()), some((rng.random(ROWS) < 0.3).tolist(), 0.05)),
        "logarithm": (field("logarithm", Float64()), np.log1p(rng.lognormal(5, 2, ROWS)).tolist()),
        "text": (field("text", String()), some([text(at) for at in rng.integers(0, 370, ROWS).tolist()], 0.05)),
        "instant": (
            field("instant", Timestamp()),
            some((1_380_000_000_000_000 + rng.integers(0, 10**13, ROWS)).tolist(), 0.1),
        ),
        "money": (
            field("money", Decimal(12, 2)),
            some([DecimalValue(at).scaleb(-2) for at in rng.integers(1, 10**6, ROWS).tolist()], 0.1),
        ),
        "big": (field("big", Int64()), rng.integers(1, 2**34, ROWS).tolist()),
        "known": (
            field("known", Int64(), default=-3),
            [(-3, Status.DEFAULTED) if rng.random() < 0.1 else at for at in rng.poisson(20, ROWS).tolist()],
        ),
    }
    sides = {name: cells(spec.type, *written) for name, (spec, written) in columns.items()}
    return tuple(spec for spec, _ in columns.values()), Answers(found=np.ones(ROWS, np.bool_), fields=sides)


def mixed(honest: Cells, other: Cells, hit: Flags) -> Cells:
    """Return honest cells with other ones in the rows that are hit."""
    return Cells(
        values=pc.if_else(pa.array(hit), other.values, honest.values),
        statuses=np.where(hit, other.statuses, honest.statuses).astype(np.uint8),
    )


def served_as(fields: tuple[FieldSpec, ...], honest: Answers, **turned: Cells) -> Compared:
    """Return the comparison in which some fields were served otherwise."""
    served = replace(honest, fields={**honest.fields, **turned})
    return compared_sides(fields, served, honest)


def compared_sides(fields: tuple[FieldSpec, ...], served: Answers, honest: Answers) -> Compared:
    rows = len(honest.found)
    return Compared(
        entities=tuple(f"id = {at}" for at in range(rows)),
        fields=fields,
        refresh=REFRESH,
        rows=(OWN,) * rows,
        served=served,
        recomputed=honest,
        comparisons=compare_fields(fields, served, honest),
    )
