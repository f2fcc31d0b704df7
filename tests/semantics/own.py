"""Functions that are featurekit's own, or redefined by it, as the oracle knows them: plain Spark SQL, written here.

Spark computes the recorded answers from these definitions; neither our renderer nor our kernels take part. How true
sin, cos and the others are is tested by tests/targets/test_maths.py.
"""

from __future__ import annotations

import re
from typing import Any, Final

# Those that hide a function of Spark's: temporary functions can't, so the oracle calls them by another name.
_HIDING: Final = ("sin", "cos", "tan", "cot", "sec", "csc", "tanh", "cbrt")
_CALL: Final = re.compile(rf"\b({'|'.join(_HIDING)})\(", re.IGNORECASE)
_PREFIX: Final = "own_"
_BUCKET: Final = re.compile(r"\bhash_bucket\(([^(),]+), (\d+)\)")
_CROSS: Final = re.compile(r"\bcross_hash\((\d+), ([^(),]+, [^()]+)\)")


def spelled(expression: str) -> str:
    """Return the expression as the oracle has to be asked.

    >>> spelled("sin(x) + asin(x)")
    'own_sin(x) + asin(x)'
    """
    expression = _BUCKET.sub(lambda match: _bucket(match[1], match[2]), expression)
    expression = _CROSS.sub(lambda match: _bucket(match[2], match[1]), expression)
    return _CALL.sub(lambda match: f"{_PREFIX}{match[1].lower()}(", expression)


def _bucket(values: str, buckets: str) -> str:
    """Return the bucket of a hash; these take values of any type, which no function defined in SQL does."""
    place = f"pmod(xxhash64({values}), {buckets}L)"
    place = f"CAST({place} AS INT)" if int(buckets) < 1 << 31 else place
    return f"CASE WHEN {values} IS NOT NULL THEN {place} END" if "," not in values else place


def define(spark: Any) -> None:
    """Create the functions in a session."""
    for signature, body in DEFINITIONS:
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {signature} RETURN {body}")


def _let(name: str, value: str, body: str) -> str:
    """Return SQL in which a name stands for a value: an array of one, transformed."""
    return f"element_at(transform(array({value}), {name} -> {body}), 1)"


_SINE: Final = """(y - ((z * (0.5D * l - (z * y) * (0.00833333333332249D + z * (-1.984126982985795E-4D
    + z * (2.7557313707070068E-6D + z * (-2.5050760253406863E-8D + z * 1.58969099521155E-10D))))) - l)
    - (z * y) * (-0.16666666666666632D)))"""
_COSINE: Final = """((1.0D - 0.5D * z) + (((1.0D - (1.0D - 0.5D * z)) - 0.5D * z) + (z * (z * (0.0416666666666666D
    + z * (-0.001388888888887411D + z * (2.480158728947673E-5D + z * (-2.7557314351390663E-7D
    + z * (2.087572321298175E-9D + z * (-1.1359647557788195E-11D))))))) - y * l)))"""


def _turned(body: str, at_zero: str = "isnan(x)", limit: str = "abs(x) <= 1.0E7D") -> str:
    """Return a body over q, the quarter turns in x, and y + l, the rest; x itself where `at_zero` is true."""
    body = _let("z", "y * y", body)
    body = _let("y", "a + c", _let("l", "(a - y) + c", body))
    body = _let("c", "((r - a) - q * 6.12323399409214E-17D) - q * 1.6446256936324258E-26D", body)
    body = _let("a", "r - q * 6.12323399409214E-17D", body)
    body = _let("r", "(v - q * 1.570796325802803D) - q * 9.920935184482005E-10D", body)
    body = _let("q", "CAST(floor(v * 0.6366197723675814D + 0.5D) AS DOUBLE)", body)
    return f"CASE WHEN {at_zero} THEN x WHEN {limit} THEN {_let('v', 'x', body)} END"


def _by_quarter(first: str, second: str, third: str, fourth: str) -> str:
    return f"CASE pmod(q, 4D) WHEN 0D THEN {first} WHEN 1D THEN {second} WHEN 2D THEN {third} ELSE {fourth} END"


_SIN: Final = _by_quarter(_SINE, _COSINE, f"- {_SINE}", f"- {_COSINE}")
_COS: Final = _by_quarter(_COSINE, f"- {_SINE}", f"- {_COSINE}", _SINE)
_TINY: Final = "isnan(x) OR abs(x) < 7.450580596923828E-9D"
_HALF_SINE: Final = """s + (s * (s * s)) * (-0.16666666666666666D + (s * s) * (0.008333333333333316D + (s * s) *
    (-0.00019841269841254974D + (s * s) * (2.7557319219163234E-6D + (s * s) * (-2.5052107616996182E-8D + (s * s) *
    (1.6058977312464087E-10D + (s * s) * (-7.643970296798572E-13D + (s * s) * 2.7314447669863995E-15D)))))))"""
_PLACE: Final = "abs(lat1) <= 90D AND abs(lat2) <= 90D AND abs(lon1) <= 180D AND abs(lon2) <= 180D"


def _sine_of(degrees: str) -> str:
    return _let("s", f"radians({degrees})", _HALF_SINE)


def _square_of(value: str) -> str:
    return _let("t", value, "t * t")


