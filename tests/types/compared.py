"""Our types beside Spark's: of what people write, and of the SQL that we render for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featurekit.errors import FeaturekitError
from featurekit.expr.nodes import Aggregate, Node, aggregates
from featurekit.expr.parse import parse_expression
from featurekit.targets.spark import render
from tests.semantics import edges
from tests.types.oracle import Analyser
from tests.types.written import REFUSED, Written


@dataclass(frozen=True, slots=True)
class Compared:
    """One expression: what we say its type is (None: refused), and what is wrong with that, if anything is."""

    written: Written
    inferred: str | None
    wrong: str | None


def compare(expressions: Sequence[Written], analyser: Analyser) -> list[Compared]:
    """Return each expression with what we infer, checked against Spark's analysed schema."""
    nodes = [_parsed(each.text) for each in expressions]
    kept = [(each, node) for each, node in zip(expressions, nodes, strict=True) if node is not None]
    # Aggregates beside bare columns would be one query of two kinds.
    of_text = _asked(analyser, [(each.text, node) for each, node in kept])
    of_sql = _asked(analyser, [(_sql(node), node) for _, node in kept])
    answers = iter(zip(of_text, of_sql, strict=True))
    found = []
    for each, node in zip(expressions, nodes, strict=True):
        if node is None:
            found.append(Compared(each, None, None))
            continue
        text, sql = next(answers)
        found.append(Compared(each, node.type.name, _wrong(each, node, text, sql)))
    return found


def _parsed(text: str) -> Node | None:
    try:
        return parse_expression(text, edges.SCOPE, aggregates_allowed=True)
    except FeaturekitError:
        return None


def _sql(node: Node) -> str | None:
    return None if aggregates(node) else render(node, lambda column: column.name)


def _asked(analyser: Analyser, asked: Sequence[tuple[str | None, Node]]) -> list[str | None]:
    """Return Spark's answers in order, None where there is no text or Spark has no such function."""
    found: list[str | None] = [None] * len(asked)
    for is_aggregate in (False, True):
        chosen = [
            (place, text)
            for place, (text, node) in enumerate(asked)
            if text is not None and isinstance(node, Aggregate) is is_aggregate
        ]
        for (place, _), answer in zip(chosen, analyser.types([text for _, text in chosen]), strict=True):
            found[place] = answer
    return found


def _wrong(written: Written, node: Node, of_text: str | None, of_sql: str | None) -> str | None:
    if written.text in REFUSED:
        return f"accepted as {node.type.name}, and has to be refused"
    for what, answer in (("as written", of_text), ("as rendered", of_sql)):
        if answer is not None and answer != node.type.name:
            return f"{node.type.name}; Spark, {what}: {answer}"
    return None
