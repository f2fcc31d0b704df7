"""Spark's expression grammar, the part we accept, read from tokens straight into IR.

Precedence, loosest first: OR, AND, NOT, one predicate (IS NULL, IN, BETWEEN), comparisons (all on one level, from left
to right), |, ^, &, << >> >>>, + - ||, * / % DIV, unary - and ~. What is not read here is refused: the grammar is the
whitelist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from featurekit.errors import ExpressionError, InputError, TypeMismatchError, UnsupportedFunctionError
from featurekit.expr import infer, literals, pattern_syntax, refusals, sugar
from featurekit.expr.call_syntax import CallSyntax
from featurekit.expr.functions import BINARY, BY_SPELLING
from featurekit.expr.nodes import Node, is_deeper, is_larger
from featurekit.expr.scope import Scope, closest, some
from featurekit.expr.time_syntax import moved, sum_or_difference
from featurekit.expr.tokens import REFUSED_FIRST, REFUSED_NEXT, Mark, Token, at
from featurekit.types import DataType, parse_type

MAX_DEPTH: Final = 150
MAX_NODES: Final = 100_000
_COMPARISON, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _ADDITIVE, _MULTIPLICATIVE = range(1, 8)
_LEVELS: Final = {
    "|": _BIT_OR,
    "^": _BIT_XOR,
    "&": _BIT_AND,
    **dict.fromkeys(("<<", ">>", ">>>"), _SHIFT),
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"), _COMPARISON),
    **dict.fromkeys(("+", "-", "||"), _ADDITIVE),
    **dict.fromkeys(("*", "/", "%", "div"), _MULTIPLICATIVE),
}
_DOUBLED: Final = {"*": refusals.POWER, "/": refusals.WHOLE_QUOTIENT, "&": refusals.LOGIC}
_SYNONYMS: Final = {"==": "=", "!=": "<>"}
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
# How far the brackets of a type's parts open or close.
_OPENS: Final = {"(": 1, "<": 1, ")": -1, ">": -1, ">>": -2, ">>>": -3}
# Words that end an expression; they are never columns unless quoted.
_RESERVED: Final = frozenset(
    (
        *("and", "or", "not", "is", "in", "between", "like", "ilike", "rlike", "regexp", "div"),
        *("case", "when", "then", "else", "end", "select", "from", "where", "as", "filter", "over"),
    )
)


class Parser(CallSyntax):
    """Reads one expression, once."""

    def __init__(self, tokens: tuple[Token, ...], sql: str, scope: Scope, *, aggregates_allowed: bool) -> None:
        super().__init__(tokens, sql, aggregates_allowed=aggregates_allowed)
        self._scope = scope
        self._bare_column: tuple[str, int] | None = None

    def whole(self) -> Node:
        """Return the IR of all tokens."""
        if len(self._tokens) == 1:
            raise ExpressionError(
                "the expression is empty", try_="a column, an aggregate such as count(*), …", offset=0
            )
        node = self._disjunction()
        self._finish()
        if self._aggregate and self._bare_column:
            name, offset = self._bare_column
            raise ExpressionError(
                f"the column {name} stands beside the aggregate {self._aggregate}",
                why="an aggregate has one value for many rows, a bare column one for each; together they mean nothing",
                try_=f"aggregate the column too, such as max({name}), or make two features and combine them by name",
                offset=offset,
            )
        if is_larger(node, MAX_NODES):
            raise ExpressionError(
                f"the expression means more than {MAX_NODES:,} operators",
                why="functions such as nullif, CASE x WHEN and decode name their first argument again for each branch",
                try_="make the inner expression a feature of its own, and name it here",
                offset=0,
            )
        if is_deeper(node, MAX_DEPTH):
            raise ExpressionError(
                f"the expression is more than {MAX_DEPTH} operators deep", try_="split it into features", offset=0
            )
        return node

    def _finish(self) -> None:
        token = self._peek
        if token is self._end:
            return
        if token.text == ";":
            raise ExpressionError("a feature is one expression", try_="remove the semicolon", offset=token.offset)
        self._refuse_from(REFUSED_NEXT, token)
        raise ExpressionError(
            f"{token.text} is unexpected here", why="the expression was complete", offset=token.offset
        )

    # Precedence, loosest first

    def _disjunction(self) -> Node:
        return self._chain("or", lambda: self._chain("and", self._negation))

    def _chain(self, word: str, part: Callable[[], Node]) -> Node:
        node = part()
        while (token := self._peek).key == word:
            self._next()
            right = part()
            node = self._build(token.offset, word, node, right)
        return node

    def _negation(self) -> Node:
        token = self._peek
        if token.key not in ("not", "!"):
            return self._predicate()
        self._next()
        with self._nested(token):
            operand = self._negation()
        return self._build(token.offset, "not", operand)

    def _predicate(self) -> Node:
        value = self._operand()
        token = self._peek
        if self._accept("is", "null"):
            return self._build(token.offset, "is_null", value)
        if self._accept("is", "not", "null"):
            return self._build(token.offset, "is_not_null", value)
        if token.key == "is":
            raise UnsupportedFunctionError(
                "IS is followed by NULL or NOT NULL",
                why="other forms of IS have operators and functions that say the same",
                try_="a <=> b for IS NOT DISTINCT FROM, a <=> true for IS TRUE, isnan(a) for NaN",
                offset=token.offset,
            )
        negated = self._accept("not")
        if negated and self._peek.key not in ("in", "between", *pattern_syntax.FUNCTIONS):
            self._refuse_from(REFUSED_NEXT, self._peek)
            raise ExpressionError(
                "NOT is unexpected here", try_="NOT IN, NOT BETWEEN, or NOT first", offset=token.offset
            )
        if self._accept("in"):
            node = self._members(value, token)
        elif self._accept("between"):
            low = self._operand()
            self._expect("and", "BETWEEN and the lower bound")
            high = self._operand()
            with at(token.offset):
                node = sugar.between(value, low, high)
        elif self._peek.key in pattern_syntax.FUNCTIONS:
            node = self._pattern(value, self._next(), negated=negated)
        else:
            return value
        return self._build(token.offset, "not", node) if negated else node

    def _pattern(self, value: Node, token: Token, *, negated: bool) -> Node:
        """Return LIKE, ILIKE, RLIKE or REGEXP; the word is read."""
        quantifier = self._peek
        if token.key in ("like", "ilike") and quantifier.key in pattern_syntax.QUANTIFIED:
            self._next()
            self._expect("(", quantifier.text.upper())
            if negated:
                raise ExpressionError(
                    f"NOT stands before LIKE {quantifier.text.upper()}",
                    why="some read it as: not like one of them, others as: like none of them",
                    try_="NOT (x LIKE ANY ('a%', 'b%'))",
                    offset=token.offset,
                )
            patterns = self._list()
            with at(token.offset):
                return pattern_syntax.matched_by(quantifier.key, token.key, value, patterns)
        start = self._index
        pattern = self._operand()
        if pattern_syntax.FUNCTIONS[token.key] == "regexp_like":
            self._keep_backslashes(start)
        escape = None
        if self._accept("escape"):
            letter = self._next()
            if letter.mark is not Mark.STRING:
                raise ExpressionError("ESCAPE takes a quoted character", try_="ESCAPE '/'", offset=letter.offset)
            escape = self._string(letter)
        with at(token.offset):
            return pattern_syntax.matched(token.key, value, pattern, escape)

    def _members(self, value: Node, token: Token) -> Node:
        if self._peek.key != "(":
            raise ExpressionError(
                "( is missing after IN",
                why=f"found {self._peek.text or 'the end'}",
                try_="x IN ('a', 'b'); array_contains(a, x) for an element of an array",
                offset=self._peek.offset,
            )
        self._expect("(", "IN")
        return self._build(token.offset, "in", value, *self._list())

    def _list(self) -> list[Node]:
        """Return the expressions up to the closing parenthesis; the opening one is read."""
        with self._nested(self._peek):
            items = [self._disjunction()]
            while self._accept(","):
                items.append(self._disjunction())
        self._expect(")", "the list")
        return items

    def _operand(self) -> Node:
        """Return one side of a predicate or a comparison."""
        return self._value(_COMPARISON)

    def _value(self, level: int) -> Node:
        node = self._unary()
        while (found := _LEVELS.get((token := self._operator()).key, 0)) >= level:
            self._index += len(token.text) if found == _SHIFT else 1  # `>>` is two tokens
            name = BINARY[_SYNONYMS.get(token.key, token.key)].name
            if token.key in ("+", "-"):
                node = self._added(token, name, node)
            else:
                node = self._build(token.offset, name, node, self._value(found + 1))
        return node

    def _added(self, token: Token, name: str, node: Node) -> Node:
        """Return what + or - makes of the node and of what follows."""
        if self._accept("interval"):
            interval = self._interval()
            with at(token.offset):
                return moved(node, interval, forward=name == "add")
        right = self._value(_ADDITIVE + 1)
        with at(token.offset):
            return sum_or_difference(name, node, right) or infer.call(name, node, right)

    def _operator(self) -> Token:
        """Return the next token; of `<<`, `>>` and `>>>` the whole, which is cut into single brackets."""
        token = self._peek
        if token.key not in ("<", ">"):
            return token
        text = token.text
        for following in self._tokens[self._index + 1 : self._index + 3]:
            if following.key != token.key or following.offset != token.offset + len(text):
                break
            text += following.text
        return Token(mark=token.mark, text=text, offset=token.offset) if text in _LEVELS else token

    def _unary(self) -> Node:
        token = self._peek
        if token.key == "~":
            self._next()
            with self._nested(token):
                return self._build(token.offset, "bitwise_not", self._unary())
        if token.key not in ("-", "+"):
            return self._postfix()
        self._next()
        if self._peek.mark is Mark.NUMBER and token.key == "-":
            return self._suffix(self._number(self._next(), negative=True))
        with self._nested(token):
            operand = self._unary()
        with at(token.offset):
            return infer.call("negate", operand) if token.key == "-" else self._plus(operand)

    @staticmethod
    def _plus(operand: Node) -> Node:
        infer.call("negate", operand)  # +x takes what -x takes
        return operand

    def _postfix(self) -> Node:
        return self._suffix(self._primary())

    def _suffix(self, node: Node) -> Node:
        """Return the node with what follows it: `::type`, `[index]`, `.field`."""
        while (token := self._peek).key in ("::", "[", "."):
            self._next()
            if token.key == "::":
                kind = self._type()
                with at(token.offset):
                    node = infer.cast(node, kind)
            elif token.key == "[":
                with self._nested(token):
                    index = self._disjunction()
                self._expect("]", "the index")
                node = self._build(token.offset, "get_item", node, index)
            else:
                node = self._field(node, self._next())
        return node

    def _field(self, node: Node, token: Token) -> Node:
        if token.mark not in (Mark.WORD, Mark.QUOTED):
            self._refuse_from(REFUSED_FIRST, token)
            raise ExpressionError("a name is missing after the dot", offset=token.offset)
        name = token.name
        try:
            return infer.call("get_field", node, infer.literal(name))
        except TypeMismatchError as error:
            what = f"{node.type.name} has no field {name}"
            raise TypeMismatchError(what, why=error.why, try_=error.try_, offset=token.offset) from None

    # What stands on its own

    def _primary(self) -> Node:
        token = self._next()
        match token.mark:
            case Mark.NUMBER:
                return self._number(token, negative=False)
            case Mark.STRING:
                return infer.literal(self._string(token))
            case Mark.QUOTED:
                return self._name(token)
            case Mark.WORD:
                return self._word(token)
            case Mark.SYMBOL:
                return self._symbol(token)

    @staticmethod
    def _number(token: Token, *, negative: bool) -> Node:
        with at(token.offset):
            return literals.number(token.text, negative=negative)

    def _string(self, token: Token) -> str:
        """Return the text of a quoted literal; `''` in it is one quote, as Spark reads it."""
        quote = token.text[0]
        parts = [token.text[1:-1]]
        while self._peek.mark is Mark.STRING:
            following = self._next()
            if following.offset != token.end or following.text[0] != quote:
                raise ExpressionError("two strings in a row", try_="concat('a', 'b')", offset=following.offset)
            parts.append(following.text[1:-1])
            token = following
        with at(token.offset):
            return quote.join(literals.string(part) for part in parts)

    def _symbol(self, token: Token) -> Node:
        if token.text == "(":
            with self._nested(token):
                node = self._disjunction()
            if self._peek.key == ",":
                raise UnsupportedFunctionError(
                    "a list in parentheses is not a value", why=refusals.LIST.why, try_=refusals.LIST.try_,
                    offset=token.offset,
                )  # fmt: skip
            self._expect(")", "the expression in parentheses")
            return node
        if token.text[-1:] in ("'", '"'):
            with at(token.offset):
                return literals.prefixed(token.text)
        self._refuse_doubled(token)
        self._refuse_from(REFUSED_FIRST, token)
        if token is self._end:
            raise ExpressionError("the expression ends too early", why="an operand is missing", offset=token.offset)
        raise ExpressionError(f"{token.text} is unexpected here", why="an operand belongs here", offset=token.offset)

    def _refuse_doubled(self, token: Token) -> None:
        """Refuse the second half of an operator of other languages, such as `**`; the token is read."""
        before = self._tokens[self._index - 2] if self._index >= 2 else None
        doubled = _DOUBLED.get(token.key)
        if doubled is not None and before is not None and before.key == token.key and before.end == token.offset:
            self._refuse(token.text * 2, doubled, before.offset)

    def _word(self, token: Token) -> Node:
        key = token.key
        following = self._peek
        if following.mark is Mark.STRING and key in literals.TYPED:
            with at(token.offset):
                return literals.typed(key, self._string(self._next()))
        if key in _CONSTANTS:
            return infer.literal(_CONSTANTS[key])
        if key == "case":
            return self._case(token)
        self._refuse_from(REFUSED_FIRST, token)
        if following.key == "(" and (key not in _RESERVED or key in BY_SPELLING):
            self._next()
            if key == "extract":
                return self._extract(token)
            return self._cast(token) if key in ("cast", "try_cast") else self._call(token)
        if key in _RESERVED:
            raise ExpressionError(
                f"{token.text} is unexpected here",
                why="an operand belongs here",
                try_=f"`{token.text}` names a column",
                offset=token.offset,
            )
        return self._name(token)

    def _name(self, token: Token) -> Node:
        name = token.name
        if variable := next((bound for bound in reversed(self._variables) if bound.name == name), None):
            return variable
        following = self._tokens[self._index + 1] if self._peek.key == "." else None
        qualified = following is not None and following.mark in (Mark.WORD, Mark.QUOTED)
        column = self._scope.resolve(name, following.name) if qualified and following else None
        if column is not None:
            self._index += 2
        else:
            column = self._scope.resolve(None, name)
        past = min(self._index + 2, len(self._tokens) - 1)
        called = self._peek if column is not None or following is None else self._tokens[past]
        if called.key == "(":
            path = self._sql[token.offset : called.offset]
            self._refuse(f"{path.strip()}()", refusals.UNKNOWN, token.offset)
        if column is None:
            self._unknown_name(f"{name}.{following.name}" if qualified and following else name, token)
        if column.qualifier is None and self._in_aggregate is None and self._bare_column is None:
            self._bare_column = (column.path, token.offset)
        return column

    def _unknown_name(self, path: str, token: Token) -> NoReturn:
        if token.mark is Mark.WORD and path.lower() in refusals.WORDS:
            self._refuse(path, refusals.FUNCTIONS[path.lower()], token.offset)
        if self._peek.key == "->":
            self._refuse("a lambda here", refusals.LAMBDA, token.offset)
        known = (*(variable.name for variable in reversed(self._variables)), *self._scope.candidates())
        raise ExpressionError(
            f"unknown column {path}", why="names are case sensitive", try_=closest(path, known) or some(known),
            offset=token.offset,
        )  # fmt: skip

    def _case(self, token: Token) -> Node:
        with self._nested(token):
            key = None if self._peek.key == "when" else self._disjunction()
            branches = []
            while self._accept("when"):
                when = self._disjunction()
                self._expect("then", "WHEN and its condition")
                branches.append((when, self._disjunction()))
            if not branches:
                self._expect("when", "CASE")
            otherwise = self._disjunction() if self._accept("else") else None
        self._expect("end", "CASE")
        with at(token.offset):
            return infer.case(branches, otherwise) if key is None else sugar.case_of(key, branches, otherwise)

    def _cast(self, token: Token) -> Node:
        with self._nested(token):
            value = self._disjunction()
        self._expect("as", "CAST and its value")
        kind = self._type()
        self._expect(")", "CAST and its type")
        with at(token.offset):
            return infer.cast(value, kind)

    def _type(self) -> DataType:
        token = self._next()
        last = token
        if self._peek.key in ("(", "<"):
            depth = 0
            while self._peek is not self._end:
                last = self._next()
                depth += _OPENS.get(last.key, 0)
                if depth <= 0:
                    break
            else:
                self._expect(">", "the type")
        text = self._sql[token.offset : last.end]
        if text.lower() in ("decimal", "dec", "numeric"):
            text = "decimal(10,0)"  # Spark's default
        try:
            return parse_type(text)
        except InputError as error:
            raise UnsupportedFunctionError(
                f"CAST to {text} is not supported", why=error.why or error.what, try_=error.try_, offset=token.offset
            ) from None

    def _build(self, offset: int, name: str, *args: Node) -> Node:
        with at(offset):
            return infer.call(name, *args)
