"""Maths: how true the redefined functions are, that both evaluators have the same bits, and how long the SQL gets.

That the others are Spark's own is what tests/semantics/maths.sql records.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from featurekit.expr.infer import call, literal
from featurekit.expr.nodes import Column
from featurekit.targets.kernels import buckets, fdlibm, fdlibm_angles, fdlibm_hyperbolic, fdlibm_pow, redefined
from featurekit.targets.python import compile_row
from featurekit.targets.spark import render
from featurekit.targets.vectors import angles, maths
from featurekit.types import Float64

SEED = 20131115
BITS = 220
ONE = 1 << BITS
# π · 2^220, from Machin's formula: whole numbers all the way.
ArcOfInverse = Callable[[int], int]


def _arc(inverse: int) -> int:
    total, term, odd = 0, ONE // inverse, 1
    while term:
        total += term // odd if odd % 4 == 1 else -(term // odd)
        term //= inverse * inverse
        odd += 2
    return total


PI = 4 * (4 * _arc(5) - _arc(239))


def true_sine(x: float) -> Fraction:
    """Return the sine to some 200 bits: the angle reduced by π/2, then the series, in whole numbers."""
    angle = int(Fraction(x) * ONE)
    quarters, rest = divmod(angle + PI // 4, PI // 2)
    y = rest - PI // 4
    value = _series(y, 0 if quarters % 2 == 0 else 1)
    return Fraction(-value if quarters % 4 >= 2 else value, ONE)


def true_cosine(x: float) -> Fraction:
    angle = int(Fraction(x) * ONE)
    quarters, rest = divmod(angle + PI // 4, PI // 2)
    y = rest - PI // 4
    value = _series(y, 1 if quarters % 2 == 0 else 0)
    return Fraction(-value if quarters % 4 in (1, 2) else value, ONE)


def _series(y: int, of_cosine: int) -> int:
    """Return the sine (0) or cosine (1) of a small angle."""
    term = ONE if of_cosine else y
    total, place = 0, 1 - of_cosine
    while term:
        total += term
        term = -(term * y >> BITS) * y >> BITS
        term //= (place + 1) * (place + 2)
        if term == -1:
            break
        place += 2
    return total


def hard_angles() -> list[float]:
    random = Random(SEED)
    near = [float(Fraction(PI, ONE) * k / 4) for k in (*range(1, 60), 829, 6381, 729826, 4272943, 10_000_000)]
    drawn = [random.uniform(-1e7, 1e7) for _ in range(400)] + [random.uniform(-4, 4) for _ in range(400)]
    return [x for x in (*near, *drawn, 355.0, 10_000_000.0, -10_000_000.0, 1e-9, 0.78, 5e-5) if abs(x) <= 1e7]


def error(found: float, true: Fraction) -> float:
    """Return how many ulps of the found value lie between it and the true one."""
    return float(abs(Fraction(found) - true) / Fraction(math.ulp(found)))


def test_sine_and_cosine_are_within_an_ulp_of_the_true_ones_up_to_ten_million() -> None:
    for x in hard_angles():
        assert error(redefined.sin(x) or 0.0, true_sine(x)) < 1.0, x
        assert error(redefined.cos(x) or 0.0, true_cosine(x)) < 1.0, x


def test_tangent_and_its_kin_are_within_three_ulps() -> None:
    for x in hard_angles():
        sine, cosine = true_sine(x), true_cosine(x)
        for function, true in (
            (redefined.tan, sine / cosine),
            (redefined.cot, cosine / sine),
            (redefined.sec, 1 / cosine),
            (redefined.csc, 1 / sine),
        ):
            assert error(function(x) or 0.0, true) < 3.0, (function, x)


def test_cube_root_is_within_an_ulp_of_the_true_one() -> None:
    random = Random(SEED)
    for x in (*(math.ldexp(random.random(), random.randrange(-1070, 1023)) for _ in range(500)), 27.0, 0.1, 5e-324):
        root = Fraction(redefined.cbrt(x))
        ulp = Fraction(math.ulp(float(root)))
        assert (root - ulp) ** 3 < Fraction(x) < (root + ulp) ** 3, x
    assert [redefined.cbrt(x) for x in (27.0, -8.0, 1e-300)] == [3.0, -2.0, 1e-100]


def test_what_has_no_value_is_null() -> None:
    assert [redefined.sin(x) for x in (1.0000001e7, math.inf, -math.inf)] == [None] * 3
    assert redefined.cot(0.0) is redefined.csc(-0.0) is fdlibm.log(0.0) is fdlibm.log1p(-1.0) is None
    assert [str(function(-0.0)) for function in (redefined.sin, redefined.tan, redefined.cbrt)] == ["-0.0"] * 3
    assert buckets.haversine(90.1, 0.0, 0.0, 0.0) is buckets.haversine(0.0, math.nan, 0.0, 0.0) is None


def test_haversine_knows_the_sphere() -> None:
    half = math.pi * 6371.0088
    assert buckets.haversine(0.0, 0.0, 0.0, 180.0) == pytest.approx(half, rel=1e-15)
    assert buckets.haversine(90.0, 12.0, -90.0, -70.0) == pytest.approx(half, rel=1e-15)
    assert buckets.haversine(0.0, 179.5, 0.0, -179.5) == pytest.approx(half / 180, rel=1e-13)
    assert buckets.haversine(10.0, 20.0, 10.0, 20.0) == 0.0


def _inputs() -> np.ndarray[Any, np.dtype[np.float64]]:
    random = np.random.default_rng(SEED)
    parts = [
        random.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64),
        random.uniform(-1.0, 1.0, 3000),
        random.uniform(-760.0, 760.0, 3000),
        1.0 + random.normal(size=2000) * 10.0 ** random.integers(-16, 0, 2000),
        np.array([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 5e-324, 1e308, 3.0, 1e7, 22.0, 0.975]),
    ]
    values = np.concatenate(parts)
    random.shuffle(values)
    return values


_ONE_ARGUMENT: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    *((getattr(fdlibm, name), getattr(maths, name)) for name in ("exp", "expm1", "log", "log10", "log2", "log1p")),
    *((getattr(fdlibm_hyperbolic, name), getattr(maths, name)) for name in ("sinh", "cosh")),
    *((getattr(fdlibm_angles, name), getattr(angles, name)) for name in ("asin", "acos", "atan")),
    *((getattr(redefined, name), getattr(angles, name)) for name in ("sin", "cos", "tan", "cot", "sec", "csc")),
    *((getattr(redefined, name), getattr(angles, name)) for name in ("tanh", "cbrt")),
]
_TWO_ARGUMENTS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (fdlibm_pow.pow_, maths.power),
    (fdlibm_angles.atan2, angles.atan2),
    (fdlibm_angles.hypot, angles.hypot),
    (fdlibm.log_to_base, maths.log_to_base),
]


def _differences(scalar: Callable[..., Any], vector: Callable[..., Any], *args: Any) -> list[Any]:
    found = vector(*args)
    values, valid = found if isinstance(found, tuple) else (found, np.ones(len(args[0]), np.bool_))
    rows = zip(*(arg.tolist() for arg in args), values.tolist(), valid.tolist(), strict=True)
    return [row for row in rows if not _same(scalar(*row[:-2]), row[-2] if row[-1] else None)]


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.hex() == other.hex()


@pytest.mark.parametrize(("scalar", "vector"), _ONE_ARGUMENT, ids=lambda function: function.__name__)
def test_vectors_have_the_bits_of_scalars(scalar: Callable[..., Any], vector: Callable[..., Any]) -> None:
    assert _differences(scalar, vector, _inputs()) == []


@pytest.mark.parametrize(("scalar", "vector"), _TWO_ARGUMENTS, ids=lambda function: function.__name__)
def test_vectors_of_two_have_the_bits_of_scalars(scalar: Callable[..., Any], vector: Callable[..., Any]) -> None:
    inputs = _inputs()
    assert _differences(scalar, vector, inputs, np.roll(inputs, 1)) == []
    assert _differences(scalar, vector, np.abs(inputs[:3000]), np.full(3000, 0.3)) == []


def test_haversine_has_the_same_bits_over_arrays() -> None:
    random = np.random.default_rng(SEED)
    places = [random.uniform(-limit, limit, 5000) for limit in (91.0, 181.0, 91.0, 181.0)]
    assert _differences(buckets.haversine, angles.haversine, *places) == []


def test_nesting_does_not_blow_the_sql_up() -> None:
    x = Column(name="x", type=Float64(), nullable=True)
    for name in ("sin", "cos", "tan", "cot", "tanh", "cbrt"):
        lengths, node = [], call(name, x)
        for _ in range(4):
            lengths.append(len(render(node, lambda column: column.name)))
            node = call(name, node)
        assert lengths[3] - lengths[2] == lengths[2] - lengths[1], name
    near = call("haversine", x, x, x, x)
    once = len(render(near, lambda column: column.name))
    assert len(render(call("haversine", near, near, near, near), lambda column: column.name)) < 6 * once


@pytest.mark.parametrize(("value", "digits", "rounded", "even"), [
    (5.198020717210285e16, -2, 5.19802071721028e16, 5.19802071721028e16),
    (3.4950421090465e18, -6, 3.495042109046e18, 3.495042109046e18),
    (-1e15 - 500.0, -3, -1.000000000001e15, -1e15),
    (9.3e18, -2, None, None),
    (math.inf, -2, math.inf, math.inf),
])  # fmt: skip
def test_tens_of_large_doubles_are_those_of_the_exact_value(
    value: float, digits: int, rounded: float | None, even: float | None
) -> None:
    x = Column(name="x", type=Float64(), nullable=False)
    nodes = [call("round", x, literal(digits)), call("bround", x, literal(digits))]
    assert all(node.nullable for node in nodes)
    assert compile_row(nodes, [x])([value]) == (rounded, even)
