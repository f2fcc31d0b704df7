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
from featurekit.consistency.page.story import tell

_FOLDER: Final = Path(__file__).parent


def render_page(document: Mapping[str, Any]) -> str:
    """Return the page of a report's document, format 2, of this run or of one that the history has kept."""
    style, script = _read("page.css"), _read("page.js")
    # Only these two texts may run or style: an entity's key that got past the escaping would still be only text.
    policy = (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_digest(style)}; script-src {_digest(script)}"
    )
    template = _environment().get_template("page.html.j2")
    return template.render(story=tell(document), style=style, script=script, policy=policy)


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
