"""What keeps libm and reordered sums out of the code that computes feature values.

The last bit of `math.exp`, `np.log` or `x ** 0.5` is another one on another machine, and `np.sum`, `np.dot` and
Python's `sum` add floats in an order, or with a care, that Spark does not share. Only operations that IEEE 754 defines
to the last bit, and whole numbers, are allowed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.rules import ROOT, Violation

CHECKED: Final = ("featurekit/targets", "featurekit/aggregates", "featurekit/exact.py")
EXACT_MATH: Final = frozenset(
    (
        *("inf", "nan", "pi", "e", "isfinite", "isinf", "isnan", "copysign", "nextafter", "ulp", "fabs"),
        *("floor", "ceil", "trunc", "modf", "sqrt", "fmod", "frexp", "ldexp"),
        *("comb", "factorial", "gcd", "isqrt", "lcm"),
    )
)
# Of NumPy: libm by another name, and what sums floats in an order of its own.
INEXACT_NUMPY: Final = frozenset(
    (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "power", "float_power"),
        *("pow", "cbrt", "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinc"),
        *("asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        *("asinh", "acosh", "atanh", "deg2rad", "rad2deg", "degrees", "radians", "angle"),
        *("dot", "vdot", "inner", "outer", "matmul", "einsum", "tensordot", "linalg", "convolve", "correlate"),
        *("sum", "nansum", "mean", "nanmean", "average", "median", "std", "var", "nanstd", "nanvar", "prod", "nanprod"),
        *("polyval", "interp", "trapezoid", "vecdot", "matvec", "vecmat"),
    )
)
INEXACT_METHODS: Final = frozenset(("dot", "sum", "mean", "std", "var", "prod"))
BANNED_MODULES: Final = frozenset(("cmath", "numexpr", "scipy", "statistics", "numba"))
# Where such an operation is exact, and why: of whole numbers no order changes a sum, and powers of two are doubles.
EXACT_USES: Final[dict[tuple[str, str], str]] = {
    ("featurekit/aggregates/hyperloglog.py", "precision_of"): "a fraction, squared",
    ("featurekit/aggregates/hyperloglog.py", "estimate"): "a sum of whole numbers",
    ("featurekit/aggregates/moments.py", "_from_digits"): "a sum of whole numbers",
    ("featurekit/exact.py", "digits"): "powers of two by whole exponents",
    ("featurekit/targets/kernels/cast_number.py", "_hexadecimal"): "a power of a fraction",
    ("featurekit/targets/kernels/regex.py", "_regexp_count"): "a count",
    ("featurekit/targets/kernels/text.py", "_substring"): "a sum of whole numbers",
}


def violations(root: Path = ROOT) -> list[Violation]:
    """Return every use of an inexact operation in the checked code, except where it is exact after all."""
    return sorted(violation for violation, place in uses(root) if place not in EXACT_USES)


def uses(root: Path = ROOT) -> list[tuple[Violation, tuple[str, str]]]:
    """Return the uses, each with its file and function."""
    return [use for path in _files(root) for use in of_source(path.read_text("utf-8"), str(path.relative_to(root)))]


def _files(root: Path) -> Iterator[Path]:
    for name in CHECKED:
        path = root / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []


def of_source(text: str, file: str) -> list[tuple[Violation, tuple[str, str]]]:
    """Return the uses in one module's text, each with its file and function."""
    tree = ast.parse(text)
    names = dict(_aliases(tree))
    return [
        (Violation(file=file, line=line, what=what), (file, function))
        for line, function, what in _uses(tree, names, "")
    ]


def _aliases(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Give the names under which `math` and `numpy` are known in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ("math", "numpy"):
                    yield alias.asname or alias.name, alias.name


def _uses(node: ast.AST, names: dict[str, str], function: str) -> Iterator[tuple[int, str, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    if what := _wrong(node, names):
        yield getattr(node, "lineno", 0), function, what
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, names, function)


def _wrong(node: ast.AST, names: dict[str, str]) -> str | None:
    match node:
        case ast.Import(names=aliases):
            banned = [alias.name for alias in aliases if alias.name.partition(".")[0] in BANNED_MODULES]
            return f"import {banned[0]}" if banned else None
        case ast.ImportFrom(module=module, names=aliases):
            return _wrong_import(module or "", [alias.name for alias in aliases])
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in names:
            return _wrong_member(names[name], attribute)
        case ast.Call(func=ast.Attribute(attr=attribute, value=owner)) if attribute in INEXACT_METHODS:
            return None if isinstance(owner, ast.Name) and owner.id in names else f"sum or product: .{attribute}()"
        case ast.Call(func=ast.Attribute(attr="reduce" | "accumulate" | "reduceat")):
            return "sum or product: a ufunc's reduce"
        case ast.Call(func=ast.Name(id="sum")):
            return "sum()"
        case ast.Call(func=ast.Name(id="pow")):
            return "pow()"
        case ast.BinOp(op=ast.MatMult()):
            return "@"
        case ast.BinOp(op=ast.Pow(), left=base, right=exponent) if not _is_exact_power(base, exponent):
            return "** of floats"
        case ast.AugAssign(op=ast.Pow()):
            return "**="
        case _:
            return None


def _wrong_import(module: str, names: list[str]) -> str | None:
    top = module.partition(".")[0]
    if top in BANNED_MODULES:
        return f"from {module} import …"
    if top in ("math", "numpy"):
        return next((what for name in names if (what := _wrong_member(top, name))), None)
    return None


def _wrong_member(module: str, name: str) -> str | None:
    if module == "math":
        return None if name in EXACT_MATH else f"math.{name}"
    return f"np.{name}" if name in INEXACT_NUMPY else None


def _is_exact_power(base: ast.expr, exponent: ast.expr) -> bool:
    """Whether a power is one of whole numbers, or a power of two written out."""
    if isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub):
        exponent = exponent.operand
    if not isinstance(base, ast.Constant):
        return False
    if isinstance(base.value, int):
        return True
    return base.value == 2.0 and isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)