_HEIGHT: Final = _square_of(_sine_of("abs(lat1 - lat2) / 2D"))
_WIDTH: Final = _square_of(_sine_of("least(abs(lon1 - lon2) / 2D, 180D - abs(lon1 - lon2) / 2D)"))
_COSINES: Final = f"({_sine_of('90D - abs(lat1)')} * {_sine_of('90D - abs(lat2)')})"
_HAVERSINE: Final = (
    f"CASE WHEN {_PLACE} THEN 12742.0176D * asin(sqrt(least(1D, {_HEIGHT} + {_COSINES} * {_WIDTH}))) END"
)
_TWO_ARRAYS: Final = "(a ARRAY<DOUBLE>, b ARRAY<DOUBLE>) RETURNS DOUBLE"
_BOUNDS: Final = 6


def _bucketize() -> tuple[str, str]:
    bounds = range(1, _BOUNDS + 1)
    optional = ", ".join(f"b{place} DOUBLE DEFAULT NULL" for place in bounds)
    reached = " ".join(f"WHEN x >= b{place} THEN {place}" for place in reversed(bounds))
    return f"bucketize(x DOUBLE, {optional}) RETURNS INT", f"CASE WHEN x IS NULL THEN NULL {reached} ELSE 0 END"


_TANH: Final = (
    "CASE WHEN isnan(x) THEN x WHEN abs(x) < power(2D, -55D) THEN x * (1D + x) WHEN abs(x) >= 22D THEN signum(x) "
    "WHEN abs(x) >= 1D THEN signum(x) * (1D - 2D / (expm1(2D * abs(x)) + 2D)) "
    "ELSE signum(x) * ((- expm1(-2D * abs(x))) / (expm1(-2D * abs(x)) + 2D)) END"
)
_ROOT: Final = _let("t", "power(abs(x), 1D / 3D)", "t - (t - abs(x) / (t * t)) / 3D")
_CBRT: Final = f"CASE WHEN isnan(x) OR x = 0D OR abs(x) > 1.7976931348623157E308D THEN x ELSE signum(x) * {_ROOT} END"

_PRINTED: Final = "get_json_object(text, path)"
_JSON: Final = "(text STRING, path STRING) RETURNS"
_END: Final = r"\\z"  # of a pattern, as SQL text
_OPEN: Final = r"\\["
_IS_FRACTION: Final = f"{_PRINTED} RLIKE '^-?[0-9]+[.][0-9]+(E[+-]?[0-9]+)?{_END}'"
_HAS_FRACTION: Final = (
    f"substring({_PRINTED}, 1, 1) IN ('{{', '[') AND {_PRINTED} RLIKE '(?s)(^[{_OPEN}]|.[,:{_OPEN}])-?[0-9]+[.][0-9]'"
)
_NUMBER: Final = f"^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?{_END}"

DEFINITIONS: Final = (
    (f"json_string{_JSON} STRING", f"CASE WHEN {_IS_FRACTION} OR ({_HAS_FRACTION}) THEN NULL ELSE {_PRINTED} END"),
    (f"json_double{_JSON} DOUBLE", f"CASE WHEN {_PRINTED} RLIKE '{_NUMBER}' THEN try_cast({_PRINTED} AS DOUBLE) END"),
    (f"json_bigint{_JSON} BIGINT",
     f"CASE WHEN {_PRINTED} RLIKE '^-?[0-9]+{_END}' THEN try_cast({_PRINTED} AS BIGINT) END"),
    (f"json_boolean{_JSON} BOOLEAN", f"CASE WHEN {_PRINTED} IN ('true', 'false') THEN {_PRINTED} = 'true' END"),
    ("own_sin(x DOUBLE) RETURNS DOUBLE", _turned(_SIN, _TINY)),
    ("own_cos(x DOUBLE) RETURNS DOUBLE", _turned(_COS)),
    ("own_tan(x DOUBLE) RETURNS DOUBLE",
     _turned(f"CASE WHEN pmod(q, 2D) = 0D THEN {_SINE} / {_COSINE} ELSE (- {_COSINE}) / {_SINE} END", _TINY)),
    ("own_cot(x DOUBLE) RETURNS DOUBLE",
     _turned(f"CASE WHEN pmod(q, 2D) = 0D THEN {_COSINE} / {_SINE} ELSE (- {_SINE}) / {_COSINE} END",
             limit="x <> 0D AND abs(x) <= 1.0E7D")),
    ("own_sec(x DOUBLE) RETURNS DOUBLE", "1D / own_cos(x)"),
    ("own_csc(x DOUBLE) RETURNS DOUBLE", "1D / nullif(own_sin(x), 0D)"),
    ("own_tanh(x DOUBLE) RETURNS DOUBLE", _TANH),
    ("own_cbrt(x DOUBLE) RETURNS DOUBLE", _CBRT),
    _bucketize(),
    ("log_ratio(a DOUBLE, b DOUBLE) RETURNS DOUBLE", "CASE WHEN b <> 0D THEN ln(a / b) END"),
    ("haversine(lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE) RETURNS DOUBLE", _HAVERSINE),
    (f"dot_product{_TWO_ARRAYS}", "aggregate(zip_with(a, b, (x, y) -> x * y), 0D, (t, x) -> t + x)"),
    ("l2_norm(a ARRAY<DOUBLE>) RETURNS DOUBLE", "sqrt(aggregate(a, 0D, (t, x) -> t + x * x))"),
    (f"l2_distance{_TWO_ARRAYS}",
     "sqrt(aggregate(zip_with(a, b, (x, y) -> (x - y) * (x - y)), 0D, (t, x) -> t + x))"),
    (f"cosine_similarity{_TWO_ARRAYS}",
     "dot_product(a, b) / nullif(l2_norm(a) * l2_norm(b), 0D)"),
)  # fmt: skip
