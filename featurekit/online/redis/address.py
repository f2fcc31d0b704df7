"""What a URL of a store says: which servers, who asks, and how it is encrypted. Secrets stay out of every repr.

    redis://[user[:password]@]host[:port][/db]                               one server
    unix://[user:password@]/path/of/the/socket[?db=0]                        one server, by its socket
    redis+sentinel://[user:password@]host[:port],host[:port]/MASTER[/db]     the master that Sentinels name
    redis+cluster://[user:password@]host[:port],host[:port]                  a cluster, by any of its nodes

`rediss` in place of `redis` is TLS: `?ca=FILE` is who signs the servers' certificates (left out: whom this machine
trusts), `?cert=FILE&key=FILE` the client's own. `?sentinel_user=&sentinel_password=` is for the Sentinels themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import unquote

from featurekit.errors import SettingsError
from featurekit.urls import shown_url

Deployment = Literal["standalone", "sentinel", "cluster"]

_DEPLOYMENTS: Final[Mapping[str, Deployment]] = {
    "redis": "standalone",
    "rediss": "standalone",
    "unix": "standalone",
    "redis+sentinel": "sentinel",
    "rediss+sentinel": "sentinel",
    "redis+cluster": "cluster",
    "rediss+cluster": "cluster",
}
_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_HOST: Final = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::(?P<port>[0-9]{1,5}))?")
_LOGIN_OPTIONS: Final = frozenset({"user", "password"})
_TLS_OPTIONS: Final = frozenset({"ca", "cert", "key"})
_SENTINEL_OPTIONS: Final = frozenset({"sentinel_user", "sentinel_password"})


@dataclass(frozen=True, slots=True)
class Login:
    """Who asks; without a password nobody in particular does."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """Files in PEM: who signs servers' certificates, and the client's own certificate and key."""

    ca: str | None = None
    cert: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens: a host and a port, or the path of a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store's URL, read; `name` is what may be shown of it."""

    name: str
    deployment: Deployment
    places: tuple[Place, ...]
    login: Login = Login()
    sentinel_login: Login = Login()
    tls: Tls | None = None
    db: int = 0
    master: str = ""


def read_address(url: str) -> Address:
    """Return what a store's URL says; SettingsError for what is no such URL, without a piece of what may be secret."""
    try:
        found = _read(url)
    except ValueError:
        found = None
    if found is None:
        # Neither the text nor the parser's error as the cause: it quotes what it took for a port or a host.
        raise SettingsError(
            "this is no URL of an online store",
            where=shown_url(url),
            try_="for example redis://127.0.0.1:6379/0, rediss://… for TLS, unix:///path/to/socket,"
            " redis+sentinel://host:26379,host:26379/MASTER, redis+cluster://host,host; in a user or a password,"
            " / ? # @ : are written %2F %3F %23 %40 %3A",
        )
    return found


def _read(url: str) -> Address:
    scheme, _, rest = url.partition("://")
    deployment = _DEPLOYMENTS.get(scheme)
    if deployment is None or "#" in rest:
        raise ValueError
    location, _, query = rest.partition("?")
    server, slash, path = location.partition("/")
    login, _, hosts = server.rpartition("@")
    if "@" in login or (scheme != "unix" and "@" in path):
        raise ValueError  # a password that cuts the URL short: what follows its / would be taken for a path
    options = _options(query)
    if options.keys() - _allowed(scheme, deployment):
        raise ValueError
    if scheme == "unix":
        if hosts or not path:
            raise ValueError
        places: tuple[Place, ...] = (Place(path=slash + unquote(path)),)
        master, db = "", options.get("db", "0")
    else:
        port = _SENTINEL_PORT if deployment == "sentinel" else _PORT
        places = tuple(_place(host, port) for host in hosts.split(","))
        master, _, db = path.partition("/") if deployment == "sentinel" else ("", "", path)
        db = db or options.get("db", "0")
    if (deployment == "sentinel") != bool(master) or (deployment == "standalone" and len(places) > 1):
        raise ValueError
    if deployment == "cluster" and int(db):
        raise ValueError  # a cluster has no other database
    return Address(
        name=shown_url(url),
        deployment=deployment,
        places=places,
        login=_login(login, options),
        sentinel_login=Login(options.get("sentinel_user"), options.get("sentinel_password")),
        tls=Tls(options.get("ca"), options.get("cert"), options.get("key")) if scheme.startswith("rediss") else None,
        db=int(db),
        master=unquote(master),
    )


def _options(query: str) -> dict[str, str]:
    """Return the options of a URL; a + is a plus, as it is in the names of files."""
    found: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        name, mark, value = pair.partition("=")
        if not mark or name in found:
            raise ValueError
        found[name] = unquote(value)
    return found


def _allowed(scheme: str, deployment: Deployment) -> frozenset[str]:
    allowed = _LOGIN_OPTIONS | {"db"}
    if scheme.startswith("rediss"):
        allowed |= _TLS_OPTIONS
    return allowed | _SENTINEL_OPTIONS if deployment == "sentinel" else allowed


def _place(text: str, port: int) -> Place:
    found = _HOST.fullmatch(text) if text else re.match("", "")
    if found is None:
        raise ValueError
    if not text:
        return Place("localhost", port)
    number = int(found["port"] or port)
    if not 0 < number < 65536:
        raise ValueError
    return Place(found["six"] or found["name"], number)


def _login(text: str, options: Mapping[str, str]) -> Login:
    user, _, password = text.partition(":")
    if ":" in password:
        raise ValueError
    return Login(
        unquote(user) or options.get("user"),
        unquote(password) or options.get("password"),
    )
