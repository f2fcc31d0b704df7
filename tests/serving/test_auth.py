"""API keys: what lets a request in, and what a mistake in them shows."""

from __future__ import annotations

import hashlib

import pytest

from featurekit.errors import SettingsError, UnauthorizedError
from featurekit.serving.auth import parse_api_keys

OLD = "0123456789abcdef-old"
NEW = "0123456789abcdef-new"
HASHED = "sha256:" + hashlib.sha256(NEW.encode()).hexdigest()


@pytest.mark.parametrize(
    "header",
    [
        ("authorization", f"Bearer {OLD}"),
        ("authorization", f"bearer  {OLD} "),
        ("x-api-key", OLD),
    ],
)
def test_a_key_is_known_by_its_name(header: tuple[str, str]) -> None:
    keys = parse_api_keys(f"app={OLD}")
    assert keys.name_of({header[0].encode(): header[1].encode()}) == "app"


def test_an_old_and_a_new_key_are_both_let_in_while_one_replaces_the_other() -> None:
    keys = parse_api_keys(f"# rotated in June\napp={OLD}, app={HASHED}\nbatch=fedcba9876543210  # nightly")
    names = [keys.name_of({b"x-api-key": key.encode()}) for key in (OLD, NEW, "fedcba9876543210")]
    assert names == ["app", "app", "batch"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"authorization": b""},
        {b"authorization": b"Bearer"},
        {b"authorization": b"Bearer "},
        {b"authorization": f"Basic {OLD}".encode()},
        {b"authorization": f"Bearer {OLD}x".encode()},
        {b"authorization": f"Bearer {HASHED}".encode()},  # what the settings hold is no key
        {b"x-api-key": b"\xff"},
        {b"cookie": OLD.encode()},
    ],
)
def test_nothing_else_is_let_in(headers: dict[bytes, bytes]) -> None:
    with pytest.raises(UnauthorizedError) as caught:
        parse_api_keys(f"app={OLD} app={HASHED}").name_of(headers)
    assert OLD not in str(caught.value)


def test_the_digest_of_no_key_lets_nobody_in_without_one() -> None:
    keys = parse_api_keys(f"app=sha256:{hashlib.sha256(b'').hexdigest()}")
    with pytest.raises(UnauthorizedError):
        keys.name_of({})


def test_without_keys_everybody_is_let_in() -> None:
    assert parse_api_keys(None).name_of({}) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("app", "no name and key"),
        ("app=", "no name and key"),
        ("=0123456789abcdef", "no name and key"),
        ("ap p=0123456789abcdef", "no name and key"),
        ("app=short-secret", "fewer than 16"),
        ("app=0123456789abcdéf", "fewer than 16"),
        ("app=sha256:12", "not 64 hex digits"),
        ("app=sha256:" + "z" * 64, "not 64 hex digits"),
        ("# all of it a comment", None),
    ],
)
def test_an_entry_that_is_no_key_is_refused_and_not_quoted(text: str, why: str | None) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_api_keys(text)
    assert why is None or why in str(caught.value.why)
    assert not any(part in str(caught.value) for part in ("short", "0123", "zzz", "a comment"))
