"""The page for people at /docs: it reads /openapi.json in the browser, and loads nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from typing import Final

PAGE: Final = files("featurekit.serving").joinpath("docs_page.html").read_bytes()


def _source(tag: bytes) -> str:
    """Return how a policy names the page's one inline text of a tag: by its hash, so that nothing else runs."""
    (content,) = re.findall(b"<" + tag + b">(.*?)</" + tag + b">", PAGE, re.DOTALL)
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


POLICY: Final = (
    f"default-src 'none'; script-src {_source(b'script')}; style-src {_source(b'style')}; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
