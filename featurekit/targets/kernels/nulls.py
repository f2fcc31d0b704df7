"""Three-valued logic, choice and membership: the kernels that see NULL (None) and decide about it themselves."""

from __future__ import annotations

from typing import Any, Final

from featurekit.expr.nodes import Call, Literal
from featurekit.targets.kernels.kernel import MOST_NESTED, Factory, Inline, Kernel, always
from featurekit.targets.kernels.numeric import EQUAL_FLOATS
from featurekit.targets.kernels.order import equality_key, order_key
from featurekit.types import is_float, is_nested


def _equal_null_safe(call: Call) -> Kernel:
    kind = call.args[0].type
    equal = EQUAL_FLOATS if is_float(kind) else "{0} == {1}"
    key = equality_key(kind) if is_nested(kind) else None
    if key is not None:
        return Inline("{key}({0}) == {key}({1})", {"key": key})
    return Inline(f"{{1}} is None if {{0}} is None else ({{1}} is not None and {equal})")


def _coalesce(call: Call) -> Kernel:
    if len(call.args) > MOST_NESTED:
        return lambda *values: next((value for value in values if value is not None), None)
    *first, last = (f"{{{index}}}" for index in range(len(call.args)))
    return Inline("".join(f"{arg} if {arg} is not None else " for arg in first) + last)


def _extreme(call: Call) -> Kernel:
    """greatest and least: NULLs are passed over; of equal values the first stays (0.0 before -0.0)."""
    largest = call.function == "greatest"
    order = order_key(call.type)
    if len(call.args) <= MOST_NESTED and (is_float(call.type) or order is None):
        return Inline(_best(len(call.args), ">" if largest else "<", floats=is_float(call.type)))
    choose = max if largest else min

    def kernel(*values: Any) -> Any:
        return choose((value for value in values if value is not None), key=order, default=None)

    return kernel


def _best(count: int, sign: str, *, floats: bool) -> str:
    """Return the text that goes from value to value and keeps the best so far."""
    text = "{0}"
    for place in range(1, count):
        value = f"{{{place}}}"
        better = f"{value} {sign} {{t}}"
        if floats:  # NaN is larger than all
            nan, number = (value, "{t}") if sign == ">" else ("{t}", value)
            better = f"({better} or ({nan} != {nan} and {number} == {number}))"
        text = f"({value} if ({{t}} := {text}) is None or ({value} is not None and {better}) else {{t}})"
    return text


def _member(call: Call) -> Kernel:
    """x IN (…): NULL when x is, and when it is not found among others of which one is NULL."""
    others = call.args[1:]
    literals = [other.value for other in others if isinstance(other, Literal)]
    kind = call.args[0].type
    if len(literals) == len(others) and not is_nested(kind):
        return _member_of(literals, is_float(kind), call.args[0].nullable)
    key = equality_key(kind) or _as_it_is

    def kernel(value: Any, *values: Any) -> bool | None:
        if value is None:
            return None
        if key(value) in [key(other) for other in values if other is not None]:
            return True
        return None if None in values else False

    return kernel


def _member_of(literals: list[Any], floats: bool, nullable: bool) -> Inline:
    found = frozenset(value for value in literals if value is not None and value == value)
    text = "{0} in {found}"
    if floats and any(value != value for value in literals):
        text = f"({{0}} != {{0}} or {text})"
    if None in literals:
        text = f"({text} or None)"
    return Inline(f"(None if {{0}} is None else {text})" if nullable else text, {"found": found})


def _as_it_is(value: Any) -> Any:
    return value


KERNELS: Final[dict[str, Factory]] = {
    "and": always(Inline("False if {0} is False or {1} is False else None if {0} is None or {1} is None else True")),
    "or": always(Inline("True if {0} is True or {1} is True else None if {0} is None or {1} is None else False")),
    "not": always(Inline("not {0}")),
    "is_null": always(Inline("{0} is None")),
    "is_not_null": always(Inline("{0} is not None")),
    "eq_null_safe": _equal_null_safe,
    "coalesce": _coalesce,
    "greatest": _extreme,
    "least": _extreme,
    "in": _member,
}
