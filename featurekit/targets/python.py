"""IR to one Python function: over one row (the lookup path), or over the rows of columns, one after the other.

The function is generated: each distinct node becomes one assignment, so shared subtrees are computed once, and a CASE
computes a branch only when it is taken. Everything that comes from a user (literals, names) and every kernel is bound
as a constant; the generated text holds only our own identifiers and operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from featurekit.expr.catalogue.row import Nulls
from featurekit.expr.functions import FUNCTIONS
from featurekit.expr.nodes import Aggregate, Call, Case, Cast, Column, Lambda, Literal, Node, Variable, columns
from featurekit.expr.show import show_value
from featurekit.targets.kernels import KERNELS
from featurekit.targets.kernels.cast import cast_kernel
from featurekit.targets.kernels.kernel import Inline, Kernel
from featurekit.targets.subtrees import Numbering, fold
from featurekit.types import Null

Row = Sequence[Any]
Evaluator = Callable[[Row], tuple[Any, ...]]
# From columns of held values and the number of rows to a column for each node.
LoopEvaluator = Callable[[Sequence[Sequence[Any]], int], list[Sequence[Any]]]
_NAME: Final = "evaluate"
# How many branches of a CASE are nested in each other before the next ones begin anew; one, where much is around.
_MOST_BRANCHES: Final = 8
_SHALLOW: Final = 10
# What generated text may call by name; the rest is bound.
_BUILTINS: Final = {
    "abs": abs, "float": float, "int": int, "len": len, "max": max, "min": min, "range": range, "zip": zip,
}  # fmt: skip


def compile_row(nodes: Sequence[Node], inputs: Sequence[Column]) -> Evaluator:
    """Return the function from one row (a value for each of `inputs`, in order) to one value for each of `nodes`.

    >>> from featurekit.expr.infer import call, literal
    >>> from featurekit.types import Int32
    >>> x = Column(name="x", type=Int32(), nullable=True)
    >>> compile_row([call("add", x, literal(1))], [x])([41])
    (42,)
    """
    evaluator: Evaluator = _defined(_generate(nodes, inputs))
    return evaluator


def compile_loop(nodes: Sequence[Node], inputs: Sequence[Column]) -> LoopEvaluator:
    """Return the function that does for each row of some columns what `compile_row` does for one.

    >>> from featurekit.expr.infer import call, literal
    >>> from featurekit.types import Int32
    >>> x = Column(name="x", type=Int32(), nullable=True)
    >>> compile_loop([call("add", x, literal(1))], [x])([[41, None]], 2)
    [(42, None)]
    """
    program = _Program()
    nodes = [fold(node, constant) for node in nodes]
    used = _used(nodes, inputs)
    program.lines += [f"def {_NAME}(columns, count):", "    rows = []", "    append = rows.append"]
    if used:
        taken = ", ".join(f"columns[{at}]" for at in used.values())
        program.lines.append(f"    for {_listed(f'r{at}' for at in used.values())} in zip({taken}):")
    else:
        program.lines.append("    for _ in range(count):")
    results = _body(program, nodes, used, 2)
    program.lines += [f"        append(({_listed(results)}))", "    return rows"]
    evaluate = _defined(program)

    def evaluator(columns: Sequence[Sequence[Any]], count: int) -> list[Sequence[Any]]:
        rows = evaluate(columns, count)
        return list(zip(*rows, strict=True)) if rows else [()] * len(nodes)

    return evaluator


def source(nodes: Sequence[Node], inputs: Sequence[Column]) -> str:
    """Return the generated function as text for people, with what its constants stand for."""
    program = _generate(nodes, inputs)
    return program.text + "".join(f"# {name}: {meaning}\n" for name, meaning in program.meanings.items())


def constant(node: Node) -> Any:
    """Return the value of an expression without columns."""
    return _defined(_plain([node], []))(())[0]


@dataclass(slots=True)
class _Program:
    """The function as it grows; the only thing here that changes."""

    lines: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    literals: dict[int, str] = field(default_factory=dict)
    number: Numbering = field(default_factory=Numbering)
    temporaries: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def bind(self, prefix: str, value: Any, meaning: str) -> str:
        name = f"{prefix}{len(self.constants)}"
        self.constants[name] = value
        self.meanings[name] = meaning
        return name

    def temporary(self, prefix: str = "t") -> str:
        self.temporaries += 1
        return f"{prefix}{self.temporaries - 1}"

    def assign(self, expression: str, indent: int, name: str | None = None) -> str:
        if name is None:
            if expression.isidentifier():
                return expression
            name = self.temporary()
        self.lines.append(f"{'    ' * indent}{name} = {expression}")
        return name


# What is computed already where we are, by number: the nodes of this block and of those around it.
_Known = dict[int, str]
_Used = dict[tuple[str | None, str], int]


def _defined(program: _Program) -> Any:
    scope: dict[str, Any] = {**program.constants, "__builtins__": _BUILTINS}
    exec(compile(program.text, "<featurekit expression>", "exec"), scope)
    return scope[_NAME]


def _generate(nodes: Sequence[Node], inputs: Sequence[Column]) -> _Program:
    return _plain([fold(node, constant) for node in nodes], inputs)


def _plain(nodes: Sequence[Node], inputs: Sequence[Column]) -> _Program:
    program = _Program(lines=[f"def {_NAME}(row):"])
    used = _used(nodes, inputs)
    if 2 * len(used) > len(inputs) > 1:
        program.lines.append(
            f"    {_listed(f'r{at}' if at in used.values() else '_' for at in range(len(inputs)))} = row"
        )
    else:
        program.lines += [f"    r{at} = row[{at}]" for at in used.values()]
    results = _body(program, nodes, used, 1)
    program.lines.append(f"    return ({_listed(results)})")
    return program


def _used(nodes: Sequence[Node], inputs: Sequence[Column]) -> _Used:
    """Return where the columns that the nodes use lie among the inputs."""
    places = {(column.qualifier, column.name): index for index, column in enumerate(inputs)}
    paths = dict.fromkeys((column.qualifier, column.name) for node in nodes for column in columns(node))
    return {path: places[path] for path in paths}


def _listed(names: Iterable[str]) -> str:
    return "".join(f"{name}, " for name in names).rstrip()


def _body(program: _Program, nodes: Sequence[Node], used: _Used, indent: int) -> list[str]:
    known: _Known = {}
    return [_emit(program, node, used, known, indent) for node in nodes]


def _emit(program: _Program, node: Node, used: _Used, known: _Known, indent: int) -> str:
    """Write what computes `node`, return the name that then holds it."""
    number = program.number(node)
    if (name := known.get(number)) is not None:
        return name
    match node:
        case Literal():
            return _emit_literal(program, node, number)
        case Column():
            return f"r{used[node.qualifier, node.name]}"
        case Variable():
            return f"v{node.level}"
        case Call():
            name = _emit_call(program, node, used, known, indent)
        case Cast():
            name = _emit_cast(program, node, _emit(program, node.value, used, known, indent), indent)
        case Case():
            name = _emit_case(program, node, used, known, indent)
        case Lambda():
            name = _emit_lambda(program, node, used, known, indent)
        case Aggregate():
            raise AssertionError("aggregates are lowered to columns before an expression is compiled")
        case _:
            raise AssertionError(f"{type(node).__name__} is not a node")
    known[number] = name
    return name


def _emit_literal(program: _Program, node: Literal, number: int) -> str:
    if node.value is None or isinstance(node.value, bool):
        return str(node.value)
    if number not in program.literals:
        program.literals[number] = program.bind("c", node.value, f"{show_value(node)}:{node.type.name}")
    return program.literals[number]


def _emit_call(program: _Program, node: Call, used: _Used, known: _Known, indent: int) -> str:
    row = FUNCTIONS[node.function]
    dynamic = [arg for index, arg in enumerate(node.args) if index not in row.literals]
    args = [_emit(program, arg, used, known, indent) for arg in dynamic]
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
    if not isinstance(kernel, Inline):
        return f"{program.bind('k', kernel, label)}({', '.join(args)})"
    if not kernel.bound and "{t}" not in kernel.text:
        return kernel.text.format(*args)
    bound = {name: program.bind("b", value, f"{name} of {label}") for name, value in kernel.bound.items()}
    return kernel.text.format(*args, t=program.temporary("u"), **bound)


def _guarded(expression: str, nodes: Sequence[Node], args: Sequence[str]) -> str:
    """Return the expression, None where an argument that can be NULL is."""
    pairs = [pair for pair in zip(nodes, args, strict=True) if not isinstance(pair[0], Lambda)]
    nullable = dict.fromkeys(arg for node, arg in pairs if node.nullable)
    if "None" in nullable:
        return "None"
    if not nullable or nullable.keys() == {expression}:  # what is its argument is NULL with it
        return expression
    return f"None if {' or '.join(f'{arg} is None' for arg in nullable)} else {expression}"


def _emit_lambda(program: _Program, node: Lambda, used: _Used, known: _Known, indent: int) -> str:
    """Write a function of the lambda's variables; kernels call it with held values, NULL (None) among them."""
    name = program.temporary("f")
    variables = ", ".join(f"v{variable.level}" for variable in node.variables)
    program.lines.append(f"{'    ' * indent}def {name}({variables}):")
    result = _emit(program, node.body, used, dict(known), indent + 1)
    program.lines.append(f"{'    ' * (indent + 1)}return {result}")
    return name


