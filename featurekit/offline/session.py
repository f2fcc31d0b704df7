"""Spark: the one module that imports it. The session is pinned here; its errors stop here.

The settings that decide values: the zone is UTC, CSV and Parquet mean what `source` expects of them, substitution of
`${…}` in SQL is off. ANSI is on, and no query of ours depends on it. The others are about a machine or about noise.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameReader, Observation, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.pandas.functions import arrow_udf

from featurekit.config import Settings
from featurekit.definitions.source import Source, SourceFormat
from featurekit.errors import BatchEngineError, SettingsError
from featurekit.offline.engine import EMPTY_CELL, FILE_COLUMN, BatchFunction
from featurekit.offline.failures import as_our_error
from featurekit.offline.functions import FUNCTIONS
from featurekit.offline.java import java_home
from featurekit.offline.lakehouse import lakehouse_version, missing_package, read_lakehouse
from featurekit.offline.stability import unstable_parts
from featurekit.source_files import is_remote, local_path
from featurekit.targets.spark import quote_identifier
from featurekit.types import Schema
from featurekit.urls import shown_path

_LARGEST_LOG: Final = 10_000_000
_MOST_SENT_ROWS: Final = 1_000_000  # of keys: some tens of MB in each executor

# Set on a session that may be someone else's, too: values depend on them.
PINNED: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
}
_LOCAL: Final = "file://"  # a cluster's default file system is another one (fs.defaultFS)
# CSV as RFC 4180 has it; an empty cell and a quoted empty one can be told apart.
_NULL_CELL: Final = "\u0001featurekit: null\u0001"
_CSV: Final = {
    "header": "true",
    "enforceSchema": "false",  # each file's header is held against the first one's
    "mode": "FAILFAST",
    "columnPruning": "false",  # with it a row of too few cells passes when its last columns are not asked for
    "multiLine": "true",
    "escape": '"',
    "nullValue": _NULL_CELL,
    "emptyValue": EMPTY_CELL,
    "maxCharsPerColumn": "-1",
}


class SparkEngine:
    """A Spark session with what `offline` needs of it; made by `start_engine`."""

    def __init__(self, session: SparkSession, root: Path) -> None:
        self.session = session
        self._root = root
        self._lock = threading.Lock()
        for key, value in PINNED.items():
            session.conf.set(key, value)
        for function in FUNCTIONS:
            # The kind of function follows from its type hints; the stub wants it said, and saying it warns.
            udf = arrow_udf(function.function, function.returns)  # type: ignore[call-overload]
            session.udf.register(function.name, udf)

    @property
    def root(self) -> Path:
        return self._root

    @property
    def versions(self) -> Mapping[str, str]:
        with _our_errors():
            java = self.session.sparkContext._jvm.System.getProperty("java.version")  # type: ignore[union-attr]
            return {"spark": self.session.version, "java": str(java)}

    @property
    def is_local(self) -> bool:
        return str(self.session.sparkContext.master).startswith("local")

    @property
    def parallelism(self) -> int:
        return int(self.session.sparkContext.defaultParallelism)

    def numbered(self, parts: int) -> DataFrame:
        with _our_errors():
            return self.session.range(0, parts, 1, parts)

    def read_parquet(self, path: str, files: Sequence[Path] = ()) -> DataFrame:
        with _our_errors():
            frame = self.session.read.parquet(self._resolved(path))
            if not files:
                return frame
            return self._only(path).schema(frame.schema).parquet(*map(_local_file, files))

    def read_csv(self, path: str, header: Sequence[str], files: Sequence[Path] = ()) -> DataFrame:
        with _our_errors():
            columns = ", ".join(f"{quote_identifier(name)} STRING" for name in header)
            paths = [_local_file(file) for file in files] or [self._resolved(path)]
            reader = self._only(path) if files else self.session.read
            frame = reader.options(**_CSV).schema(columns).csv(paths)
            return frame.select("*", frame["_metadata.file_path"].alias(FILE_COLUMN))

    def _only(self, path: str) -> DataFrameReader:
        """Return a reader of single files of a path, which has the columns that its folders' names give."""
        root = local_path(path, self._root)
        return self.session.read.option("basePath", _local_name(root)) if root.is_dir() else self.session.read

    def read_files(self, files: Sequence[Path], schema: Schema, *, base: Path | None = None) -> DataFrame:
        columns = ", ".join(f"{quote_identifier(field.name)} {field.type.sql}" for field in schema.fields)
        with _our_errors():
            if not files:
                return self.session.createDataFrame([], columns)
            options = {} if base is None else {"basePath": _local_name(base)}
            paths = [_local_file(file) for file in files]
            return self.session.read.options(**options).schema(columns).parquet(*paths)

    def read_folders(self, folders: Sequence[Path], like: DataFrame) -> DataFrame:
        with _our_errors():
            if not folders:
                return like.limit(0)
            return self.session.read.schema(like.schema).parquet(*map(_local_file, folders))

    def read_table(self, table: str) -> DataFrame:
        with _our_errors():
            return self.session.table(table)

    def read_lakehouse(self, source: Source) -> DataFrame:
        kind, where, is_table = self._lakehouse(source)
        with self._with_package(kind):
            return read_lakehouse(self.session, kind, where, source.version, is_table=is_table)

    def lakehouse_version(self, source: Source) -> int | None:
        kind, where, is_table = self._lakehouse(source)
        with self._with_package(kind):
            return lakehouse_version(self.session, kind, where, is_table=is_table)

    def _lakehouse(self, source: Source) -> tuple[SourceFormat, str, bool]:
        assert source.lakehouse is not None
        where = str(source.table) if source.path is None else self._resolved(source.path)
        return source.lakehouse, where, source.path is None

    @contextmanager
    def _with_package(self, kind: SourceFormat) -> Iterator[None]:
        try:
            yield
        except (PySparkException, Py4JError) as error:
            if "DATA_SOURCE_NOT_FOUND" in str(error):
                raise missing_package(kind, ".".join(self.session.version.split(".")[:2])) from error
            raise as_our_error(error) from error

    def read_sql(self, text: str) -> DataFrame:
        # Spark makes paths whole while it analyses a query, from the file system's working folder.
        context = self.session.sparkContext
        hadoop: Any = context._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
        with _our_errors(), self._lock:
            files = hadoop.FileSystem.get(context._jsc.hadoopConfiguration())
            before = files.getWorkingDirectory()
            files.setWorkingDirectory(hadoop.Path(str(self._root.absolute())))
            try:
                return self.session.sql(text)
            finally:
                files.setWorkingDirectory(before)

    def query(self, text: str, frames: Mapping[str, DataFrame] | None = None) -> DataFrame:
        # A query is analysed at once, so a view's name is free again for the next one.
        with _our_errors(), self._lock:
            for name, frame in (frames or {}).items():
                frame.createOrReplaceTempView(quote_identifier(name))
            return self.session.sql(text)

    def unstable_parts(self, frame: DataFrame) -> tuple[str, ...]:
        with _our_errors():
            plan = getattr(frame, "_jdf").queryExecution().analyzed()  # noqa: B009  classic Spark only, so no attribute
            return tuple(dict.fromkeys(unstable_parts(plan)))

    def map_batches(self, frame: DataFrame, function: BatchFunction, schema: Schema) -> DataFrame:
        columns = ", ".join(f"{quote_identifier(field.name)} {field.type.sql}" for field in schema.fields)
        with _our_errors():
            return frame.mapInArrow(function, columns)

    def observed(self, frame: DataFrame, counts: Mapping[str, str]) -> tuple[DataFrame, Callable[[], dict[str, int]]]:
        if not counts:
            return frame, dict
        observation = Observation()
        with _our_errors():
            columns = [expr(f"count_if({condition})").alias(f"n{at}") for at, condition in enumerate(counts.values())]
            observed = frame.observe(observation, *columns)

        def counted() -> dict[str, int]:
            with _our_errors():
                found = observation.get
            return {label: int(found[f"n{at}"]) for at, label in enumerate(counts)}

        return observed, counted

    def to_arrow(self, frame: DataFrame) -> pa.Table:
        with _our_errors():
            return frame.toArrow()

    def from_arrow(self, table: pa.Table) -> DataFrame:
        with _our_errors():
            return self.session.createDataFrame(table)

    def held(self, frame: DataFrame) -> tuple[DataFrame, int]:
        with _our_errors():
            # Not persist: this is let go of by itself when nobody has the frame any more.
            held = frame.localCheckpoint(eager=True)
            rows = held.count()
            # Spark takes the rows for as many as those that they were found in, and would rather sort than send them.
            return (held.hint("broadcast") if rows <= _MOST_SENT_ROWS else held), rows

    def write_parquet(self, frame: DataFrame, folder: Path) -> None:
        with _our_errors():
            frame.write.parquet(f"{_LOCAL}{folder.absolute()}")

    def stop(self) -> None:
        """End the session and its JVM's work; frames of this engine are dead afterwards."""
        with _our_errors():
            self.session.stop()

    def _resolved(self, path: str) -> str:
        return path if is_remote(path) else f"{_LOCAL}{local_path(path, self._root).absolute()}"


