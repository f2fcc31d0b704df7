"""IR to one Python function over one row: the lookup path.

The function is generated: each distinct node becomes one assignment, so shared subtrees are computed once, and a CASE
computes a branch only when it is taken. Everything that comes from a user (literals, names) and every kernel is bound
as a constant; the generated text holds only our own identifiers and operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from featurekit.expr.catalogue.row import Nulls
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable
from featurekit.expr.show import show_value
from featurekit.targets.kernels import KERNELS
from featurekit.targets.kernels.cast import cast_kernel
from featurekit.targets.kernels.kernel import Inline, Kernel
from featurekit.types import Null

Row = Sequence[Any]
Evaluator = Callable[[Row], tuple[Any, ...]]
_NAME: Final = "evaluate"


def compile_row(nodes: Sequence[Node], inputs: Sequence[Column]) -> Evaluator:
    """Return the function from one row (a value for each of `inputs`, in order) to one value for each of `nodes`.

    >>> from featurekit.expr.infer import call, literal
    >>> from featurekit.types import Int32
    >>> x = Column(name="x", type=Int32(), nullable=True)
    >>> compile_row([call("add", x, literal(1))], [x])([41])
    (42,)
    """
    program = _generate(nodes, inputs)
    scope: dict[str, Any] = {**program.constants, "__builtins__": {"abs": abs, "float": float, "int": int, "len": len}}
    exec(compile(program.text, "<featurekit expression>", "exec"), scope)
    evaluator: Evaluator = scope[_NAME]
    return evaluator


def source(nodes: Sequence[Node], inputs: Sequence[Column]) -> str:
    """Return the generated function as text for people, with what its constants stand for."""
    program = _generate(nodes, inputs)
    return program.text + "".join(f"# {name}: {meaning}\n" for name, meaning in program.meanings.items())


@dataclass(slots=True)
class _Program:
    """The function as it grows; the only thing here that changes."""

    lines: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    temporaries: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def bind(self, prefix: str, value: Any, meaning: str) -> str:
        name = f"{prefix}{len(self.constants)}"
        self.constants[name] = value
        self.meanings[name] = meaning
        return name

    def assign(self, expression: str, indent: int, name: str | None = None) -> str:
        if name is None:
            name = f"t{self.temporaries}"
            self.temporaries += 1
        self.lines.append(f"{'    ' * indent}{name} = {expression}")
        return name


# What is computed already where we are: the nodes of this block and of those around it.
_Known = dict[str, str]


def _generate(nodes: Sequence[Node], inputs: Sequence[Column]) -> _Program:
    program = _Program(lines=[f"def {_NAME}(row):"])
    places: Mapping[tuple[str | None, str], int] = {
        (column.qualifier, column.name): index for index, column in enumerate(inputs)
    }
    known: _Known = {}
    results = [_emit(program, node, places, known, 1) for node in nodes]
    program.lines.append(f"    return ({''.join(f'{result}, ' for result in results)})")
    return program


def _emit(
    program: _Program, node: Node, places: Mapping[tuple[str | None, str], int], known: _Known, indent: int
) -> str:
    """Write what computes `node`, return the name that then holds it."""
    key = repr(node)  # not the node: for Python 0.0 == -0.0, and the two must not share a constant
    if (name := known.get(key)) is not None:
        return name
    match node:
        case Literal():
            name = (
                "None" if node.value is None else program.bind("c", node.value, f"{show_value(node)}:{node.type.name}")
            )
        case Column():
            name = program.assign(f"row[{places[node.qualifier, node.name]}]", indent)
        case Call():
            name = _emit_call(program, node, places, known, indent)
        case Cast():
            value = _emit(program, node.value, places, known, indent)
            name = _emit_cast(program, node, value, indent)
        case Case():
            name = _emit_case(program, node, places, known, indent)
        case Variable():
            name = f"v{node.level}"
        case Lambda():
            name = _emit_lambda(program, node, places, known, indent)
        case Aggregate():
            raise AssertionError("aggregates are lowered to columns before an expression is compiled")
        case _:
            raise AssertionError(f"{type(node).__name__} is not a node")
    known[key] = name
    return name


def _emit_call(
    program: _Program, node: Call, places: Mapping[tuple[str | None, str], int], known: _Known, indent: int
) -> str:
    row = FUNCTIONS[node.function]
    dynamic = [arg for index, arg in enumerate(node.args) if index not in row.literals]
    args = [_emit(program, arg, places, known, indent) for arg in dynamic]
    expression = _apply(program, KERNELS[node.function](node), args, node.function)
    if row.nulls is not Nulls.PROPAGATE:
        return program.assign(expression, indent)
    return program.assign(_guarded(expression, dynamic, args), indent)


def _emit_cast(program: _Program, node: Cast, value: str, indent: int) -> str:
    if isinstance(node.value.type, Null) or node.value.type == node.type:
        return value
    kernel = cast_kernel(node.value.type, node.type)
    label = f"cast {node.value.type.name} to {node.type.name}"
    return program.assign(_guarded(_apply(program, kernel, [value], label), [node.value], [value]), indent)


def _apply(program: _Program, kernel: Kernel, args: list[str], label: str) -> str:
    if isinstance(kernel, Inline):
        return kernel.text.format(*args)
    return f"{program.bind('k', kernel, label)}({', '.join(args)})"


def _guarded(expression: str, nodes: Sequence[Node], args: Sequence[str]) -> str:
    """Return the expression, None where an argument that can be NULL is."""
    pairs = [pair for pair in zip(nodes, args, strict=True) if not isinstance(pair[0], Lambda)]
    nullable = dict.fromkeys(arg for node, arg in pairs if node.nullable)
    if not nullable:
        return expression
    return f"None if {' or '.join(f'{arg} is None' for arg in nullable)} else {expression}"


def _emit_lambda(
    program: _Program, node: Lambda, places: Mapping[tuple[str | None, str], int], known: _Known, indent: int
) -> str:
    """Write a function of the lambda's variables; kernels call it with held values, NULL (None) among them."""
    name = f"f{program.temporaries}"
    program.temporaries += 1
    variables = ", ".join(f"v{variable.level}" for variable in node.variables)
    program.lines.append(f"{'    ' * indent}def {name}({variables}):")
    result = _emit(program, node.body, places, dict(known), indent + 1)
    program.lines.append(f"{'    ' * (indent + 1)}return {result}")
    return name


def _emit_case(
    program: _Program, node: Case, places: Mapping[tuple[str | None, str], int], known: _Known, indent: int
) -> str:
    """Write nested if/else: a later condition is computed only when the earlier ones were not true."""
    result = f"t{program.temporaries}"
    program.temporaries += 1
    inner = known  # the first condition is always computed: what it leaves, later nodes can use
    for when, then in node.branches:
        condition = _emit(program, when, places, inner, indent)
        program.lines.append(f"{'    ' * indent}if {condition}:")
        program.assign(_emit(program, then, places, dict(inner), indent + 1), indent + 1, result)
        program.lines.append(f"{'    ' * indent}else:")
        indent += 1
        inner = dict(inner)
    program.assign(_emit(program, node.otherwise, places, inner, indent), indent, result)
    return result
