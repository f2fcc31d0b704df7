"""Settings: one `featurekit.toml`, overridden by environment variables, overridden by flags. Read once, at the edge.

    project = "flights"              # prefixes every key in the online store
    environment = "dev"
    definitions = "feature_defs"     # paths are relative to this file
    state = ".featurekit"            # the embedded server, the registry file, models

    [redis]
    url = "redis://localhost:6379"   # left out: the embedded server
    user = "serving"                 # who asks, with FEATUREKIT_REDIS_PASSWORD: so no URL holds a secret
    timeout_ms = 1000                # of a whole lookup; of each answer to everything else
    tries = 3                        # how often a lookup's read is sent at most
    breaker_failures = 5             # after so many in a row that failed …
    breaker_open_ms = 1000           # … lookups leave the store alone for so long
    cache = "5s"                     # how old what `serve` answers without a read may be; left out: it always reads
    retention = "30d"                # how long after its write a refresh can be served, at least

    [served_log]
    path = "served"                  # left out: what is served is not logged
    sample = 0.1                     # of all entities, the share whose answers are logged: 0 to 1
    rotate = "5m"                    # how long a file is written to before readers see it
    queue = 100000                   # so many rows wait for the disk before more are dropped

    [history]
    path = "/mnt/shared/history"     # the kept rows of refreshes; left out: under `state`
    keep = "90d"                     # how long after its write a refresh is kept, at least

    [check]
    keep = "400d"                    # how long what checks found is kept

    [schedule]
    check_at = "06:00"               # when `schedule` checks all views, each day, in UTC
    gc_at = "05:00"                  # when it drops what nothing needs
    catch_up = "7d"                  # how old a missed refresh may be that it still computes, for the history
    reports = "reports"              # where it writes the check's report; left out: only the history has it

    [alerts]
    webhook_url = "https://…"        # where alerts go as JSON, signed where there is a webhook_secret
    email_to = "oncall@example.com"  # and as e-mail: to whom, several with commas, …
    email_from = "fk@example.com"    # … from whom, …
    smtp_url = "smtp://user@host"    # … and over which server: smtp:// with STARTTLS, smtps:// with TLS at once
    ca_file = "ca.pem"               # certificate authorities to trust instead of the machine's

    [registry]
    url = "postgresql://host/db"     # left out: an SQLite file under `state`

    [forget]
    secret = "…"                     # by which forgotten keys are hashed; better FEATUREKIT_FORGET_SECRET_FILE

    [serve]
    api_keys = "app=sha256:9f86…"    # who may ask the server: NAME=KEY or NAME=sha256:HEX, as many as there are

    [spark]
    master = "local[*]"
    driver_memory = "4g"
    [spark.conf]
    "spark.sql.shuffle.partitions" = "8"

Each key has an environment variable: FEATUREKIT_PROJECT, FEATUREKIT_ENVIRONMENT, FEATUREKIT_REDIS_URL,
FEATUREKIT_REGISTRY_URL, FEATUREKIT_SPARK_MASTER and so on; FEATUREKIT_NOW sets the clock. A secret may be given as the
name of a file that holds it: FEATUREKIT_REDIS_PASSWORD_FILE, FEATUREKIT_REDIS_URL_FILE,
FEATUREKIT_REGISTRY_URL_FILE, FEATUREKIT_SERVE_API_KEYS_FILE,
FEATUREKIT_FORGET_SECRET_FILE. Secrets of alerts are given by the environment alone:
FEATUREKIT_ALERTS_WEBHOOK_SECRET, FEATUREKIT_ALERTS_SLACK_URL, FEATUREKIT_ALERTS_SMTP_PASSWORD, or …_FILE of each.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from featurekit.clock import (
    DAY,
    HOUR,
    MINUTE,
    Clock,
    Instant,
    fixed_clock,
    parse_duration,
    parse_instant,
    parse_time_of_day,
    system_clock,
)
from featurekit.errors import FeaturekitError, SettingsError
from featurekit.key_sample import threshold
from featurekit.tombstones import secret_of
from featurekit.urls import with_login

FILE_NAME: Final = "featurekit.toml"
_KEYS: Final[dict[tuple[str, ...], str]] = {
    ("project",): "project",
    ("environment",): "environment",
    ("definitions",): "definitions",
    ("state",): "state",
    ("now",): "now",
    ("redis", "url"): "redis_url",
    ("redis", "user"): "redis_user",
    ("redis", "password"): "redis_password",
    ("redis", "timeout_ms"): "redis_timeout_ms",
    ("redis", "tries"): "redis_tries",
    ("redis", "breaker_failures"): "redis_breaker_failures",
    ("redis", "breaker_open_ms"): "redis_breaker_open_ms",
    ("redis", "cache"): "redis_cache",
    ("redis", "retention"): "retention",
    ("served_log", "path"): "served_log",
    ("served_log", "sample"): "served_log_sample",
    ("served_log", "rotate"): "served_log_rotate",
    ("served_log", "queue"): "served_log_queue",
    ("history", "path"): "history_path",
    ("history", "keep"): "history_keep",
    ("check", "keep"): "check_keep",
    ("schedule", "check_at"): "schedule_check_at",
    ("schedule", "gc_at"): "schedule_gc_at",
    ("schedule", "catch_up"): "schedule_catch_up",
    ("schedule", "reports"): "schedule_reports",
    ("alerts", "webhook_url"): "alerts_webhook_url",
    ("alerts", "webhook_secret"): "alerts_webhook_secret",
    ("alerts", "slack_url"): "alerts_slack_url",
    ("alerts", "smtp_url"): "alerts_smtp_url",
    ("alerts", "smtp_password"): "alerts_smtp_password",
    ("alerts", "email_from"): "alerts_email_from",
    ("alerts", "email_to"): "alerts_email_to",
    ("alerts", "ca_file"): "alerts_ca_file",
    ("registry", "url"): "registry_url",
    ("forget", "secret"): "forget_secret",
    ("serve", "api_keys"): "serve_api_keys",
    ("spark", "master"): "spark_master",
    ("spark", "driver_memory"): "spark_driver_memory",
}
_ENVIRONMENT_ONLY: Final = ("alerts_webhook_secret", "alerts_slack_url", "alerts_smtp_password")
_SECRETS: Final = ("forget_secret", "redis_url", "redis_password", "registry_url", "serve_api_keys", *_ENVIRONMENT_ONLY)
_SECRET_LETTERS: Final = 32
_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that is a choice of the place, not of a definition.

    `file` is where they were read from, None where no settings file was found. `redis_url` None: the embedded server.
    """

    root: Path
    file: Path | None = None
    project: str = "default"
    environment: str = "dev"
    definitions: Path = Path("feature_defs")
    state: Path = Path(".featurekit")
    now: Instant | None = None
    redis_url: str | None = field(default=None, repr=False)  # may hold a password
    redis_user: str | None = None
    redis_password: str | None = field(default=None, repr=False)  # both are part of redis_url once they are read
    redis_timeout_ms: int = 1000
    redis_tries: int = 3
    redis_breaker_failures: int = 5
    redis_breaker_open_ms: int = 1000
    redis_cache: int | None = None
    retention: int = 30 * DAY
    served_log: Path | None = None
    served_log_sample: float = 1.0
    served_log_rotate: int = 5 * MINUTE
    served_log_queue: int = 100_000
    history_path: Path | None = None
    history_keep: int = 90 * DAY
    check_keep: int = 400 * DAY
    schedule_check_at: int = 6 * HOUR  # of the day, in UTC
    schedule_gc_at: int = 5 * HOUR
    schedule_catch_up: int = 7 * DAY
    schedule_reports: Path | None = None
    alerts_webhook_url: str | None = field(default=None, repr=False)  # may hold a token
    alerts_webhook_secret: str | None = field(default=None, repr=False)
    alerts_slack_url: str | None = field(default=None, repr=False)
    alerts_smtp_url: str | None = None
    alerts_smtp_password: str | None = field(default=None, repr=False)
    alerts_email_from: str | None = None
    alerts_email_to: str | None = None
    alerts_ca_file: Path | None = None
    registry_url: str | None = field(default=None, repr=False)
    forget_secret: str | None = field(default=None, repr=False)
    serve_api_keys: str | None = field(default=None, repr=False)
    spark_master: str = field(default="local[*]", repr=False)  # sc://host/;token=…
    spark_driver_memory: str = "4g"
    spark_conf: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # may hold spark.hadoop.fs.s3a.secret.key

    @property
    def clock(self) -> Clock:
        return system_clock if self.now is None else fixed_clock(self.now)

    @property
    def registry(self) -> str:
        """Return the registry's URL: the one given, or an SQLite file under the state folder."""
        return self.registry_url or f"sqlite:///{self.state / 'registry.db'}"

    @property
    def history(self) -> Path:
        """Return the folder of the kept rows: the one given, or one under the state folder."""
        return self.history_path or self.state / "history"

    @property
    def secret(self) -> bytes | None:
        """Return the secret by which entities are forgotten; None: the registry keeps one of its own."""
        return None if self.forget_secret is None else secret_of(self.forget_secret)

    @property
    def models(self) -> Path:
        return self.state / "models"


