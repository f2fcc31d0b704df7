"""Tokens as they were written, and a cursor over them that knows what to say about a token out of place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NoReturn

from featurekit.errors import ExpressionError, UnsupportedFunctionError
from featurekit.expr import refusals
from featurekit.expr.refusals import Refusal

MAX_NESTING: Final = 40
# Tokens that can't follow a value, and those that can't begin one.
REFUSED_NEXT: Final[dict[str, tuple[str, Refusal]]] = {
    "over": ("a window (OVER)", refusals.WINDOW),
    "->": ("a lambda", refusals.LAMBDA),
    "as": ("an alias", refusals.ALIAS),
    "filter": ("FILTER here", refusals.FILTER),
    "order by": ("ORDER BY", refusals.ORDER),
    "at": ("AT TIME ZONE", refusals.AT_ZONE),
    "similar to": ("SIMILAR TO", refusals.SIMILAR),
    ":": (":", refusals.COLON),
    "collate": ("COLLATE", refusals.COLLATE),
    "mod": ("mod between two values", refusals.MODULO),
    "~": ("~ between two values", refusals.MATCH),
    "&&": ("&&", refusals.LOGIC),
}
REFUSED_FIRST: Final[dict[str, tuple[str, Refusal]]] = {
    "select": ("a subquery", refusals.SUBQUERY),
    "with": ("a subquery", refusals.SUBQUERY),
    "*": ("*", refusals.STAR),
    "interval": ("an INTERVAL", refusals.INTERVAL),
}


class Mark(Enum):
    WORD = auto()
    QUOTED = auto()
    NUMBER = auto()
    STRING = auto()
    SYMBOL = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of the text as it was written; `offset` is its first character."""

    mark: Mark
    text: str
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.text)

    @property
    def key(self) -> str:
        """The token as grammar: words and symbols in lower case, nothing for the rest."""
        return self.text.lower() if self.mark in (Mark.WORD, Mark.SYMBOL) else ""

    @property
    def name(self) -> str:
        """The token as a name: without the quotes that it may have."""
        return self.text[1:-1].replace("``", "`") if self.mark is Mark.QUOTED else self.text


class TokenStream:
    """The tokens of one expression, read once from left to right."""

    def __init__(self, tokens: tuple[Token, ...], sql: str) -> None:
        self._sql = sql
        self._end = Token(mark=Mark.SYMBOL, text="", offset=len(sql))
        self._tokens = (*tokens, self._end)
        self._index = 0
        self._nesting = 0

    @property
    def _peek(self) -> Token:
        return self._tokens[self._index]

    def _next(self) -> Token:
        token = self._peek
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def _accept(self, *keys: str) -> bool:
        """Take the next tokens if they read `keys`, all or none."""
        if any(token.key != key for token, key in zip(self._tokens[self._index :], keys, strict=False)):
            return False
        if self._index + len(keys) >= len(self._tokens):
            return False
        self._index += len(keys)
        return True

    def _expect(self, key: str, after: str) -> None:
        if not self._accept(key):
            token = self._peek
            self._refuse_from(REFUSED_NEXT, token)
            found = token.text or "the end"
            raise ExpressionError(f"{key.upper()} is missing after {after}", why=f"found {found}", offset=token.offset)

    @contextmanager
    def _nested(self, token: Token) -> Iterator[None]:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise ExpressionError(
                f"the expression is nested more than {MAX_NESTING} deep",
                try_="split it into features",
                offset=token.offset,
            )
        yield
        self._nesting -= 1

    def _refuse_from(self, table: dict[str, tuple[str, Refusal]], token: Token) -> None:
        if found := table.get(token.key):
            self._refuse(*found, token.offset)

    @staticmethod
    def _refuse(what: str, refusal: Refusal, offset: int) -> NoReturn:
        raise UnsupportedFunctionError(f"{what} is not supported", why=refusal.why, try_=refusal.try_, offset=offset)


@contextmanager
def at(offset: int) -> Iterator[None]:
    """Give errors that don't know their place this one."""
    try:
        yield
    except ExpressionError as error:
        if error.offset is None:
            error.offset = offset
        raise
