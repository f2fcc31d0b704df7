"""The text of a regular expression, read into its tree and into what Spark is given, from left to right, once."""

from __future__ import annotations

from typing import Final

from featurekit.expr.regex_tree import (
    LAST,
    UNBOUNDED,
    Again,
    Chars,
    Choice,
    Group,
    Look,
    Mark,
    Part,
    PatternError,
    Ranges,
    Repeat,
    Sequence,
    complement,
    union,
    width,
)

MAX_COUNT: Final = 1000
_DIGIT: Final[Ranges] = ((48, 57),)
_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final[Ranges] = ((9, 13), (32, 32))
_CLASSES: Final[dict[str, Ranges]] = {
    "d": _DIGIT,
    "D": complement(_DIGIT),
    "w": _WORD,
    "W": complement(_WORD),
    "s": _SPACE,
    "S": complement(_SPACE),
}
_CONTROLS: Final = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}
_ENDS: Final[Ranges] = ((10, 10), (13, 13), (0x85, 0x85), (0x2028, 0x2029))
_ANY: Final[Ranges] = ((0, LAST),)
_SURROGATES: Final = (0xD800, 0xDFFF)
_MARKS: Final = {"A": "start", "z": "end", "Z": "end or last newline", "b": "word edge", "B": "no word edge"}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_PUNCT: Final[Ranges] = ((33, 47), (58, 64), (91, 96), (123, 126))
_PROPERTIES: Final[dict[str, Ranges]] = {
    "Lower": ((97, 122),),
    "Upper": ((65, 90),),
    "Alpha": ((65, 90), (97, 122)),
    "Digit": _DIGIT,
    "Alnum": ((48, 57), (65, 90), (97, 122)),
    "Punct": _PUNCT,
    "Space": _SPACE,
    "ASCII": ((0, 127),),
    "XDigit": ((48, 57), (65, 70), (97, 102)),
}
_JAVA_EDGES: Final = {
    "b": r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))",
    "B": r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))",
}