def read_settings(
    *,
    start: Path,
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    file: Path | None = None,
) -> Settings:
    """Return the settings for a folder: `file`, or the nearest featurekit.toml from `start` upwards, or defaults.

    Environment variables override the file, and `flags` (those not None) override both. Raises SettingsError for a
    file that isn't there, an unknown key, a value of the wrong type.
    """
    found = _checked_file(file) if file else _nearest(start)
    root = found.parent if found else start
    values, conf = _from_file(found) if found else ({}, ())
    named = _from_environment(environ)
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    settings = Settings(root=root.resolve(), file=found, spark_conf=conf)
    for key, value in {**values, **named, **given}.items():
        where = f"--{key.replace('_', '-')}" if key in given else _variable(key) if key in named else str(found)
        settings = replace(settings, **{key: checked_setting(key, value, where)})
    return replace(
        settings,
        redis_url=_with_login(settings),
        redis_password=None,
        definitions=settings.root / settings.definitions,
        state=settings.root / settings.state,
        history_path=None if settings.history_path is None else settings.root / settings.history_path,
        served_log=None if settings.served_log is None else settings.root / settings.served_log,
        schedule_reports=None if settings.schedule_reports is None else settings.root / settings.schedule_reports,
        alerts_ca_file=None if settings.alerts_ca_file is None else settings.root / settings.alerts_ca_file,
    )