def start_engine(
    settings: Settings, environ: Mapping[str, str] | None = None, *, app: str = "featurekit"
) -> SparkEngine:
    """Return an engine on the Spark that the settings name: this process's session where there is one, else a new one.

    A local master runs inside this machine's memory, listens on the loopback only, and writes what the JVM has to say
    into `spark.log` under the state folder. Another master is configured by its own deployment.
    """
    _quiet_python_loggers()
    environ = os.environ if environ is None else environ
    _refuse_connect(settings, environ)
    if active := SparkSession.getActiveSession():
        return SparkEngine(active, settings.root)
    local = settings.spark_master.startswith("local")
    builder: Any = SparkSession.builder.appName(app).master(settings.spark_master)
    options = {**(_local_options(settings) if local else {}), **dict(settings.spark_conf)}
    for key, value in options.items():
        builder = builder.config(key, value)
    log = settings.state / "spark.log" if local else None
    said_before = log.stat().st_size if log is not None and log.exists() else 0
    with _our_errors():
        if local:
            os.environ["JAVA_HOME"] = str(java_home(environ, settings.state / "java"))
            os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        try:
            with _output_to(log):
                session = builder.getOrCreate()
        except (PySparkException, Py4JError, RuntimeError, OSError) as error:
            raise BatchEngineError(
                "Spark does not start",
                where=str(log) if log else shown_path(settings.spark_master),
                why=_reason(log, said_before) or str(error),
                try_="check the Spark settings; `featurekit doctor` checks Java and memory",
            ) from error
    return SparkEngine(session, settings.root)


