"""Calls of functions and aggregates: their arguments, lambdas among them, DISTINCT, FILTER and IGNORE NULLS."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from featurekit.errors import ExpressionError, UnsupportedFunctionError
from featurekit.expr import infer, literals, refusals, sugar
from featurekit.expr.catalogue.row import LAMBDA, Function, Kind
from featurekit.expr.functions import BY_SPELLING, FUNCTIONS
from featurekit.expr.keyword_forms import KeywordForms
from featurekit.expr.nodes import Node, Variable
from featurekit.expr.refusals import Refusal
from featurekit.expr.scope import closest
from featurekit.expr.time_syntax import TimeSyntax
from featurekit.expr.tokens import Mark, Token, at

# What a function that is called like a type converts to, where it is not the type of that name.
_TYPES: Final = {"str": "STRING", "text": "STRING", "varchar": "STRING", "bool": "BOOLEAN", "decimal": "DECIMAL(10,2)"}


class CallSyntax(KeywordForms, TimeSyntax):
    """The part of the grammar that reads them."""

    def __init__(self, tokens: tuple[Token, ...], sql: str, *, aggregates_allowed: bool) -> None:
        super().__init__(tokens, sql)
        self._aggregates_allowed = aggregates_allowed
        self._aggregate: str | None = None  # one that was read, and the one we are in
        self._in_aggregate: str | None = None
        self._variables: list[Variable] = []  # of the lambdas around, the outermost first

    @abstractmethod
    def _disjunction(self) -> Node: ...

    @abstractmethod
    def _operand(self) -> Node: ...

    def _call(self, token: Token) -> Node:
        if (timed := self._unit_call(token)) is not None:
            return timed
        function = BY_SPELLING.get(token.key)
        if function is None:
            if refusal := refusals.FUNCTIONS.get(token.key):
                if refusal is refusals.CONVERSION and (kind := _TYPES.get(token.key, token.key.upper())):
                    refusal = Refusal(refusal.why, f"CAST(x AS {kind}), or x::{kind}")
                self._refuse(f"{token.text}()", refusal, token.offset)
            advice = closest(token.key, tuple(BY_SPELLING)) or refusals.UNKNOWN.try_
            self._refuse(f"{token.text}()", Refusal(refusals.UNKNOWN.why, advice), token.offset)
        if function.kind is Kind.AGGREGATE:
            return self._aggregate_call(function, token)
        if function.name == "trim":
            return self._trim(token)
        args = self._arguments(function)
        with at(token.offset):
            if expand := sugar.CALLED.get(function.name):
                infer.check_arity(function, len(args))
                return expand(*args)
            return infer.call(function.name, *args)

    def _arguments(self, function: Function) -> list[Node]:
        """Return the arguments up to the closing parenthesis; the opening one is read."""
        if self._accept(")"):
            return []
        if self._peek.key == "distinct":
            self._refuse("DISTINCT", refusals.DISTINCT, self._peek.offset)
        args: list[Node] = []
        with self._nested(self._peek):
            while not args or self._accept(",") or self._accept_word(function, len(args)):
                args.append(self._argument(function, tuple(args)))
        args += self._nulls_option(function, args)
        self._expect(")", "the list")
        return args

    def _argument(self, function: Function, before: tuple[Node, ...]) -> Node:
        param = function.param(len(before)) if function.params else None
        token = self._peek
        names = self._lambda_names()
        if param is None or param.takes is not LAMBDA:
            if names is not None:
                self._refuse("a lambda", refusals.LAMBDA, token.offset)
            if function.name == "locate" and not before:
                return self._operand()  # the IN of POSITION(part IN text) is not the predicate
            start = self._index
            node = self._disjunction()
            if param is not None and param.pattern:
                self._keep_backslashes(start)
            return node
        if names is None:
            raise ExpressionError(
                f"{function.name} takes a lambda there", try_="x -> x + 1, or (x, y) -> x + y", offset=token.offset
            )
        assert param.binds is not None
        with at(token.offset):
            kinds = infer.bound_kinds(function, param.binds, before)
        if len(names) > len(kinds):
            raise ExpressionError(
                f"the lambda of {function.name} has {len(kinds)} variables, not {len(names)}", offset=token.offset
            )
        level = len(self._variables)
        variables = tuple(
            infer.variable(name, kind, level + place)
            for place, (name, kind) in enumerate(zip(names, kinds, strict=False))
        )
        self._variables += variables
        body = self._disjunction()
        del self._variables[level:]
        return infer.lambda_(variables, body)

    def _keep_backslashes(self, start: int) -> None:
        """Refuse a pattern, read from the token at `start` on, whose quotes took a backslash away from it."""
        for token in self._tokens[start : self._index]:
            lost = literals.lost_backslash(token.text[1:-1]) if token.mark is Mark.STRING else None
            if lost is not None:
                raise ExpressionError(
                    f"the pattern {token.text} loses its backslash: {lost} is read as {literals.string(lost)!r}",
                    why=r"quotes have escapes of their own, such as \n, which are read before the pattern is",
                    try_=f"r{token.text}, where backslashes stay, or two for each; and between double quotes of YAML,"
                    " which halve them, twice as many",
                    offset=token.offset,
                )

    def _lambda_names(self) -> list[str] | None:
        """Return the variables of a lambda that begins here, up to its arrow; None where there is none."""
        start = self._index
        names: list[str] = []
        if self._accept("("):
            while self._peek.mark in (Mark.WORD, Mark.QUOTED):
                names.append(self._next().name)
                if not self._accept(","):
                    break
            closed = self._accept(")")
        else:
            closed = self._peek.mark in (Mark.WORD, Mark.QUOTED)
            names = [self._next().name] if closed else []
        if closed and names and self._accept("->"):
            return names
        self._index = start
        return None

    def _aggregate_call(self, function: Function, token: Token) -> Node:
        if not self._aggregates_allowed:
            raise UnsupportedFunctionError(
                f"the aggregate {token.text}() can't stand here",
                why="it needs many rows; an on-demand feature, a condition on rows and the like see one",
                try_="compute it in a feature view and name that feature here",
                offset=token.offset,
            )
        if self._in_aggregate is not None:
            raise ExpressionError(
                f"{token.text}() inside {self._in_aggregate}()",
                why="an aggregate of an aggregate has no rows to range over",
                try_="make the inner one a feature of a view, and combine features by name",
                offset=token.offset,
            )
        self._in_aggregate = self._aggregate = token.text
        function, args = self._aggregated(function, token)
        where = None
        if self._accept("filter", "(", "where"):
            where = self._disjunction()
            self._expect(")", "FILTER (WHERE …")
        args += self._nulls_option(function, args)
        self._in_aggregate = None
        if self._peek.key == "over":
            self._refuse("a window (OVER)", refusals.WINDOW, self._peek.offset)
        with at(token.offset):
            return infer.aggregate(function.name, *args, where=where)

    def _aggregated(self, function: Function, token: Token) -> tuple[Function, list[Node]]:
        """Return an aggregate with its arguments, up to the closing parenthesis; the opening one is read."""
        if function.name == "count" and self._accept("*", ")"):
            return function, []
        if function.name == "count" and self._accept("distinct"):
            function = FUNCTIONS["count_distinct"]
        args = self._arguments(function)
        if not args:
            raise ExpressionError(f"{token.text}() needs an argument", try_="count(*) counts rows", offset=token.offset)
        return function, args

    def _nulls_option(self, function: Function, args: list[Node]) -> list[Node]:
        """Return what IGNORE NULLS or RESPECT NULLS, if it stands here, adds to the arguments of first and last."""
        token = self._peek
        if not self._accept("ignore", "nulls") and not self._accept("respect", "nulls"):
            return []
        if function.name not in ("first", "last") or len(args) != 1:
            raise ExpressionError(
                f"{token.text.upper()} NULLS is unexpected here",
                why="only first and last ask for it, and only once; other aggregates leave NULL out",
                offset=token.offset,
            )
        return [infer.literal(token.key == "ignore")]