def _with_login(settings: Settings) -> str | None:
    """Return the online store's URL with the user and the password that were given beside it."""
    url, user, password = settings.redis_url, settings.redis_user, settings.redis_password
    if user is None and password is None:
        return url
    if url is None:
        raise SettingsError(
            "redis.user and redis.password are for a server of your own",
            why="there is no redis.url, and the embedded server has no users",
            try_="give redis.url, or leave them out",
        )
    return with_login(url, user, password)


def _nearest(start: Path) -> Path | None:
    folders = (start.resolve(), *start.resolve().parents)
    return next((folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()), None)


def _checked_file(file: Path) -> Path:
    if not file.is_file():
        raise SettingsError(f"there is no settings file {str(file)!r}", try_="`featurekit init` writes one")
    return file


def _from_file(file: Path) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError("the settings file is not TOML", where=str(file), why=str(error)) from error
    values: dict[str, Any] = {}
    conf: dict[str, Any] = content.get("spark", {}).pop("conf", {}) if isinstance(content.get("spark"), dict) else {}
    for path, value in _leaves(content, ()):
        if path not in _KEYS:
            known = [".".join(key) for key in _KEYS]
            close = difflib.get_close_matches(".".join(path), known, n=1)
            raise SettingsError(
                f"unknown setting {'.'.join(path)!r}",
                where=str(file),
                try_=f"{close[0]!r}" if close else f"one of {', '.join(known)}",
            )
        if _KEYS[path] in _ENVIRONMENT_ONLY:
            raise SettingsError(
                f"{'.'.join(path)} is a secret",
                where=str(file),
                why="settings files are committed and copied",
                try_=f"{_variable(_KEYS[path])}, or {_variable(_KEYS[path])}_FILE: the name of a file that holds it",
            )
        values[_KEYS[path]] = value
    return values, tuple((key, _conf_text(value)) for key, value in conf.items())


