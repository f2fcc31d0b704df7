"""Training from the log: what was really served, joined to labels by request id; beside it what training would compute.

No Spark takes part unless the served values are to be recomputed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from featurekit.arrow_types import to_arrow
from featurekit.clock import Instant, format_instant
from featurekit.compiled import CompiledService
from featurekit.consistency.cells import same_values
from featurekit.errors import InputError
from featurekit.from_log_files import (
    files_of,
    fits,
    label_instants,
    matching_rows,
    read_label_table,
    rows_by_place,
)
from featurekit.from_log_values import FromLogResult, FromLogSpec, LogCount
from featurekit.offline.engine import BatchEngine
from featurekit.offline.labels import LabelSpec
from featurekit.offline.point_in_time import point_in_time
from featurekit.offline.training import check_out
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.reason import is_degraded
from featurekit.online.served_log_reading import LogFile, log_files
from featurekit.served_columns import REASON, REQUEST_ID, STATUS, TIMESTAMP, input_column
from featurekit.status import Status

MANIFEST: Final = "_from_log.json"  # begins with _ : whatever reads the folder as Parquet passes it over
AT: Final = "event_timestamp"
RECOMPUTED: Final = "__recomputed"
STATUS_OF: Final = "__status"
_FORMAT: Final = 1
_ROW: Final = "__row"
_KeyTexts: TypeAlias = tuple[bytes | None, ...]


def build_from_log(
    service: CompiledService,
    spec: FromLogSpec,
    out: Path,
    *,
    now: Instant,
    engine: Callable[[], BatchEngine] | None = None,
) -> FromLogResult:
    """Write the labels with what their requests were served into the folder `out`, which must not exist yet.

    With an engine the values are recomputed too, as training declares them, into columns of their own. The folder
    appears whole or not at all. InputError where the log, the labels or their join can't be meant.
    """
    check_out(out)
    if spec.label_time is not None and spec.mature_after is None:
        raise InputError("a label's time alone says not when it is mature", try_="--mature-after 7d, or --label-known")
    labels = read_label_table(spec.labels, service)
    all_files = log_files(spec.log, service.name)
    files = files_of(all_files, spec.environments, str(spec.log))
    others = sum(file.rows for file in all_files) - sum(file.rows for file in files)
    joined, count = _joined(service, spec, files, labels, now)
    count = replace(count, other_environments=others)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        unfinished.mkdir()
        differing = None
        if engine is not None:
            joined, differing = _recomputed(engine(), service, joined, unfinished / "labels.parquet", now)
        pq.write_table(joined, unfinished / "part-00000.parquet", compression="zstd")
        result = FromLogResult(
            path=out,
            id=_id(service, joined),
            service=service.name,
            environments=rows_by_place(files),
            count=count,
            differing=differing,
        )
        (unfinished / MANIFEST).write_text(_manifest(result, service, spec, now), encoding="utf-8")
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return result


def _joined(
    service: CompiledService, spec: FromLogSpec, files: list[LogFile], labels: pa.Table, now: Instant
) -> tuple[pa.Table, LogCount]:
    usable = [file for file in files if fits(file, service)]
    if not usable:
        raise InputError(
            f"no file of the log has the outputs of {service.name} as they are defined now",
            where=str(spec.log),
            why="another version of the service was served",
            try_="build the training set with the definitions that were served",
        )
    served, other = _served_rows(service, usable, labels.column(REQUEST_ID).combine_chunks())
    keys = [key.name for key in service.keys.fields if key.name in labels.column_names]
    by_key = len(keys) == len(service.keys.fields)
    places, rows_labelled, repeated_rows = _places(service, spec, labels, served, by_key=by_key)
    is_joined = places >= 0
    asked = labels.filter(pa.array(is_joined))
    found = served.take(pa.array(places[is_joined]))
    mature = _mature(spec, asked, found, now)
    statuses, reasons = _codes(found, STATUS, service), _codes(found, REASON, service)
    away = (statuses == Status.UNAVAILABLE).any(axis=0)
    degraded = is_degraded(statuses, reasons).any(axis=0)
    kept = mature & ~away & ~degraded
    other_version = other[places[is_joined]] & kept
    if spec.strict and other_version.any():
        raise InputError(
            f"{int(other_version.sum()):,} of {int(kept.sum()):,} rows are of another version of {service.name}",
            where=str(spec.log),
            why="its features may mean something else, and --strict was given",
            try_="without --strict they are kept and counted",
        )
    table = _columns(service, spec, asked.filter(pa.array(kept)), found.filter(pa.array(kept)))
    logged = sum(file.rows for file in files)
    other_outputs = logged - sum(file.rows for file in usable)
    texts = list(zip(*(labels.column(name).to_pylist() for name in (REQUEST_ID, *keys)), strict=True))
    count = LogCount(
        labels=labels.num_rows,
        logged=logged,
        rows=table.num_rows,
        labels_without_request=int((~is_joined).sum()),
        repeated_labels=len(texts) - len(set(map(repr, texts))),
        rows_without_label=logged - other_outputs - rows_labelled - repeated_rows,
        repeated_rows=repeated_rows,
        immature=int((~mature).sum()),
        unavailable=int((mature & away).sum()),
        degraded=int((mature & ~away & degraded).sum()),
        other_version=int(other_version.sum()),
        other_outputs=other_outputs,
        other_environments=0,
    )
    if not table.num_rows:
        raise InputError(
            "no label could be joined to what was served",
            where=str(spec.labels),
            why=", ".join(f"{name.replace('_', ' ')}: {number:,}" for name, number in asdict(count).items() if number),
            try_="see that both have the same request ids, and that the labels are mature",
        )
    return table, count


def _codes(served: pa.Table, column: str, service: CompiledService) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """Return the statuses or reasons of the rows, outputs × rows."""
    codes = np.zeros((len(service.outputs), served.num_rows), np.int8)
    for row, output in zip(codes, service.outputs, strict=True):
        row[:] = served.column(column).combine_chunks().field(output.name).to_numpy()
    return codes


def _served_rows(
    service: CompiledService, files: list[LogFile], ids: pa.Array
) -> tuple[pa.Table, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return the log's rows of some requests, and which of them another version of the service answered."""
    inputs = [*service.keys.names, *service.request.names]
    outputs = [output.name for output in service.outputs]
    columns = [REQUEST_ID, TIMESTAMP, *map(input_column, inputs), *outputs]
    kinds = {input_column(field.name): field.type for field in (*service.keys.fields, *service.request.fields)}
    parts, other = [], []
    for file, rows in matching_rows(files, ids, [*columns, STATUS, REASON]):
        if missing := [name for name in columns if name not in rows.column_names]:
            raise InputError(f"the log has no column {missing[0]}", where=str(file.path))
        typed = [
            rows.column(name).cast(to_arrow(kinds[name])) if name in kinds else rows.column(name) for name in columns
        ]
        codes = [_struct(rows, column, outputs) for column in (STATUS, REASON)]
        parts.append(pa.table([*typed, *codes], names=[*columns, STATUS, REASON]))
        other += [file.fingerprint != service.fingerprint.data] * rows.num_rows
    found = pa.concat_tables(parts) if parts else pa.table({REQUEST_ID: pa.array([], pa.string())})
    return found.combine_chunks(), np.array(other, np.bool_)


