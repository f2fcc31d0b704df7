"""API keys: who may ask the server. A key is kept as its SHA-256 alone, and never shown, logged or compared early.

    app=pW3u…             # a name, which metrics count by, and the key itself
    app=sha256:5e88…      # or its SHA-256: then the settings hold nothing that lets anybody in

Any number of them, between spaces, commas or newlines; text after `#` is passed over. Several may have one name: so a
key is replaced by giving the new one beside the old, moving the callers, and taking the old one away.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

from featurekit.errors import SettingsError, UnauthorizedError

_MIN_LENGTH: Final = 16
_HASHED: Final = "sha256:"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*", re.MULTILINE)
_BEARER: Final = b"bearer "
_FORM: Final = (
    f"NAME=KEY or NAME={_HASHED}HEX; a key is {_MIN_LENGTH} or more printable letters without ',',"
    " such as `openssl rand -hex 32` gives"
)


class ApiKey(NamedTuple):
    """A key's name and the SHA-256 of the key."""

    name: str
    digest: bytes


class ApiKeys:
    """The keys that are let in; none at all lets everybody in, without a name."""

    def __init__(self, keys: Sequence[ApiKey] = ()) -> None:
        self._keys = tuple(keys)

    def __bool__(self) -> bool:
        return bool(self._keys)

    def name_of(self, headers: Mapping[bytes, bytes]) -> str:
        """Return the name of the key that a request's headers show; UnauthorizedError where it is none of these."""
        if not self._keys:
            return ""
        presented = _presented(headers)
        digest = hashlib.sha256(presented).digest()
        # Every key is looked at, whichever fits: how long that takes tells nothing.
        names = [name for name, known in self._keys if hmac.compare_digest(known, digest)]
        if names and presented:
            return names[0]
        raise UnauthorizedError(
            "the request shows no API key" if not presented else "nobody is known by this API key",
            where="the header Authorization",
            try_="Authorization: Bearer KEY",
        )


def is_this_machine(host: str) -> bool:
    """Return whether a name or an address reaches this machine from itself alone.

    >>> [is_this_machine(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "localhost.example.com")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_asked_as_this_machine(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request's Host is this machine's own: a page in a browser here may call it otherwise (DNS).

    >>> [is_asked_as_this_machine({b"host": host}) for host in (b"localhost:80", b"[::1]:8080", b"evil.example:8080")]
    [True, True, False]
    """
    told = headers.get(b"host", b"localhost").decode("latin-1")
    name = told[1:].partition("]")[0] if told.startswith("[") else told.partition(":")[0]
    return is_this_machine(name)


def parse_api_keys(text: str | None) -> ApiKeys:
    """Return the keys that a setting lists; SettingsError, which quotes none of it, where an entry is no key."""
    entries = _COMMENT.sub("", text or "").replace(",", " ").split()
    keys = [_parse_entry(number, entry) for number, entry in enumerate(entries, start=1)]
    if text is not None and not keys:
        raise SettingsError("the setting of the server's API keys lists none", where="serve.api_keys", try_=_FORM)
    return ApiKeys(keys)


def _parse_entry(number: int, entry: str) -> ApiKey:
    name, _, key = entry.partition("=")
    if not _NAME.fullmatch(name) or not key:
        raise _refusal(number, "it has no name and key")
    if key.startswith(_HASHED):
        try:
            digest = bytes.fromhex(key.removeprefix(_HASHED))
        except ValueError:
            digest = b""
        if len(digest) != hashlib.sha256().digest_size:
            raise _refusal(number, "what follows sha256: is not 64 hex digits")
        return ApiKey(name, digest)
    if len(key) < _MIN_LENGTH or not (key.isascii() and key.isprintable()):
        raise _refusal(number, f"its key has fewer than {_MIN_LENGTH} letters, or some that a header can't hold")
    return ApiKey(name, hashlib.sha256(key.encode()).digest())


def _refusal(number: int, why: str) -> SettingsError:
    return SettingsError(f"entry {number} of the API keys is none", where="serve.api_keys", why=why, try_=_FORM)


def _presented(headers: Mapping[bytes, bytes]) -> bytes:
    told = headers.get(b"authorization", b"")
    if told[: len(_BEARER)].lower() == _BEARER:
        return told[len(_BEARER) :].strip()
    return headers.get(b"x-api-key", b"").strip()
