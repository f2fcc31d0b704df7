"""`trace`: one value followed from its source rows to what is served, through the real code and never a copy of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import held_values, to_arrow
from featurekit.clock import Instant, format_duration, format_instant
from featurekit.compiled import CompiledFeature, CompiledView
from featurekit.consistency.cells import Answers, FieldSpec, same_values
from featurekit.consistency.recompute import field_specs, recompute_answers
from featurekit.consistency.served import look_up
from featurekit.consistency.show import show_cell, show_status
from featurekit.definitions.source import SourceKind
from featurekit.errors import CodecError, InputError
from featurekit.expr.nodes import Literal
from featurekit.offline.engine import BatchEngine
from featurekit.offline.materialize import materialized_frame
from featurekit.offline.row_reasons import count_rows, show_reason
from featurekit.offline.sql import Sql
from featurekit.online.client import FeatureClient
from featurekit.online.codec import Row, RowCodec
from featurekit.online.keys import KeySpace, Namespace, entity_key_encoder
from featurekit.online.layout import WIRE_VERSION
from featurekit.online.refresh import read_head
from featurekit.online.store import HeadEntry, OnlineStore
from featurekit.online.values import acceptor
from featurekit.rows import STATUS_PREFIX
from featurekit.status import Status
from featurekit.targets.spark import quote_identifier, render_literal
from featurekit.types import Field
from featurekit.windows import Elapsed, show_window


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One station of the value: what it is there, and what else there is to say."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`matches` says whether the served value is the recomputed one; None where nothing is served to compare."""

    feature: str
    entity: str
    at: Instant
    steps: tuple[Step, ...]
    matches: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """Whose value is followed: join-key values as `types` holds them, and the as-of that answers."""

    view: CompiledView
    feature: CompiledFeature
    keys: tuple[Any, ...]
    as_of: Instant

    @property
    def spec(self) -> FieldSpec:
        return next(spec for spec in field_specs(self.view, {}) if spec.name == self.feature.name)


def trace_feature(
    view: CompiledView,
    feature: str,
    entity: Mapping[str, Any],
    *,
    engine: BatchEngine,
    client: FeatureClient,
    store: OnlineStore,
    namespace: Namespace,
    at: Instant,
) -> Trace:
    """Return the stations of one feature's value for one entity, as a request at `at` sees it.

    `entity` has the view's join keys. InputError for an unknown feature or key, KeyTypeError for a wrong value.
    """
    keys = _keys(view, entity)
    entry, space = _place(view, store, namespace, at)
    subject = _Subject(view=view, feature=_feature(view, feature), keys=keys, as_of=space.as_of)
    served = look_up(client, client.plan(view.name).views[0], [keys], at).answers
    recomputed = recompute_answers(engine, view, (subject.spec,), [keys], space.as_of)
    matches = _matches(subject.spec, served, recomputed)
    verdict = {True: "match", False: "MISMATCH", None: ""}[matches]
    return Trace(
        feature=f"{view.name}.{feature}",
        entity=", ".join(f"{key.name}={value}" for key, value in zip(view.keys, keys, strict=True)),
        at=at,
        steps=(
            _source_step(engine, subject),
            _spark_step(engine, subject),
            _refresh_step(view, entry, space.as_of, at),
            *_row_steps(store, space, subject),
            Step(
                name="served", value=show_cell(subject.spec, served.fields[feature], 0), detail=_status(served, feature)
            ),
            Step(name="recomputed", value=show_cell(subject.spec, recomputed.fields[feature], 0), detail=verdict),
        ),
        matches=matches,
    )


def _feature(view: CompiledView, name_: str) -> CompiledFeature:
    found = view.feature(name_)
    if found is None:
        names = ", ".join(other.name for other in view.features)
        raise InputError(f"view {view.name!r} has no feature {name_!r}", try_=f"one of {names}")
    return found


def _keys(view: CompiledView, entity: Mapping[str, Any]) -> tuple[Any, ...]:
    names = [key.name for key in view.keys]
    if set(entity) != set(names):
        raise InputError(
            f"an entity of {view.name!r} is named by {', '.join(names)}, not by {', '.join(entity) or 'nothing'}",
            try_=" ".join(f"{name_}=…" for name_ in names),
        )
    return tuple(acceptor(key.name, key.type)([entity[key.name]])[0] for key in view.keys)


def _place(
    view: CompiledView, store: OnlineStore, namespace: Namespace, at: Instant
) -> tuple[HeadEntry | None, KeySpace]:
    """Return the refresh that answers at `at` (None: nothing is served) and its key space."""
    promised = KeySpace(
        namespace=namespace,
        view=view.name,
        fingerprint=view.fingerprint.data,
        as_of=view.view.grid.served_at(at),
    )
    entry = read_head(store, promised).at(at)
    if entry is None:
        return None, promised
    return entry, promised.at(entry.as_of, entry.restatement, entry.live)