def _struct(rows: pa.Table, column: str, outputs: list[str]) -> pa.StructArray:
    """Return the outputs' statuses or reasons; zeros where the file's format has none."""
    if column not in rows.column_names or not rows.num_rows:  # of no rows there is no chunk to combine
        return pa.StructArray.from_arrays([pa.array(np.zeros(rows.num_rows, np.int8)) for _ in outputs], outputs)
    found = rows.column(column).combine_chunks()
    return pa.StructArray.from_arrays([found.field(name) for name in outputs], outputs)


def _places(
    service: CompiledService, spec: FromLogSpec, labels: pa.Table, served: pa.Table, *, by_key: bool
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int, int]:
    """Return for each label the log's row that it is of, or -1; how many rows have a label; how many came again."""
    if not served.num_rows:
        return np.full(labels.num_rows, -1, np.int64), 0, 0
    names = {input_column(key.name): key.name for key in service.keys.fields}
    renamed = served.select(list(names)).rename_columns(list(names.values()))
    logged = list(zip(served.column(REQUEST_ID).to_pylist(), _key_texts(service, renamed), strict=True))
    times = served.column(TIMESTAMP).cast(pa.int64()).to_pylist()
    values = [served.column(input_column(name)).to_pylist() for name in service.request.names]
    last: dict[tuple[str, _KeyTexts], int] = {}
    several_answers: set[tuple[str, _KeyTexts]] = set()
    for place, row in enumerate(logged):
        # A request that came again was answered again; what it went on with is the last answer.
        before = last.get(row)
        if before is None or times[before] < times[place]:
            last[row] = place
            several_answers.discard(row)
        elif times[before] == times[place]:
            last[row] = place
            if any(repr(column[before]) != repr(column[place]) for column in values):
                several_answers.add(row)
    asked: list[str | None] = labels.column(REQUEST_ID).to_pylist()
    texts = _key_texts(service, labels) if by_key else None
    if clash := _labelled(several_answers, asked, texts):
        raise InputError(
            f"request {clash} asked for one entity with several request values at once",
            where=str(spec.log),
            why=f"its label does not say for which {', '.join(service.request.names)} it is",
            try_="give each question a request id of its own, or leave these labels out",
        )
    if texts is not None:
        places = [-1 if one is None else last.get((one, text), -1) for one, text in zip(asked, texts, strict=True)]
        labelled = set(places) - {-1}
        return np.array(places, np.int64), len(labelled), len(logged) - len(last)
    by_id: dict[str, list[int]] = {}
    for (request, _), place in last.items():
        by_id.setdefault(request, []).append(place)
    if several := next((one for one in asked if one is not None and len(by_id.get(one, ())) > 1), None):
        raise InputError(
            f"request {several} was answered for {len(by_id[several])} entities, and its label does not say for which",
            where=str(spec.labels),
            why=f"the labels have not all of {', '.join(service.keys.names)}",
            try_="write the entity keys beside the request id",
        )
    places = [-1 if one is None else by_id.get(one, [-1])[0] for one in asked]
    return np.array(places, np.int64), len(set(places) - {-1}), len(logged) - len(last)


