"""Mathematical functions, exact to the last bit; `targets/kernels/maths` says how.

Spark takes most of them from Java's StrictMath, which is fdlibm on every machine. What it takes from Java's Math (sin,
cos, tan, tanh, cbrt) has other last bits on another JDK or processor: these are redefined, and written out in the SQL.
"""

from __future__ import annotations

from typing import Any, Final

from featurekit.expr import maths_forms as forms
from featurekit.expr import maths_rules as rules
from featurekit.expr import signatures
from featurekit.expr.catalogue.row import FLOATING, INTEGER, NUMBER, Exactness, Function, Nulls, Param, scalar
from featurekit.expr.spark_forms import Form, listed, rounded
from featurekit.types import DataType, is_integer

_HALF_TURN: Final = 3.141592653589793
_ONE = (Param("a", NUMBER),)
_ANGLE = (Param("angle", NUMBER, edges=(1.0, 0.5, -2.0, _HALF_TURN, -0.0, 1e7, 1e-9, 6381956.0)),)
_SHARE = (Param("a", NUMBER, edges=(0.5, -0.5, 1.0, -1.0, 0.975, 1e-9, -0.0)),)
_POSITIVE = (Param("a", NUMBER, edges=(2.0, 1.0, 10.0, 0.5, 1e-9, 1e300)),)


def _double(name: str, params: tuple[Param, ...], doc: str, **rest: Any) -> Function:
    places = ", ".join(f"{{{place}}}" for place in range(len(params)))
    spark = rest.pop("spark", f"{name}({places})")
    return scalar(name, params, signatures.doubles, spark, doc, **rest)


def _redefined(name: str, params: tuple[Param, ...], spark: Form, doc: str, **rest: Any) -> Function:
    return _double(name, params, doc, spark=spark, exactness=Exactness.REDEFINED, **rest)


def _integers(kinds: tuple[DataType, ...]) -> bool:
    return is_integer(kinds[0])


_BEYOND = "; NULL beyond ten million, where `x % period` before the call keeps the angle small."

ROWS: Final[tuple[Function, ...]] = (
    _double("exp", _ONE, "e to the power of the number."),
    _double("expm1", _ONE, "exp(a) - 1, precise near zero."),
    _double("ln", _POSITIVE, "The natural logarithm; NULL for zero and less.", raises=True),
    _double("log", (Param("base", NUMBER, edges=(2.0, 10.0, 0.5, 1.0)), Param("a", NUMBER, optional=True,
            edges=(8.0, 1.0, 1000.0, 0.0))),
            "The logarithm to a base, ln(a) / ln(base); of one argument the natural one. NULL for zero and less.",
            spark=listed("log"), raises=True),
    _double("log10", _POSITIVE, "The logarithm to base 10; NULL for zero and less.", raises=True),
    _double("log2", _POSITIVE, "The logarithm to base 2, ln(a) / ln(2); NULL for zero and less.", raises=True),
    _double("log1p", (Param("a", NUMBER, edges=(1e-9, 0.5, -0.5, -1.0, 0.41421356)),),
            "ln(1 + a), precise near zero; NULL for -1 and less.", raises=True),
    _double("pow", (Param("a", NUMBER, edges=(2.0, -2.0, 0.5, 10.0, 1.0000001)),
                    Param("exponent", NUMBER, edges=(2.0, 0.5, -1.0, 3.0, 0.3333333333333333, 1000.0, -0.1))),
            "The number to the power of the exponent; NaN for a fraction of a negative number.",
            spellings=("pow", "power")),
    _double("hypot", (Param("a", NUMBER), Param("b", NUMBER)), "The length of a vector: the root of a² + b²."),
    _double("asin", _SHARE, "The arc sine; NaN beyond -1 and 1."),
    _double("acos", _SHARE, "The arc cosine; NaN beyond -1 and 1."),
    _double("atan", _ONE, "The arc tangent."),
    _double("atan2", (Param("y", NUMBER), Param("x", NUMBER)), "The angle of the point (x, y), from -π to π."),
    _double("sinh", _SHARE, "The hyperbolic sine."),
    _double("cosh", _SHARE, "The hyperbolic cosine."),
    _double("asinh", _ONE, "The inverse hyperbolic sine."),
    _double("acosh", _POSITIVE, "The inverse hyperbolic cosine; NaN below 1."),
    _double("atanh", _SHARE, "The inverse hyperbolic tangent; NaN beyond -1 and 1."),
    _redefined("sin", _ANGLE, forms.sin, f"The sine of an angle in radians, within an ulp of the true one{_BEYOND}",
               raises=True),
    _redefined("cos", _ANGLE, forms.cos, f"The cosine of an angle in radians, within an ulp of the true one{_BEYOND}",
               raises=True),
    _redefined("tan", _ANGLE, forms.tan, f"The tangent, within three ulps of the true one{_BEYOND}", raises=True),
    _redefined("cot", _ANGLE, forms.cot, f"The cotangent, within three ulps; NULL at zero{_BEYOND}", raises=True),
    _redefined("sec", _ANGLE, forms.sec, f"1 / cos(angle){_BEYOND}", raises=True),
    _redefined("csc", _ANGLE, forms.csc, f"1 / sin(angle); NULL at zero{_BEYOND}", raises=True),
    _redefined("tanh", _SHARE, forms.tanh, "The hyperbolic tangent, by fdlibm; within two ulps of the true one."),
    _redefined("cbrt", (Param("a", NUMBER, edges=(27.0, -8.0, 0.1, 1e-300, -0.0)),), forms.cbrt,
               "The cube root, within an ulp of the true one: pow(a, 1/3) and one step of Newton's method."),
    _double("degrees", _ONE, "An angle in radians, in degrees."),
    _double("radians", _ONE, "An angle in degrees, in radians."),
    _double("pi", (), "π as a double.", nulls=Nulls.NEVER),
    _double("e", (), "e as a double.", nulls=Nulls.NEVER),
    _double("signum", _ONE, "-1, 0 or 1 as a double; zero keeps its sign.", spellings=("signum", "sign")),
    _double("rint", _ONE, "The nearest whole number as a double, halves to the even one."),
    scalar("bround",
           (Param("a", NUMBER), Param("digits", INTEGER, literal=True, optional=True, edges=(1, 0, 2, 8, -1, -5))),
           signatures.rounded, rounded("bround"), "The number rounded to so many digits, halves to the even neighbour.",
           raises=_integers),
    scalar("factorial", (Param("n", INTEGER, edges=(5, 0, 20, 21, -1)),), rules.factorial, "factorial({0})",
           "The product of 1 to n; NULL for a negative n and for more than 20.", raises=True),
    scalar("pmod", (Param("a", NUMBER), Param("divisor", NUMBER)), rules.pmod, forms.pmod,
           "The remainder, made positive by adding the divisor once; NULL when the divisor is zero.", raises=True),
    scalar("positive", _ONE, signatures.same_number, "(+ {0})", "The number itself."),
    scalar("isnan", (Param("a", FLOATING),), rules.is_nan, "isnan({0})", "Whether it is NaN; false for NULL.",
           nulls=Nulls.NEVER),
    scalar("nanvl", (Param("a", FLOATING), Param("b", FLOATING)), rules.not_nan, "nanvl({0}, {1})",
           "The first unless it is NaN, then the second.", nulls=Nulls.ANY),
    scalar("bin", (Param("a", INTEGER),), rules.binary_text, "bin({0})", "The bits of a bigint as text."),
)  # fmt: skip