def _source_step(engine: BatchEngine, subject: _Subject) -> Step:
    view, as_of = subject.view, subject.as_of
    rows = count_rows(engine, view, subject.keys, as_of)
    excluded = [f"{count} {show_reason(view, reason, as_of)}" for reason, count in rows.excluded.items()]
    start = view.since(as_of)
    reach = "before" if start is None else f"in the {format_duration(as_of - start)} before"
    if view.source.is_state:
        reach = f"visible {reach}" if view.source.kind is SourceKind.CHANGES else f"of the newest snapshot {reach}"
    return Step(
        name="source",
        value=f"{rows.counted} rows {reach} {format_instant(as_of)}",
        detail="excluded: " + ", ".join(excluded) if excluded else "",
    )


def _literal(kind: Any, value: Any) -> Sql:
    return render_literal(Literal(type=kind, nullable=False, value=value))


def _spark_step(engine: BatchEngine, subject: _Subject) -> Step:
    view, feature = subject.view, subject.feature
    conditions = " AND ".join(
        f"{quote_identifier(key.name)} = {_literal(key.type, value)}"
        for key, value in zip(view.keys, subject.keys, strict=True)
    )
    table = engine.to_arrow(materialized_frame(engine, view, subject.as_of).where(conditions))
    if not table.num_rows:
        return Step(name="spark", value="no row", detail="no event in the view's reach")
    (value,) = held_values(table.column(feature.name).take(pa.array([0])).combine_chunks().cast(to_arrow(feature.type)))
    status = Status.NULL if value is None else Status.PRESENT
    if feature.is_latest:
        status = max(status, Status(table.column(STATUS_PREFIX + feature.name)[0].as_py()))
    # How far back elapsed time goes is in the step before, or is told by the name of the feature.
    chosen = [show_window(window) for window in view.windows_of(feature) if not isinstance(window, Elapsed)]
    over = f", over {' and '.join(chosen)}" if chosen else ""
    return Step(name="spark", value=show_status(value, status, feature.type), detail=feature.type.name + over)


def _refresh_step(view: CompiledView, entry: HeadEntry | None, as_of: Instant, at: Instant) -> Step:
    if entry is None:
        return Step(
            name="refresh",
            value=f"none served at {format_instant(at)}",
            detail=f"featurekit materialize {view.name} --as-of {format_instant(as_of)}",
        )
    promised = view.view.grid.served_at(at)
    late = "" if promised == as_of else f", late: {format_instant(promised)} was promised"
    return Step(
        name="refresh",
        value=f"as of {format_instant(as_of)}, visible from {format_instant(entry.visible_from)}",
        detail=f"{entry.rows:,} rows, age {format_duration((at - as_of) // 1_000_000 * 1_000_000)}{late}",
    )


def _row_steps(store: OnlineStore, space: KeySpace, subject: _Subject) -> tuple[Step, ...]:
    view = subject.view
    encode = entity_key_encoder([key.type for key in view.keys])
    (key,) = encode([[value] for value in subject.keys])
    if key is None:
        return (Step(name="online key", value="none", detail="a key is NULL: such an entity has no row anywhere"),)
    row_key = space.row(key)
    (content,) = store.read([row_key])
    if content is None:
        return (Step(name="online key", value=row_key.decode(), detail="nothing there"),)
    found = Step(
        name="online key",
        value=row_key.decode(),
        detail=f"{len(content)} bytes, wire version {content[0] if content else WIRE_VERSION}",
    )
    codec = RowCodec([Field(each.name, each.type) for each in view.features], view.fingerprint.data)
    try:
        row = codec.decode_row(content)
    except CodecError as error:
        return (found, Step(name="decoded", value="no row of this view", detail=error.what))
    return (found, _decoded_step(row, subject))


def _decoded_step(row: Row, subject: _Subject) -> Step:
    at = [feature.name for feature in subject.view.features].index(subject.feature.name)
    stale = "" if row.as_of == subject.as_of else f"STALE: the row is as of {format_instant(row.as_of)}; "
    return Step(
        name="decoded",
        value=show_status(row.values[at], row.statuses[at], subject.feature.type),
        detail=f"{stale}newest event {format_instant(row.last_event)}",
    )


def _status(served: Answers, feature: str) -> str:
    return Status(int(served.fields[feature].statuses[0])).name


def _matches(spec: FieldSpec, served: Answers, recomputed: Answers) -> bool | None:
    one, other = served.fields[spec.name], recomputed.fields[spec.name]
    if one.statuses[0] == Status.UNAVAILABLE:
        return None
    same = bool(same_values(one.values, other.values, spec.type)[0]) or not (
        pc.is_valid(one.values)[0].as_py() or pc.is_valid(other.values)[0].as_py()
    )
    return same and bool(one.statuses[0] == other.statuses[0])
