"""URLs as they may be stored and shown: nothing in them lets anybody in."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from featurekit.errors import SettingsError

UNREADABLE: Final = "(unreadable URL)"
_OPTIONS: Final = re.compile(r"[?#;]")
_ONE_SERVER: Final = r"(\[[0-9A-Fa-f:.]+\]|[\w.-]*)(:[0-9]+)?"
_SERVER: Final = re.compile(rf"{_ONE_SERVER}(,{_ONE_SERVER})*")
_IN_TEXT: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"`<>]*")
# On Azure it is the container that stands before the @.
_CONTAINER: Final = re.compile(r"(?:abfss?|wasbs?)://[\w$-]+@[\w.-]+(?:/[^@]*)?")


def shown_url(url: str) -> str:
    """Return a server's URL without user, password and options: what follows the last `@`, wherever that is.

    A password may hold any character, also one that ends it for a parser; where the two can't be told apart, nothing
    of the URL is returned.

    >>> shown_url("redis://job:secret@cache:6379/0?password=x"), shown_url("redis://:pa/ss@cache")
    ('redis://cache:6379/0', 'redis://cache')
    >>> shown_url("redis://job:s3cr#t@cache")
    '(unreadable URL)'
    """
    scheme, mark, rest = url.partition("://")
    place = _OPTIONS.split(rest, maxsplit=1)[0]
    shown = place.rpartition("@")[2]
    is_readable = mark and "@" not in rest[len(place) :] and _SERVER.fullmatch(shown.partition("/")[0])
    return f"{scheme}://{shown}" if is_readable else UNREADABLE


def with_login(url: str, user: str | None, password: str | None) -> str:
    """Return a server's URL with a user and a password in it; SettingsError where it has one already.

    >>> with_login("redis://cache:6379/0", "job", "p@ss")
    'redis://job:p%40ss@cache:6379/0'
    """
    scheme, mark, rest = url.partition("://")
    if not mark or "@" in re.split(r"[/?#]", rest, maxsplit=1)[0]:
        raise SettingsError(
            "redis.user and redis.password can't be put into redis.url",
            where=shown_url(url),
            why="it is no URL, or names a user already",
            try_="give the user and the password once: in the URL, or beside it",
        )
    return f"{scheme}://{quote(user or '', safe='')}:{quote(password or '', safe='')}@{rest}"


def shown_path(path: str) -> str:
    """Return the path of a source or a file: a local one as it is, another file system's without user and query.

    >>> shown_path("s3a://KEY:SEC/RET@bucket/day.parquet?token=x"), shown_path("data/a@b?.csv")
    ('s3a://bucket/day.parquet', 'data/a@b?.csv')
    """
    scheme, mark, rest = path.partition("://")
    if not mark or scheme == "file":
        return path
    place, _, query = rest.partition("?")
    if _CONTAINER.fullmatch(f"{scheme}://{place}"):
        return f"{scheme}://{place}"
    if "@" in query:
        return UNREADABLE
    server = place.partition("/")[0]
    # An @ further on is part of a file's name, unless what a colon began before it may be a password.
    return f"{scheme}://{place.rpartition('@')[2] if '@' in server or ':' in server else place}"


def shown_text(text: str) -> str:
    """Return a text, such as a query or another system's message, with each URL in it as `shown_path` gives it.

    >>> shown_text("SELECT * FROM parquet.`s3a://KEY:SECRET@bucket/day`")
    'SELECT * FROM parquet.`s3a://bucket/day`'
    """
    return _IN_TEXT.sub(lambda found: shown_path(found[0]), text)