def _emit_case(program: _Program, node: Case, used: _Used, known: _Known, indent: int) -> str:
    """Write nested if/else: a later condition is computed only when the earlier ones were not true.

    Python has a limit of 100 indentations, so after some branches the others follow at the first one's.
    """
    result = program.temporary()
    most = _MOST_BRANCHES if indent <= _SHALLOW else 1
    pending = program.assign("False", indent, program.temporary()) if len(node.branches) > most else ""
    outer = indent
    inner = known  # the first condition is always computed: what it leaves, later nodes can use
    for place, (when, then) in enumerate(node.branches):
        if place and place % most == 0:
            program.lines.append(f"{'    ' * indent}{pending} = True")
            program.lines.append(f"{'    ' * outer}if {pending}:")
            indent = outer + 1
            program.lines.append(f"{'    ' * indent}{pending} = False")
        condition = _emit(program, when, used, inner, indent)
        program.lines.append(f"{'    ' * indent}if {condition}:")
        program.lines.append(f"{'    ' * (indent + 1)}{result} = {_emit(program, then, used, dict(inner), indent + 1)}")
        program.lines.append(f"{'    ' * indent}else:")
        indent += 1
        inner = dict(inner)
    program.lines.append(f"{'    ' * indent}{result} = {_emit(program, node.otherwise, used, inner, indent)}")
    return result
