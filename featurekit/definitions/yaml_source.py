"""YAML text as nodes that know where they stand. Nothing is resolved, constructed or executed here.

Only the part of YAML that reads the same to everyone passes: one document of mappings, sequences and scalars. Tags,
anchors, aliases and merge keys are refused: an alias has two positions and a tag asks a loader to build something.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

MAX_DEPTH: Final = 24
"""How deep nodes may nest; definitions need 7, and a bomb of brackets should not meet Python's recursion limit."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A mistake at a character of the text."""

    index: int
    what: str
    why: str | None = None
    try_: str | None = None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar as written: its text, and its style (None plain, ' or \" quoted, | or > block)."""

    start: int
    end: int
    text: str
    style: str | None

    @property
    def is_blank(self) -> bool:
        """Return whether nothing was written at all (`key:`)."""
        return self.style is None and not self.text


@dataclass(frozen=True, slots=True)
class Sequence:
    start: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    start: int
    items: tuple[tuple[Node, Node], ...]
    flow: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A node that was already complained about."""

    start: int


Node = Scalar | Sequence | Mapping | Refused


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence whose end has not come yet."""

    start: int
    is_mapping: bool
    flow: bool
    children: list[Node] = field(default_factory=list)

    def node(self) -> Node:
        if not self.is_mapping:
            return Sequence(self.start, tuple(self.children))
        pairs = zip(self.children[::2], self.children[1::2], strict=True)
        return Mapping(self.start, tuple(pairs), self.flow)


def read_yaml(text: str) -> tuple[Node | None, tuple[Flaw, ...]]:
    """Return the text's one document as a node (None where it is empty or no YAML), and what is wrong with it."""
    flaws: list[Flaw] = []
    stack: list[_Frame] = []
    try:
        return _compose(text, flaws, stack), tuple(flaws)
    except yaml.YAMLError as error:
        opened = [frame.start for frame in stack if frame.flow]
        return None, (*flaws, _syntax_flaw(error, text, opened))


def _compose(text: str, flaws: list[Flaw], stack: list[_Frame]) -> Node | None:
    root: Node | None = None

    def add(node: Node) -> None:
        nonlocal root
        if stack:
            stack[-1].children.append(node)
        else:
            root = node

    # Events and not yaml.compose: its scanner and parser don't recurse, and aliases are still visible.
    documents = 0
    for event in _events(text):
        start = _start(event)
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if documents == 2:
                    flaws.append(
                        Flaw(
                            start, "a second YAML document begins here", "a file is one document", "remove the --- line"
                        )
                    )
                    return root
            case yaml.AliasEvent():
                flaws.append(_refusal(start, f"the alias *{event.anchor}"))
                add(Refused(start))
            case yaml.ScalarEvent():
                refused = _marked(event, flaws)
                add(Refused(start) if refused else Scalar(start, _end(event), event.value, event.style or None))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                _marked(event, flaws)
                if len(stack) == MAX_DEPTH:
                    flaws.append(
                        Flaw(
                            start,
                            f"nested deeper than {MAX_DEPTH} levels",
                            "no definition needs that",
                            "close the brackets",
                        )
                    )
                    return None
                stack.append(_Frame(start, isinstance(event, yaml.MappingStartEvent), bool(event.flow_style)))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                add(stack.pop().node())
            case _:  # the stream and the document begin and end
                pass
    return root


def _start(event: yaml.Event) -> int:
    assert event.start_mark is not None  # the parser always sets both
    return event.start_mark.index


def _end(event: yaml.Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _events(text: str) -> Iterator[yaml.Event]:
    events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)
    return events


def _marked(event: yaml.ScalarEvent | yaml.CollectionStartEvent, flaws: list[Flaw]) -> bool:
    """Return whether the node carries a tag or an anchor, after complaining about it."""
    start = _start(event)
    if event.tag is not None:
        flaws.append(_refusal(start, f"the tag {event.tag.replace('tag:yaml.org,2002:', '!!')}"))
    if event.anchor is not None:
        flaws.append(_refusal(start, f"the anchor &{event.anchor}"))
    return event.tag is not None or event.anchor is not None


def _refusal(index: int, what: str) -> Flaw:
    return Flaw(
        index,
        f"{what} is not supported",
        "definitions are plain data: nothing is executed, built or copied while they load",
        "write the value itself; quote it where it begins with * & or !",
    )


def _syntax_flaw(error: yaml.YAMLError, text: str, opened: list[int]) -> Flaw:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        index = mark.index if mark else 0
        if not text[index:].strip():
            quote = error.context_mark.index if error.context_mark else index
            start = quote if text[quote : quote + 1] in ("'", '"') else max(opened, default=index)
            if start < index:
                return Flaw(start, f"{text[start]} is never closed", "the file ends before that", "close it")
        if error.context == "while scanning a block scalar" and error.context_mark:  # 'a' || b: | begins a block
            index = error.context_mark.index
        return _known_syntax(index, error.problem or error.context or "it can't be read", text)
    if isinstance(error, yaml.reader.ReaderError):
        return Flaw(
            error.position, f"the character U+{error.character:04X} is not allowed in YAML", error.reason, "remove it"
        )
    return Flaw(0, "this is not YAML", str(error))


def _comma_before(quoted: str) -> int | None:
    """Return where the comma stands that the quoted text, with which this ends, follows; None where none does."""
    opening = quoted.rfind(quoted[-1], 0, len(quoted) - 1)
    before = quoted[: max(opening, 0)].rstrip()
    return len(before) - 1 if before.endswith(",") else None


def _known_syntax(index: int, problem: str, text: str) -> Flaw:
    character = text[index : index + 1]
    quote = 'quote the text: sql: "…"'
    if character == "\t":
        return Flaw(index, "a tab where YAML wants spaces", "YAML does not allow tabs in indentation", "use spaces")
    if character == ":":
        why = "a colon with a space after it begins a value"
        return Flaw(index, "a second `: ` on one line", why, f"{quote}; or mend the indentation")
    if text[:index].rstrip().endswith(("'", '"')) and (character in ("|", ">") or problem.endswith("'<scalar>'")):
        if (comma := _comma_before(text[:index].rstrip())) is not None:  # {sql: f(a, 'b') = c}
            what, why = "the value ends at this comma", "inside { } and [ ] a comma begins the next one"
            return Flaw(comma, what, why, "quote all of it: sql: \"f(a, 'b') = c\"")
        what, why = "text goes on behind a closing quote", "a value that begins with a quote ends at the next one"
        return Flaw(index, what, why, "quote all of it: sql: \"'a' = b\"")
    if character and character in "@`%":
        return Flaw(index, f"a value can't begin with {character}", "YAML reserves this character", quote)
    return Flaw(
        index,
        f"this is not YAML: {problem}",
        "brackets, quotes and indentation give YAML its shape",
        f"mend the brackets and indentation, or {quote}",
    )
