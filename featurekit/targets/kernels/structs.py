"""Structs: tuples of their fields' values."""

from __future__ import annotations

from typing import Final

from featurekit.expr.nodes import Call
from featurekit.targets.kernels.kernel import Factory, Inline, Kernel, literal_value
from featurekit.types import Array, Struct


def _named_struct(call: Call) -> Kernel:
    return Inline(f"({''.join(f'{{{index}}}, ' for index in range(1, len(call.args), 2))})")


def _get_field(call: Call) -> Kernel:
    kind = call.args[0].type
    of_array = isinstance(kind, Array)
    struct = kind.element if isinstance(kind, Array) else kind
    assert isinstance(struct, Struct)
    place = [name for name, _ in struct.fields].index(literal_value(call, 1))
    if of_array:
        return Inline(f"(*[None if {{t}} is None else {{t}}[{place}] for {{t}} in {{0}}],)")
    return Inline(f"{{0}}[{place}]")


KERNELS: Final[dict[str, Factory]] = {"named_struct": _named_struct, "get_field": _get_field}