class Reader:
    """Reads a pattern once, from left to right; `java` grows to what Spark is given."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._fold = self._dot_all = False
        self._closed: set[int] = set()
        self._in_look = False
        self.groups = 0
        self.flags = ""
        self.java: list[str] = []

    def whole(self) -> Part:
        for flags in ("(?i)", "(?s)", "(?is)", "(?si)"):
            if self._text.startswith(flags):
                self._fold, self._dot_all = "i" in flags, "s" in flags
                self.flags, self._at = flags, len(flags)
        part = self._choice()
        if self._at < len(self._text):
            raise self._refusal(") closes nothing", "\\) for the character")
        return part

    def _refusal(self, why: str, try_: str) -> PatternError:
        return PatternError(f"{why} (at {self._text[self._at : self._at + 8]!r} in the pattern)", try_)

    def _next(self) -> str:
        if self._at == len(self._text):
            raise self._refusal("the pattern ends too early", "\\\\ for a backslash; close what is open")
        letter = self._text[self._at]
        self._at += 1
        return letter

    @property
    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _accept(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _choice(self) -> Part:
        branches = [self._sequence()]
        while self._accept("|"):
            self.java.append("|")
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._peek not in ("", "|", ")"):
            parts.append(self._repeated())
        return Sequence(tuple(parts))

    def _repeated(self) -> Part:
        start = self._at
        written = len(self.java)
        part = self._atom()
        if len(self.java) == written:
            self.java.append(self._text[start : self._at])
        start = self._at
        counts = self._counts()
        if counts is None:
            return part
        self._check_repeatable(part)
        suffix = self._next() if self._peek in ("?", "+") and self._peek else ""
        if suffix == "+" and not isinstance(part, Chars):
            raise self._refusal(
                "possessive groups differ between engines", "a possessive class, such as [a-z]++, or none"
            )
        if self._peek in ("*", "+", "?", "{") and self._peek:
            raise self._refusal("a quantifier of a quantifier", "put the first one into (?:…)")
        self.java.append(self._text[start : self._at])
        return Repeat(part, *counts, suffix)

    def _check_repeatable(self, part: Part) -> None:
        if isinstance(part, Mark | Look):
            raise self._refusal("a place can't be repeated", "leave the quantifier away")
        if width(part)[0] == 0:
            raise self._refusal(
                "engines differ on repeating what can match nothing", "let each round match a character, such as (a+)?"
            )

    def _counts(self) -> tuple[int, int] | None:
        match self._peek:
            case "*":
                counts = 0, UNBOUNDED
            case "+":
                counts = 1, UNBOUNDED
            case "?":
                counts = 0, 1
            case "{":
                return self._braces()
            case _:
                return None
        self._at += 1
        return counts

    def _braces(self) -> tuple[int, int]:
        close = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : close].partition(",") if close > 0 else ("", "", "")
        if not _is_count(low) or (high and not _is_count(high)):
            raise self._refusal("{ begins a count: {2}, {2,} or {2,5}", "\\{ for the character")
        counts = int(low), int(high) if high else UNBOUNDED if comma else int(low)
        if counts[0] > counts[1] or (counts[1] > MAX_COUNT and high) or counts[0] > MAX_COUNT or counts[1] == 0:
            raise self._refusal(f"a count is 1 to {MAX_COUNT}, the smaller first", "a smaller count")
        self._at = close + 1
        return counts

    def _atom(self) -> Part:
        match letter := self._next():
            case "(":
                return self._group()
            case "[":
                return Chars(self._class())
            case ".":
                return Chars(_ANY if self._dot_all else complement(_ENDS))
            case "^":
                return Mark("start")
            case "$":
                return Mark("end or last newline")
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                self._at -= 1
                raise self._refusal(f"{letter} has nothing before it to repeat", f"\\{letter} for the character")
            case _:
                return Chars(self._folded(self._point(letter)))

    def _point(self, letter: str) -> Ranges:
        point = ord(letter)
        return ((point, point),)

    def _folded(self, ranges: Ranges) -> Ranges:
        """Return the ranges with the other case of their ASCII letters, under (?i)."""
        if not self._fold:
            return ranges
        letters = [point for point in (*range(65, 91), *range(97, 123)) if any(a <= point <= z for a, z in ranges)]
        return union(ranges, tuple((point ^ 32, point ^ 32) for point in letters))

    def _group(self) -> Part:
        for head in ("?=", "?!", "?<=", "?<!"):
            if self._accept(head):
                return self._look(head)
        number = None
        head = "(?:"
        if not self._accept("?:"):
            if self._peek == "?":
                self._at -= 1
                raise self._refusal(
                    "this kind of group is not in the subset",
                    "(…), (?:…), (?=…), (?!…), (?<=…), (?<!…); (?i) and (?s) at the start",
                )
            if self._in_look:
                raise self._refusal("engines differ on what a group in a look-around keeps", "(?:…) inside it")
            self.groups += 1
            number = self.groups
            head = "("
        self.java.append(head)
        body = self._choice()
        self._close()
        if number is not None:
            self._closed.add(number)
        return Group(body, number)

    def _close(self) -> None:
        if not self._accept(")"):
            raise self._refusal("( is not closed", "\\( for the character")
        self.java.append(")")

    def _look(self, head: str) -> Part:
        if self._in_look:
            raise self._refusal("a look-around inside a look-around", "two conditions")
        self._in_look = True
        self.java.append(f"({head}")
        body = self._choice()
        self._close()
        self._in_look = False
        least, most = width(body)
        if "<" in head and (least != most or least == 0):
            raise self._refusal("a look-behind has one length", "(?<=ab|cd), each alternative as long as the others")
        return Look(body, ahead="<" not in head, negative="!" in head)

    def _escape(self) -> Part:
        letter = self._next()
        if letter in _CLASSES:
            return Chars(_CLASSES[letter])
        if letter in ("b", "B"):
            self.java.append(_JAVA_EDGES[letter])
            return Mark(_MARKS[letter])
        if letter in _MARKS:
            return Mark(_MARKS[letter])
        if letter in "123456789":
            return self._again(int(letter))
        if letter in ("p", "P"):
            return Chars(self._property(letter == "P"))
        return Chars(self._folded(self._character(letter)))

    def _again(self, number: int) -> Part:
        if number not in self._closed or self._fold or self._in_look or (self._peek.isdigit() and self._peek):
            raise self._refusal(
                "a back-reference names one group that is complete, by one digit, without (?i)", "\\1 after (…)"
            )
        return Again(number)

    def _character(self, letter: str) -> Ranges:
        """Return the character of an escape; its backslash and letter are read."""
        if letter in _CONTROLS:
            return ((_CONTROLS[letter], _CONTROLS[letter]),)
        if letter in ("x", "u"):
            digits = self._text[self._at : self._at + (2 if letter == "x" else 4)]
            if len(digits) != (2 if letter == "x" else 4) or not all(digit in _HEX for digit in digits):
                raise self._refusal(f"\\{letter} takes {2 if letter == 'x' else 4} hexadecimal digits", "\\u00e9")
            self._at += len(digits)
            point = int(digits, 16)
            if _SURROGATES[0] <= point <= _SURROGATES[1]:
                raise self._refusal("half a character", "the character itself")
            return ((point, point),)
        if letter.isascii() and not letter.isalnum():
            return self._point(letter)
        self._at -= 2
        raise self._refusal(
            "this escape is read differently by engines or versions", "a class, such as [0-9A-F]; \\\\ for a backslash"
        )

    def _property(self, negated: bool) -> Ranges:
        close = self._text.find("}", self._at)
        name = self._text[self._at + 1 : close] if self._peek == "{" and close > 0 else ""
        if name not in _PROPERTIES or self._fold:
            self._at -= 2
            raise self._refusal(
                "Unicode's letters change from one Java to the next" if not self._fold else "\\p under (?i)",
                f"[A-Za-z0-9], or one of \\p{{…}} {', '.join(_PROPERTIES)}",
            )
        self._at = close + 1
        return complement(_PROPERTIES[name]) if negated else _PROPERTIES[name]

    def _class(self) -> Ranges:
        negated = self._accept("^")
        if self._peek in ("]", "[") and self._peek:
            raise self._refusal(f"{self._peek} begins the class", f"\\{self._peek}")
        sets: list[Ranges] = []
        while not self._accept("]"):
            sets.append(self._member())
        found = union(*sets)
        return complement(found) if negated else found

    def _member(self) -> Ranges:
        first, is_set = self._item()
        if self._peek != "-" or self._text[self._at + 1 : self._at + 2] == "]":
            return first if is_set else self._folded(first)
        self._at += 1
        last, ends_in_set = self._item()
        low, high = first[0][0], last[0][0]
        if is_set or ends_in_set or low > high or (low <= _SURROGATES[1] and high >= _SURROGATES[0]):
            raise self._refusal(
                "a range goes from one character to a later one, not over U+D800 to U+DFFF", "\\- for the character"
            )
        return self._folded(((low, high),))

    def _item(self) -> tuple[Ranges, bool]:
        """Return one member of a class, and whether it is a set of its own."""
        letter = self._next()
        if letter == "[" or (letter == "&" and self._peek == "&"):
            self._at -= 1
            raise self._refusal(
                "classes inside classes are Java's alone",
                "\\[ or \\& for the character; (?![aeiou])[a-z] for a difference",
            )
        if letter != "\\":
            return self._point(letter), False
        escaped = self._next()
        if escaped in _CLASSES:
            return _CLASSES[escaped], True
        if escaped in ("p", "P"):
            return self._property(escaped == "P"), True
        return self._character(escaped), False


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4
