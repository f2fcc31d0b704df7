"""SQL text to typed IR: sqlglot cuts the text into tokens, `grammar` reads them by Spark's own precedence.

Only sqlglot's tokenizer is used, not its tree. The tree has forgotten what decides bits and types by the time we could
look: `1D` and `try_cast(1 AS DOUBLE)` are one node, `log10(x)` is `LOG(10, x)`, `unix_timestamp(x)` has gained a
format, `1.5BD` is a cast; `a = b < c` groups otherwise than in Spark; and operators have no positions. (Its compiled
parser classes can't be subclassed to change that.) Tokens have lost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token as SqlglotToken
from sqlglot.tokenizer_core import TokenType

from featurekit.errors import ExpressionError
from featurekit.expr.grammar import Parser
from featurekit.expr.nodes import Node
from featurekit.expr.scope import Scope
from featurekit.expr.tokens import Mark, Token

_SPARK: Final = Spark()
# sqlglot reads `show` or `call` at the start of a text as a command, and the rest as its argument: so none starts one.
_PREFIX: Final = "("
_MARKS: Final[dict[TokenType, Mark]] = {
    TokenType.NUMBER: Mark.NUMBER,
    TokenType.STRING: Mark.STRING,
    TokenType.IDENTIFIER: Mark.QUOTED,
}


def parse_expression(sql: str, scope: Scope, *, aggregates_allowed: bool) -> Node:
    """Return the typed IR of one SQL expression over the names of `scope`.

    ExpressionError (or a kind of it) for anything that is not one expression with one meaning on both paths; its
    `offset` is where in `sql` the mistake begins.

    >>> from featurekit.expr.scope import ColumnScope
    >>> from featurekit.expr.show import show
    >>> show(parse_expression("1 + 2.5", ColumnScope.of([]), aggregates_allowed=False))
    'add(1:decimal(1,0), 2.5:decimal(2,1)):decimal(3,1)?'
    """
    return Parser(tokens(sql), sql, scope, aggregates_allowed=aggregates_allowed).whole()


def tokens(sql: str) -> tuple[Token, ...]:
    """Return the tokens of `sql` with their text as it was written, comments left away."""
    try:
        found = _SPARK.tokenize(f"{_PREFIX}{sql}")[1:]
    except TokenError as error:
        raise ExpressionError(
            "the text can't be cut into tokens",
            why=_first_line(error),
            try_="close every quote and every comment",
            offset=0,
        ) from None
    return _with_leading_points(_token(token, sql) for index, token in enumerate(found) if not _is_suffix(found, index))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _is_suffix(found: list[SqlglotToken], index: int) -> bool:
    """Whether a token is one of the two that sqlglot makes of the D in `1D`: they lie at the number's own place."""
    start = found[index].start
    return any(found[before].start == start for before in range(max(0, index - 2), index))


def _with_leading_points(found: Iterable[Token]) -> tuple[Token, ...]:
    """Join the two tokens that sqlglot makes of `.5`, where no name stands before the point."""
    joined: list[Token] = []
    for token in found:
        point = joined[-1] if joined else None
        if token.mark is Mark.NUMBER and point is not None and point.text == "." and point.end == token.offset:
            name_before = len(joined) > 1 and joined[-2].mark is not Mark.SYMBOL and joined[-2].end == point.offset
            if not name_before:
                joined.pop()
                token = Token(mark=Mark.NUMBER, text=f".{token.text}", offset=point.offset)
        joined.append(token)
    return tuple(joined)


def _token(token: SqlglotToken, sql: str) -> Token:
    offset = token.start - len(_PREFIX)
    text = sql[offset : token.end + 1 - len(_PREFIX)]
    mark = _MARKS.get(token.token_type)
    if mark is None:
        mark = Mark.WORD if text[0].isalnum() or text[0] == "_" else Mark.SYMBOL
        if text[-1] in "'\"":  # x'41', r'raw', b'1'
            mark = Mark.SYMBOL
    return Token(mark=mark, text=text, offset=offset)
