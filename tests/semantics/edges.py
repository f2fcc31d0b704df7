"""The table of edge rows: a type's values at their worst, in two columns that are rotated against each other."""

from __future__ import annotations

from decimal import Decimal as PyDecimal
from typing import Any, Final

from featurekit.clock import parse_instant
from featurekit.expr.nodes import Column
from featurekit.expr.scope import ColumnScope
from featurekit.targets.kernels.numeric import WIDE
from featurekit.types import (
    Array,
    Binary,
    Boolean,
    DataType,
    Date,
    Decimal,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Map,
    String,
    Struct,
    Timestamp,
    TimestampNtz,
)

ROWS: Final = 24
_INF, _NAN = float("inf"), float("nan")
_BIG_FLOAT32, _TINY_FLOAT32 = 3.4028234663852886e38, 1.401298464324817e-45

_PAIR: Final = Struct((("a", Int32()), ("b", String())))
_STRUCT: Final = Struct((("a", Int32()), ("b", String()), ("c", Array(Float64()))))


# Each list is repeated to ROWS values; no two lists need the same length.
_VALUES: Final[dict[str, tuple[DataType, list[Any]]]] = {
    "i8": (Int8(), [None, 0, 1, -1, 2, 7, -7, 127, -128, 100, -100]),
    "i16": (Int16(), [0, None, 1, -1, 3, 128, -129, 32767, -32768, 255, -200]),
    "i32": (Int32(), [0, 1, None, -1, 2, -7, 10, 2**31 - 1, -(2**31), 46341, -65536, 5, 15, 25, -25, 16777217]),
    "i64": (Int64(), [0, 1, -1, None, 2, -7, 10, 2**63 - 1, -(2**63), 2**53 + 1, 3_037_000_500, -(2**31) - 1, 25,
        -(2**53) - 1]),
    "f32": (
        Float32(),
        [0.0, -0.0, 1.0, -1.5, None, 0.5, 2.5, 0.10000000149011612, _INF, -_INF, _NAN, _BIG_FLOAT32, -_BIG_FLOAT32,
        _TINY_FLOAT32, 16777216.0, 1.100000023841858, -2.5, 3.3333332538604736],
    ),
    "f64": (
        Float64(),
        [0.0, -0.0, 1.0, -1.5, 0.5, None, 2.5, -2.5, 0.1, 0.3, _INF, -_INF, _NAN, 1.7976931348623157e308, 5e-324, 1e22,
        2.0**53, 9.223372036854775e18, -9.223372036854775808e18, 1.005, 2.675, 123456.789, -0.05, 1e-7],
    ),
    "d5_2": (Decimal(5, 2), ["0.00", "1.00", "-1.00", "0.01", "999.99", "-999.99", None, "2.50", "0.05", "-0.05",
        "9.99", "125.45"]),
    "d18_6": (Decimal(18, 6), ["0.000000", "1.500000", "-1.500000", "0.000001", "999999999999.999999",
        "-999999999999.999999", "3.333333", None, "2.675000", "0.5"]),
    "d38_0": (Decimal(38, 0), ["0", "1", "-1", "9" * 38, "-" + "9" * 38, "9223372036854775807", "9223372036854775808",
        "-9223372036854775809", "12345678901234567890123456789012345678", None, "3", "7"]),
    "d38_18": (Decimal(38, 18), ["0", "1", "-1.5", "9" * 20 + "." + "9" * 18, "-" + "9" * 20 + "." + "9" * 18,
        "0.000000000000000001", "0.5", "123.456", "3", "-12345678901234567890.123456789012345678", None]),
    "s": (
        String(),
        ["", " ", "a", "A", None, "abc", "ABC", "  pad \t ", "ß", "ŉ", "İ", "ΑΣ", "ΟΔΥΣΣΕΥΣ ΣΑΣ", "é", "e\u0301",
        "😀x", "\u00a0nb\u00a0", "a\x00b", "ǅ", "ﬃ", "\uffff", "𐐀", "it's \\ `q`", "0"],
    ),
    "b": (Boolean(), [True, False, None]),
    "dt": (
        Date(),
        [0, -1, 1, None, 15706, 11016, 16070, -719162, 2932896, -141427, 365, 19782, 18262, 19358, 20454],
    ),
    "ts": (
        Timestamp(),
        [0, -1, 1, 999_999, -1_000_000, -1_500_000, None]
        + [parse_instant(text) for text in (
            "2013-03-10T06:59:59.999999Z", "2013-03-10T07:00Z", "2013-11-03T05:30Z", "2013-11-03T06:30Z",
            "2013-11-15T02:03:04.567890Z", "1883-11-18T17:00Z", "1900-01-01T00:00Z", "1582-10-15T00:00Z",
            "0001-01-01T00:00Z", "9999-12-31T23:59:59.999999Z", "2000-02-29T12:34:56Z", "2024-12-30T00:00Z",
            "2023-01-01T00:00Z", "1969-12-31T23:59:59Z", "2038-01-19T03:14:08Z", "2100-07-01T00:00Z",
        )],
    ),
    "ntz": (
        TimestampNtz(),
        [0, None, -1, 1, 1_384_480_984_567_890, -62_135_596_800_000_000, 253_402_300_799_999_999,
        -2_208_988_800_000_000, 951_827_696_500_000, 1_362_898_799_999_999, 86_399_999_999, -86_400_000_001,
        1_704_423_600_000_000],
    ),
    "bin": (Binary(), [b"", b"\x00", b"\xff\xfe", None, b"abc", b"\xc3\x28", b"a", b"\x7f\x80", "é😀".encode(),
        b"\x00\x01\x02\x03\x04\x05\x06\x07", b"0123456789abcdef0123456789abcdef!"]),
    "ai": (
        Array(Int32()),
        [(), (1,), None, (1, 2, 3), (3, 1, None, 2), (None,), (2, 2, None, 2, None), (5, 5), (7, -7, 0, 10),
        (2**31 - 1, -(2**31)), (None, 1), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)],
    ),
    "ad": (
        Array(Float64()),
        [(1.0, 2.0, 3.0), (), (-0.0, 0.0), (0.0,), (_NAN,), (1.5, None, _NAN, -0.0, _INF), None, (0.1, 0.2, 0.3),
        (_NAN, -_INF, _NAN, 1.0), (1.7976931348623157e308, 1.7976931348623157e308, -1.7976931348623157e308), (None,),
        (5e-324, -1.5, 0.0, -0.0, 2.5, None, -0.0),
        (0.5, -0.25, 0.125, 3.0, -2.0, 1e-3, 7.25, 1e5, 0.3, -0.7, 0.01, 42.0, 1e-9, 6.0, -8.5, 0.9)],
    ),
    "as_": (
        Array(String()),
        [("a", "b"), None, (), ("",), (None, "a"), ("b", "a", "b"), ("😀", "\uffff", "é"), ("A", "a", " "),
        ("x | y", "\\\"'"), (None, None), ("abc", "0", "ß", "it's")],
    ),
    "aa": (
        Array(Array(Int32())),
        [((1, 2), (3,)), (), None, ((),), (None,), ((1, None), (1,), None, ()), ((2,), (1, 2), (1,), (1, None)),
        ((1,), (1,))],
    ),
    "m": (
        Map(String(), Int32()),
        [(("a", 1), ("b", 2)), (), None, (("b", 2), ("a", 1)), (("a", None),), (("", 0), ("😀", -1)), (("a", 5),),
        (("c", 2**31 - 1), ("b", None), ("a", 0))],
    ),
    "mi": (
        Map(Int32(), Float64()),
        [((1, 1.5),), ((2, -0.0), (1, 0.0)), (), ((0, _NAN), (-1, None), (7, _INF)), None,
        ((1, 2.5), (2, 3.5), (3, 4.5)), ((2**31 - 1, 1e-7), (-(2**31), 0.1))],
    ),
    "md": (
        Map(Float64(), String()),
        [((0.0, "zero"),), ((1.5, "a"), (_NAN, "nan"), (-_INF, None)), (), None, ((-1.5, ""), (0.1, "b")),
        ((2.5, None), (_NAN, "x"), (0.0, "0"))],
    ),
    "st": (
        _STRUCT,
        [(1, "a", (1.0, 2.0)), (None, None, None), None, (1, "b", ()), (1, "a", None), (-5, "", (-0.0, _NAN, None)),
        (1, "a", (1.0, None)), (0, "😀", (0.0,)), (2**31 - 1, None, (1.0,))],
    ),
    "sa": (
        Array(_PAIR),
        [((1, "a"), (2, "b")), (), None, ((2, "a"), (1, "b"), (1, None), (None, "z")), (None,),
        ((1, "a"), None, (1, "a")), ((None, None),), ((3, "c"), (3, "C"))],
    ),
}  # fmt: skip


def _column(name: str, shift: int) -> list[Any]:
    kind, values = _VALUES[name]
    held = [_held(value, kind) for value in values]
    return [held[(index + shift) % len(held)] for index in range(ROWS)]


def _held(value: Any, kind: DataType) -> Any:
    if not isinstance(kind, Decimal) or value is None:
        return value
    return WIDE.quantize(PyDecimal(value), PyDecimal((0, (1,), -kind.scale)))


# A second column of each type, shifted by a number that no list length divides, so that pairs of edges meet.
DATA: Final[dict[str, list[Any]]] = {
    **{name: _column(name, 0) for name in _VALUES},
    **{f"{name}_b": _column(name, 5) for name in _VALUES},
}
TYPES: Final[dict[str, DataType]] = {name: _VALUES[name.removesuffix("_b")][0] for name in DATA}
COLUMNS: Final = tuple(Column(name=name, type=kind, nullable=True) for name, kind in TYPES.items())
SCOPE: Final = ColumnScope.of(COLUMNS)


def rows() -> list[tuple[Any, ...]]:
    """Return the table, row by row, values held as `featurekit.types` says."""
    return list(zip(*DATA.values(), strict=True))
