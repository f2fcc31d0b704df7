"""What a kernel is: a function's meaning for one tuple of argument types, chosen when the plan is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from featurekit.expr.nodes import Call, Literal


@dataclass(frozen=True, slots=True)
class Inline:
    """A kernel short enough to be written into the generated function: Python over `{0}`, `{1}` …

    Arguments are names, so that one can be written more than once. `{t}` is a name of this place's own, for an
    assignment expression; `bound` are the constants and functions that the text calls by `{name}`.
    """

    text: str
    bound: Mapping[str, Any] = field(default_factory=dict)


# An inline kernel that goes from argument to argument nests once for each; Python's parser has a limit of 200.
MOST_NESTED: Final = 32

Kernel = Callable[..., Any] | Inline
# Takes the call (its types and literal arguments decide), returns the kernel over the other arguments. Unless the
# catalogue says that the function decides about NULL itself, a kernel never sees None.
Factory = Callable[[Call], Kernel]


def always(kernel: Kernel) -> Factory:
    """Return the factory of a kernel that is the same for all types."""
    return lambda _: kernel


def literal_value(call: Call, index: int) -> Any:
    """Return the value of an argument that the catalogue says is a literal."""
    argument = call.args[index]
    assert isinstance(argument, Literal)
    return argument.value