def _refuse_connect(settings: Settings, environ: Mapping[str, str]) -> None:
    asked = {
        "spark.master": settings.spark_master if settings.spark_master.startswith("sc://") else None,
        "spark.remote": dict(settings.spark_conf).get("spark.remote"),
        "SPARK_REMOTE": environ.get("SPARK_REMOTE"),  # Spark itself prefers it to any master
    }
    for where, url in asked.items():
        if url:
            raise SettingsError(
                f"{where} names a Spark Connect server, {shown_path(url.partition(';')[0])}",
                why="a Connect client is not shown a query's plan, in which featurekit looks for rand() and its like",
                try_="a classic master: local[*], yarn, k8s://… or spark://…, or spark-submit of jobs/*",
            )


def _local_options(settings: Settings) -> dict[str, str]:
    cores = os.cpu_count() or 1
    threads = re.fullmatch(r"local\[(\d+)\]", settings.spark_master)
    partitions = int(threads[1]) if threads else cores
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{_driver_memory_mb(settings.spark_driver_memory)}m",
        "spark.driver.maxResultSize": "0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(max(partitions, 2)),
        "spark.sql.warehouse.dir": str(settings.state / "spark-warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        # Python workers are children of the JVM: they find this very featurekit, installed or not.
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        # Sessions here are short: the second compiler costs a third of all CPU time before it pays.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC",
    }


def _driver_memory_mb(text: str) -> int:
    """Return the heap in MiB: what is asked for, but at most 60 % of the machine's memory, and what Spark needs."""
    match = re.fullmatch(r"(\d+)([mgMG])", text.strip())
    if match is None:
        raise SettingsError(f"spark.driver_memory {text!r} is not a size", try_="whole numbers of m or g, such as 4g")
    asked = int(match[1]) * (1024 if match[2] in "gG" else 1)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1024 * 1024)
    return max(512, min(asked, machine * 6 // 10))


def _local_name(path: Path) -> str:
    return f"{_LOCAL}{path.absolute()}"


def _local_file(path: Path) -> str:
    """Return a file's own name and no pattern, whatever letters are in it."""
    # Not by Spark's switch for it, __globPaths__: of n files whose names look like patterns it reads each n times.
    return _LOCAL + re.sub(r"[\[\]{}*?\\]", r"\\\g<0>", str(path.absolute()))


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise as_our_error(error) from error


@contextmanager
def _output_to(log: Path | None) -> Iterator[None]:
    """Have a JVM that is started in here write all its output into a file, for as long as it lives.

    Its own words on a failed start go to stdout, where a command's JSON is.
    """
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    mode = "ab" if log.exists() and log.stat().st_size < _LARGEST_LOG else "wb"
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    with log.open(mode) as file:
        for stream in kept:
            _flush()
            os.dup2(file.fileno(), stream)
    try:
        yield
    finally:
        _flush()
        for stream, original in kept.items():
            os.dup2(original, stream)
            os.close(original)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _reason(log: Path | None, start: int) -> str | None:
    """Return what the JVM said last since the log had a size, rather a line about an error than another."""
    if log is None or not log.exists():
        return None
    text = log.read_bytes()[start:].decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    blamed = [at for at, line in enumerate(lines) if "rror" in line or "xception" in line]
    # A JVM that does not start says that there is an error, and on the next line which.
    return " ".join(lines[blamed[0] : blamed[0] + 2]) if blamed else (lines[-1] if lines else None)


def _quiet_python_loggers() -> None:
    # PySpark logs each failed query as a page of JSON, next to the exception that says the same.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True