def _labelled(rows: set[tuple[str, _KeyTexts]], asked: list[str | None], texts: list[_KeyTexts] | None) -> str | None:
    """Return the request of a label that is of one of these rows; None where no label is."""
    if texts is None:
        requests = {request for request, _ in rows}
        return next((one for one in asked if one in requests), None)
    return next((one for one, text in zip(asked, texts, strict=True) if one is not None and (one, text) in rows), None)


def _key_texts(service: CompiledService, table: pa.Table) -> list[_KeyTexts]:
    """Return the text of each key of each row: of several keys one may be NULL, and the others still name the row."""
    texts: list[_KeyTexts] = []
    for batch in table.combine_chunks().to_batches():
        texts += zip(*(encode_key_columns(batch, [key]) for key in service.keys.fields), strict=True)
    return texts


def _mature(
    spec: FromLogSpec, labels: pa.Table, served: pa.Table, now: Instant
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    if spec.label_known is not None:
        known = label_instants(labels, spec.label_known, str(spec.labels))
        after = 0
    elif spec.mature_after is not None:
        after = spec.mature_after
        known = (
            served.column(TIMESTAMP).combine_chunks()
            if spec.label_time is None
            else label_instants(labels, spec.label_time, str(spec.labels))
        )
    else:
        return np.ones(labels.num_rows, np.bool_)
    # A label without a time is not known to be mature.
    is_mature = pc.fill_null(pc.less_equal(known.cast(pa.int64()), now - after), False)
    return np.asarray(is_mature.to_numpy(zero_copy_only=False), np.bool_)


def _columns(service: CompiledService, spec: FromLogSpec, labels: pa.Table, served: pa.Table) -> pa.Table:
    """Return the label's own columns, then the request's time, keys and values, then the outputs."""
    named = [(name, labels.column(name)) for name in labels.column_names]
    inputs = (*service.keys.names, *service.request.names)
    keys = [name for name in service.keys.names if name in labels.column_names]
    added = [(AT, served.column(TIMESTAMP))]
    added += [(name, served.column(input_column(name))) for name in inputs if name not in keys]
    added += [(output.name, served.column(output.name)) for output in service.outputs]
    if spec.statuses:
        codes = served.column(STATUS).combine_chunks()
        added += [(f"{output.name}{STATUS_OF}", codes.field(output.name)) for output in service.outputs]
    mine = {name.lower() for name, _ in added}
    if clash := next((name for name in labels.column_names if name.lower() in mine), None):
        raise InputError(
            f"the labels have a column {clash}, which the training set gives a meaning of its own",
            where=str(spec.labels),
            why="it would have two columns of that name, and the log's is what was served",
            try_="rename it in the labels",
        )
    return pa.table([column for _, column in (*named, *added)], names=[name for name, _ in (*named, *added)])


def _recomputed(
    engine: BatchEngine, service: CompiledService, joined: pa.Table, path: Path, now: Instant
) -> tuple[pa.Table, dict[str, int]]:
    """Return the table with what training computes for its rows beside what was served, and how much differs."""
    inputs = joined.select([*service.keys.names, AT, *service.request.names])
    pq.write_table(inputs.append_column(_ROW, pa.array(np.arange(joined.num_rows))), path)
    labels = LabelSpec(path=str(path.absolute()), timestamp=AT)
    found = engine.to_arrow(point_in_time(engine, service, labels, now=now)).sort_by(_ROW)
    path.unlink()
    differing = {}
    for output in service.outputs:
        values = found.column(output.name).combine_chunks().cast(to_arrow(output.type))
        served = joined.column(output.name).combine_chunks()
        neither = pc.and_(values.is_null(), served.is_null()).to_numpy(zero_copy_only=False)
        differing[output.name] = int((~(same_values(served, values, output.type) | neither)).sum())
        joined = joined.append_column(f"{output.name}{RECOMPUTED}", values)
    return joined, differing


def _id(service: CompiledService, table: pa.Table) -> str:
    digest = hashlib.sha256(service.fingerprint.data.encode())
    with pa.ipc.new_stream(_Hashed(digest), table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return digest.hexdigest()


class _Hashed:
    """A file that keeps nothing of what is written but its hash."""

    closed = False

    def __init__(self, digest: hashlib._Hash) -> None:
        self._digest = digest
        self._size = 0

    def write(self, content: bytes) -> int:
        self._digest.update(content)
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None: ...

    def close(self) -> None: ...


def _manifest(result: FromLogResult, service: CompiledService, spec: FromLogSpec, now: Instant) -> str:
    content = {
        "format": _FORMAT,
        "id": result.id,
        "service": service.name,
        "fingerprints": {
            "service": service.fingerprint.data,
            "views": {part.alias: part.view.fingerprint.data for part in service.views},
        },
        "log": str(spec.log),
        "environments": dict(result.environments),
        "labels": str(spec.labels),
        "label_time": spec.label_time,
        "label_known": spec.label_known,
        "mature_after_us": spec.mature_after,
        "now": format_instant(now),
        **asdict(result.count),
        "differing": result.differing,
    }
    return json.dumps(content, indent=1) + "\n"
