"""Defects of the scalar kernels of numbers, casts, hashes and mathematics, and of the generated function."""

from __future__ import annotations

from typing import Final

from benchmarks.mutants_base import Mutant, seeded

_NUMERIC: Final = seeded(
    "targets/kernels/numeric.py",
    ("decimals are rounded half to even", "rounding=ROUND_HALF_UP, Emax", 'rounding="ROUND_HALF_EVEN", Emax'),
    ("a decimal may have a digit too many", "rounded.adjusted() < whole", "rounded.adjusted() <= whole"),
    ("a decimal keeps -0", "            return zero  # decimals", "            return rounded  # decimals"),
    ("the largest integer does not fit", "({{t}} := {text}) <= {{high}} else", "({{t}} := {text}) < {{high}} else"),
    ("float32 arithmetic stays in double", 'Inline(f"{{narrow}}({plain})", {"narrow": to_float32})',
     'Inline(f"({plain})")'),
    ("a quotient of decimals is cut, not rounded", "(2 * above + below) // (2 * below)  # half up", "above // below"),
    ("a remainder has the divisor's sign", "    return -rest if left < 0 else rest", "    return left % right"),
    ("-2^63 div -1 is 2^63", "return quotient if quotient <= _LONG_HIGH else None", "return quotient"),
    ("div by a constant floors", '"({0} // {1} if {0} >= 0 else -(-{0} // {1}))"', '"({0} // {1})"'),
    ("the negated decimal zero is -0", "value.copy_negate() if value else value", "value.copy_negate()"),
    ("integers are rounded half down", "(abs(value) + unit // 2) // unit", "(abs(value) + unit // 2 - 1) // unit"),
    ("rounding a double ignores its decimal text at a tie", "elif over >= -size * UNSURE:", "elif over >= 0.0:"),
    ("a double rounded to zero keeps its sign", "float(rounded) if rounded else 0.0  # never", "float(rounded)  #"),
    ("floor takes 2^63", "<= value < 9223372036854775808.0:\n            return compute(value)",
     "<= value <= 9223372036854775808.0:\n            return compute(value)"),
    ("floor(NaN) is NULL", "return 0 if value != value else None  # Spark", "return None  # Spark"),
    ("NaN is smaller than NaN", '({0} < {1} or ({1} != {1} and {0} == {0}))', "({0} < {1} or {1} != {1})"),
    ("NaN is not larger than a constant", '"(not {0} <= {1})"', '"{0} > {1}"'),
    ("x / 0.0 of doubles is not NULL", '"({0} / {1} if {1} else None)"',
     '"({0} / {1} if {1} else {0} * float(\'inf\'))"'),
)  # fmt: skip
_ORDER: Final = seeded(
    "targets/kernels/order.py",
    ("NaN is the smallest part", "(0, value) if value == value else (1, 0.0)",
     "(0, value) if value == value else (-1, 0.0)"),
    ("NULL parts come last",
     "(0,) if value is None else (1, key(value))",
     "(2,) if value is None else (1, key(value))"),
    ("-0.0 stays in sets and map keys", "value + 0.0 if value == value", "value if value == value"),
    ("NaN parts are never equal", "return value if value == value else _NAN", "return value"),
)  # fmt: skip
_NULLS: Final = seeded(
    "targets/kernels/nulls.py",
    ("NULL AND false is NULL",
     "False if {0} is False or {1} is False else None if {0} is None or {1} is None else True",
     "None if {0} is None or {1} is None else {0} and {1}"),
    ("a NULL column in an IN list is lost", "return None if None in values else False", "return False"),
    ("a NULL constant in an IN list is lost", 'text = f"({text} or None)"', 'text = f"({text})"'),
    ("greatest does not know NaN", 'f"({better} or ({nan} != {nan} and {number} == {number}))"', 'f"({better})"'),
    ("greatest is NULL when its first argument is", "is None or ({value} is not None and {better})",
     "is not None and ({value} is not None and {better})"),
)  # fmt: skip
_GENERATED: Final = seeded(
    "targets/python.py",
    ("NULL only when all arguments are", "{' or '.join(f'{arg} is None'", "{' and '.join(f'{arg} is None'"),
    ("a lambda's inner values are used outside of it", "used, dict(known), indent + 1)", "used, known, indent + 1)"),
    ("a branch's inner values are used beside it", "_emit(program, then, used, dict(inner), indent + 1)",
     "_emit(program, then, used, inner, indent + 1)"),
    ("a condition that is NULL takes its branch", "if {condition}:", "if {condition} is not False:"),
    ("a function that decides about NULL is guarded too", "if row.nulls is not Nulls.PROPAGATE:", "if False:"),
)  # fmt: skip
_SUBTREES: Final = seeded(
    "targets/subtrees.py",
    ("the literals 0.0 and -0.0 share a constant", "return repr(node.value)", "return node.value"),
    ("casts to two types are taken for one", "_own(node), node.type, node.nullable,", "_own(node),"),
    ("coalesce(NULL, x) is folded to NULL", "if row.nulls is Nulls.PROPAGATE and any(", "if any("),
    ("CASE WHEN NULL takes the branch", "if condition.value is True:", "if condition.value is not False:"),
)  # fmt: skip
_CAST: Final = seeded(
    "targets/kernels/cast.py",
    ("a timestamp's seconds are cut, not floored", 'return Inline(f"{{0}} // {SECOND}")  # floors',
     'return Inline(f"int({{0}} / {SECOND})")  # floors'),
    ("a decimal is rounded to an integer, not cut", "to_integral_value(ROUND_DOWN, WIDE)",
     "to_integral_value(None, WIDE)"),
    ("127.5 does not fit a tinyint", "math.floor(value) <= high_float and math.ceil(value) >= low_float",
     "low_float <= value <= high_float"),
    ("the double 2^63 becomes 2^63", "return min(int(value), high)", "return int(value)"),
    ("a date beyond the timestamps is one", "return lambda days: _instant(days * DAY)",
     "return lambda days: days * DAY"),
    ("CAST(double AS DECIMAL) takes the double's exact digits",
     "into(PyDecimal(repr(value)))",
     "into(PyDecimal(value))"),
    ("a decimal's microseconds are rounded", "return int(WIDE.multiply(seconds, _MICROS))", "return rounded"),
)  # fmt: skip
_CAST_TEXT: Final = (
    *seeded(
        "targets/kernels/cast_number.py",
        ("a float32 is rounded twice",
         "        near = math.nextafter(near, math.inf if exact > near else -math.inf)\n    return to_float32(near)",
         "        pass\n    return to_float32(near)"),
        ("Unicode blanks are trimmed from truth values", 'word = text.strip(TRIMMED)\n    if len(word) > len("false")',
         'word = text.strip()\n    if len(word) > len("false")'),
        ("digits of other scripts are numbers", r'r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"', r'r"(?:\d+\.?\d*|\.\d+)"'),
        ("'1.0' is no double with an f behind it", "[0-9]+)?)[fFdD]?\")\n_HEX", "[0-9]+)?)\")\n_HEX"),
        ("+12 is no integer", r're.compile(r"([+-]?)0*', r're.compile(r"(-?)0*'),
        ("-Infinity loses its sign", 'dict.fromkeys(("-inf", "-infinity"), -math.inf)',
         'dict.fromkeys(("-inf", "-infinity"), math.inf)'),
    ),
    *seeded(
        "targets/kernels/cast_text.py",
        (".5 of a second is 5 microseconds", 'int(((match["fraction"] or "") + "000000")[:6])',
         'int((match["fraction"] or "0")[:6])'),
        ("an offset of 18:00 is refused", "offset > _LONGEST_OFFSET", "offset >= _LONGEST_OFFSET"),
        ("an offset is taken the wrong way", 'return -offset if match["sign"] == "-" else offset',
         'return offset if match["sign"] == "-" else -offset'),
        ("the second 60 is read", "second > 59:", "second > 60:"),
    ),
    *seeded(
        "targets/kernels/cast_string.py",
        ("a fraction keeps the zeros at its end", 'f".{fraction:06d}".rstrip("0")', 'f".{fraction:06d}"'),
        ("years have no leading zeros", "{abs(year):04d}-", "{abs(year)}-"),
        ("small decimals have an exponent", 'return f"{value:f}"', "return str(value)"),
    ),
)  # fmt: skip
_BITS: Final = seeded(
    "targets/kernels/bits.py",
    (">>> moves the sign in", '"(((({0} & {all}) >> ({1} & {places})) + {half} & {all}) - {half})"',
     '"({0} >> ({1} & {places}))"'),
    ("an int is shifted modulo 64", '{"places": INTEGER_BITS[call.type] - 1})', '{"places": 63})'),
    ("bits of a negative number are counted in 32", '{"all": (1 << 64) - 1}', '{"all": (1 << 32) - 1}'),
    ("the bit beyond the last is one", "if 0 <= {1} < {size} else None", "if 0 <= {1} <= {size} else None"),
)  # fmt: skip
_HASH: Final = (
    *seeded(
        "targets/kernels/murmur3.py",
        ("murmur3 takes the bytes at the end unsigned", "_mixed(seed, byte if byte < 128 else byte | 0xFFFFFF00)",
         "_mixed(seed, byte)"),
        ("murmur3 mixes a bigint's high half first", "_mixed(_mixed(seed, value & _MASK), value >> 32 & _MASK)",
         "_mixed(_mixed(seed, value >> 32 & _MASK), value & _MASK)"),
    ),
    *seeded(
        "targets/kernels/xxhash64.py",
        ("xxhash64 has no stripe of 32 bytes", "if length >= 32:", "if length > 32:"),
        ("xxhash64 takes four last bytes one by one", "if length - done >= 4:", "if length - done > 4:"),
    ),
    *seeded(
        "targets/kernels/hashing.py",
        ("-0.0 has a hash of its own", 'struct.pack(">d", value + 0.0)', 'struct.pack(">d", value)'),
        ("a decimal of 19 digits is hashed as a bigint",
         "_MAX_LONG_DIGITS: Final = 18",
         "_MAX_LONG_DIGITS: Final = 19"),
        ("the bytes of a decimal lack its sign", "bits // 8 + 1", "max((bits + 7) // 8, 1)"),
        ("sha2(x, 0) is SHA-224", "0: hashlib.sha256", "0: hashlib.sha224"),
    ),
)  # fmt: skip
_MATHS: Final = (
    *seeded(
        "targets/kernels/fdlibm.py",
        ("log2 multiplies by 1 / ln 2", "log_of_positive(x) / LN2", "log_of_positive(x) * INVERSE_LN2"),
        ("log(base, x) is swapped", "return above / below", "return below / above"),
        ("ln(0) is a number", "if x <= 0.0:\n        return None\n    return log_of_positive(x)",
         "if x < 0.0:\n        return None\n    return log_of_positive(x)"),
        ("log10 forgets the low half of log10(2)", "z = k * LOG10_2_LOW + INVERSE_LN10 * log_of_positive(mantissa + ",
         "z = INVERSE_LN10 * log_of_positive(mantissa + "),
        ("expm1 is exp - 1 up to ln(2)/2", "    return x - (x * _expm1_core(x, half, square) - square)",
         "    return exp(x) - 1.0"),
    ),
    *seeded(
        "targets/kernels/fdlibm_pow.py",
        ("pow(-0.0, 0.5) is -0.0", "return sqrt(x + 0.0) if", "return sqrt(x) if"),
        ("a negative number to an odd power is positive", "-1.0 if _is_odd(y_size) else 1.0", "1.0"),
    ),
    *seeded(
        "targets/kernels/maths.py",
        ("rint(-0.3) is 0.0", "return math.copysign(float(round(value)), value)", "return float(round(value))"),
        ("bround sends halves of integers up", "(2 * rest == unit and below % 2)", "2 * rest == unit"),
        ("bround sends halves of decimals up", "value.quantize(step, ROUND_HALF_EVEN, WIDE)",
         "value.quantize(step, None, WIDE)"),
        ("20! is NULL", "if 0 <= n <= 20 else None", "if 0 <= n < 20 else None"),
        ("pmod does not reduce what it added",
         "return _fmod(rest + n, n) if rest < 0.0",
         "return rest + n if rest < 0.0"),
        ("sign(-0.0) is 0.0", "return value if value == 0.0 or value != value else",
         "return value + 0.0 if value == 0.0 or value != value else"),
    ),
    *seeded(
        "targets/kernels/redefined.py",
        ("an angle is reduced to one double", "return whole, y, (a - y) + c", "return whole, y, 0.0"),
        ("cbrt lacks its step of Newton's method", "root = t - (t - size / (t * t)) / 3.0", "root = t"),
        ("tanh is 1 from 20 on", "if size >= 22.0:", "if size >= 18.0:"),
    ),
)  # fmt: skip
_BUCKETS: Final = seeded(
    "targets/kernels/buckets.py",
    ("the upper bound is in the last bucket", "count + 1 if value >= high else", "count + 1 if value > high else"),
    ("a bound belongs to the bucket below", "return bisect_right(bounds, value)",
     'return __import__("bisect").bisect_left(bounds, value)'),
    ("cosine takes one root of both norms", "norms = sqrt(aa) * sqrt(bb)", "norms = sqrt(aa * bb)"),
    ("the distance takes the long way around", "(HALF_TURN - across if across > QUARTER_TURN else across)", "across"),
    ("a latitude of 90 is not on the sphere", "-QUARTER_TURN <= lat1 <= QUARTER_TURN",
     "-QUARTER_TURN < lat1 < QUARTER_TURN"),
)  # fmt: skip

KERNELS: Final[tuple[Mutant, ...]] = (
    *_NUMERIC, *_ORDER, *_NULLS, *_GENERATED, *_SUBTREES, *_CAST, *_CAST_TEXT, *_BITS, *_HASH, *_MATHS, *_BUCKETS,
)  # fmt: skip