def _conf_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)  # Spark reads true, not True


def _leaves(content: Mapping[str, Any], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in content.items():
        found += _leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)]
    return found


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in _KEYS.values():
        name = _variable(key)
        if name in environ:
            values[key] = environ[name]
        elif key in _SECRETS and f"{name}_FILE" in environ:
            secret = Path(environ[f"{name}_FILE"])
            try:
                values[key] = secret.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise SettingsError(f"{name}_FILE can't be read", where=str(secret), why=str(error)) from error
    return values


def _variable(key: str) -> str:
    return "FEATUREKIT_" + _name(key).replace(".", "_").upper()


def _name(key: str) -> str:
    """Return what a setting is called in a settings file."""
    return next(".".join(path) for path, known in _KEYS.items() if known == key)


def _positive(number: int) -> int:
    if number <= 0:
        raise ValueError(number)
    return number


def checked_setting(key: str, value: Any, where: str) -> Any:
    """Return a setting as its type; text is how environment variables and flags come. `where` says who gave it."""
    try:
        match key:
            case "schedule_check_at" | "schedule_gc_at":
                return parse_time_of_day(value)
            case "retention" | "history_keep" | "check_keep" | "schedule_catch_up":
                return parse_duration(value)
            case "served_log_rotate" | "redis_cache":
                return _positive(parse_duration(value))
            case (
                "served_log_queue"
                | "redis_timeout_ms"
                | "redis_tries"
                | "redis_breaker_failures"
                | "redis_breaker_open_ms"
            ) if not isinstance(value, bool):
                return _positive(int(value))
            case "served_log_sample" if not isinstance(value, bool):
                threshold(share := float(value))
                return share
            case "served_log" | "schedule_reports" | "alerts_ca_file":
                return Path(value)
            case "now":
                return value if isinstance(value, int) else parse_instant(value)
            case "definitions" | "state" | "history_path":
                return Path(value)
            case "project" | "environment" if not _SAFE_NAME.fullmatch(value):
                raise SettingsError(
                    f"{key} {value!r} is not a name", why="it is part of every key", try_="letters, digits, _ . and -"
                )
            case "forget_secret" if isinstance(value, str) and len(value.strip()) < _SECRET_LETTERS:
                raise SettingsError(
                    f"it has fewer than {_SECRET_LETTERS} letters",
                    why="who guesses it can try which keys were forgotten",
                    try_="`openssl rand -hex 32` makes one; keep it as long as the registry",
                )
            case "serve_api_keys" if isinstance(value, str) and not value.strip():
                raise SettingsError(
                    "it is empty",
                    why="a server whose keys are missing would quietly let everybody in",
                    try_="give a key, or leave the setting out",
                )
            case "redis_user" | "redis_password" if isinstance(value, str) and not value.strip():
                raise SettingsError(
                    "it is empty", why="the store would be asked as nobody in particular", try_="leave it out for that"
                )
            case _ if key in _ENVIRONMENT_ONLY and isinstance(value, str) and not value.strip():
                raise SettingsError(
                    "it is empty", why="a secret that is missing must not go unnoticed", try_="unset it"
                )
            case _ if key in _SECRETS and isinstance(value, str) and not value.strip():
                raise SettingsError(
                    "its URL is empty",
                    why="a deployment whose secret is missing would quietly go on with the embedded service",
                    try_="give the URL, or leave the setting out for the embedded service",
                )
            case _ if isinstance(value, str):
                return value
            case _:
                pass
    except FeaturekitError as error:
        raise SettingsError(
            f"setting {_name(key)!r}: {error.what}", where=where, why=error.why, try_=error.try_
        ) from error
    except (TypeError, ValueError, AttributeError):
        pass
    shown = f"a {type(value).__name__}" if key in _SECRETS else repr(value)
    raise SettingsError(
        f"setting {_name(key)!r} can't be {shown}", where=where, try_="see the settings page of the documentation"
    )
