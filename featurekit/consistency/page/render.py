"""The page of a report: one file that loads nothing, runs one small script, and lets data run none."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import jinja2

from featurekit.consistency.page import words
from featurekit.consistency.page.of_replay import tell_replay
from featurekit.consistency.page.of_store import tell_store
from featurekit.consistency.page.story import Story
from featurekit.errors import InputError

_FOLDER: Final = Path(__file__).parent


def render_page(document: Mapping[str, Any]) -> str:
    """Return the page of a report's document, of this run or of one that the history has kept.

    InputError for a document of a format that is not known here.
    """
    style, script = _read("page.css"), _read("page.js")
    # Only these two texts may run or style: an entity's key that got past the escaping would still be only text.
    policy = (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_digest(style)}; script-src {_digest(script)}"
    )
    template = _environment().get_template("page.html.j2")
    return template.render(story=_story(document), style=style, script=script, policy=policy)


def _story(document: Mapping[str, Any]) -> Story:
    match document:
        case {"kind": "store", "format": 2}:
            return tell_store(document)
        case {"kind": "replay", "format": 1}:
            return tell_replay(document)
        case _:
            raise InputError(
                f"a report of format {document.get('format')} can't be shown",
                why="another featurekit has written it",
                try_="show it with that one",
            )


@cache
def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,  # entity keys and texts come from data, and data can hold anything
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = "{:,}".format
    environment.filters["share"] = words.share
    environment.filters["moment"] = words.moment
    environment.filters["day"] = words.day
    environment.filters["parts"] = words.parts
    environment.globals["counted"] = words.counted
    return environment
