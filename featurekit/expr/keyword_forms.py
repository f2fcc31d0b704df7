"""Calls whose arguments are parted by words: TRIM(LEADING 'x' FROM text), SUBSTRING(text FROM 2 FOR 3) and the like."""

from __future__ import annotations

from typing import Final

from featurekit.errors import ExpressionError
from featurekit.expr import infer
from featurekit.expr.catalogue.row import Function
from featurekit.expr.nodes import Node
from featurekit.expr.tokens import Token, TokenStream, at

# The word that can stand before the second argument, the third …, in place of the comma.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "locate": ("in",),
    "overlay": ("placing", "from", "for"),
    "substring": ("from", "for"),
}
_SIDES: Final = {"both": "btrim", "leading": "trim_leading", "trailing": "trim_trailing"}
_SPACES: Final = {"both": "trim", "leading": "ltrim", "trailing": "rtrim"}


class KeywordForms(TokenStream):
    """The part of the grammar that reads them."""

    def _disjunction(self) -> Node:
        raise NotImplementedError

    def _accept_word(self, function: Function, count: int) -> bool:
        """Take the word that parts so many arguments of a function from the next one, if it stands here."""
        words = _WORDS.get(function.name, ())
        return count <= len(words) and self._accept(words[count - 1])

    def _trim(self, token: Token) -> Node:
        """Return TRIM([BOTH|LEADING|TRAILING] [characters] [FROM] text); its opening parenthesis is read."""
        with self._nested(token):
            side = self._side()
            parts = [] if side is not None and self._peek.key == "from" else [self._disjunction()]
            if side is not None and self._peek.key != "from":
                self._expect("from", "TRIM and its characters")
            if self._accept("from"):
                parts.append(self._disjunction())
                side = side or "both"
        if self._peek.key == ",":
            raise ExpressionError(
                "trim() takes 1 argument",
                why="functions of other systems disagree on which of two is the text",
                try_="btrim(text, characters), or TRIM(LEADING 'x' FROM text)",
                offset=self._peek.offset,
            )
        self._expect(")", "TRIM and its text")
        with at(token.offset):
            names = _SPACES if len(parts) == 1 else _SIDES
            return infer.call(names[side or "both"], *reversed(parts))

    def _side(self) -> str | None:
        word = self._peek.key
        if word not in _SIDES or self._tokens[self._index + 1].key in (")", ",", "."):
            return None
        self._next()
        return word
