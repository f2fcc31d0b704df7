"""Spark's meaning, function by function, in plain Python: one kernel for each row of the catalogue."""

from __future__ import annotations

from typing import Final

from featurekit.targets.kernels import (
    arrays,
    binary,
    bits,
    buckets,
    hashing,
    json,
    lambdas,
    maps,
    maths,
    nulls,
    numeric,
    regex,
    structs,
    temporal,
    text,
)
from featurekit.targets.kernels.kernel import Factory

KERNELS: Final[dict[str, Factory]] = {
    **numeric.KERNELS,
    **maths.KERNELS,
    **bits.KERNELS,
    **nulls.KERNELS,
    **buckets.KERNELS,
    **text.KERNELS,
    **regex.KERNELS,
    **json.KERNELS,
    **binary.KERNELS,
    **hashing.KERNELS,
    **temporal.KERNELS,
    **arrays.KERNELS,
    **lambdas.KERNELS,
    **maps.KERNELS,
    **structs.KERNELS,
}
