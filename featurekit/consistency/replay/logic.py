"""The second question of a replay: are a view's values those of the as-of that was served? One sweep for each view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import to_arrow
from featurekit.clock import Instant
from featurekit.compiled import CompiledView
from featurekit.consistency.cells import Answers, Cells, FieldSpec, Flags, same_values
from featurekit.consistency.compare import FieldComparison, Verdict, compare_fields
from featurekit.consistency.population import view_keys
from featurekit.consistency.recompute import cells_of, recompute_requests
from featurekit.consistency.replay.logged import Ints, LoggedRows, distinct
from featurekit.offline.as_of import FOUND
from featurekit.offline.engine import BatchEngine
from featurekit.online.arrow_keys import encode_key_columns
from featurekit.online.reason import is_degraded
from featurekit.plan import PlanView
from featurekit.rows import STATUS_PREFIX
from featurekit.served_columns import input_column
from featurekit.status import Status
from featurekit.types import INTEGER_BITS, DataType, Timestamp

_AS_OF: Final = "as_of"
_MOSTLY: Final = 0.5
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a log's rows ask of one view under one alias: those `rows` that it answered, by entity and as-of.

    `requests` has the view's join keys and `as_of`, NULL where a key is no value of its type: there is no such entity.
    """

    logged: LoggedRows
    part: PlanView
    view: CompiledView
    rows: Rows
    requests: pa.Table

    @property
    def as_ofs(self) -> Ints:
        return np.asarray(self.requests.column(_AS_OF).cast(pa.int64()).to_numpy(), np.int64)

    def output(self, field: str) -> str:
        return f"{self.part.alias}.{field}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The asked rows with both sides; everything is in their order.

    `recomputed` has all fields of the view, `comparisons` those that were logged. `open` says by field which cells say
    nothing of the view: the store had no answer, or another one stood in for it. `unproven` rows come of a source that
    is another one by now, which `source_change` says.
    """

    asked: Asked
    fields: tuple[FieldSpec, ...]
    served: Answers
    recomputed: Answers
    comparisons: dict[str, FieldComparison]
    open: dict[str, Flags]
    unproven: Flags
    source_change: str | None = None

    def differs(self, field: str) -> Flags:
        """Return which cells of a field are known not to be those of their as-of."""
        return self.comparisons[field].differs & ~self.open[field]


def ask(logged: LoggedRows, part: PlanView, view: CompiledView) -> Asked:
    """Return what the rows ask of a view."""
    as_ofs = logged.as_ofs(part.alias)
    rows = np.flatnonzero(as_ofs.is_valid().to_numpy(zero_copy_only=False))
    taken = pa.array(rows)
    columns = {
        key.name: narrowed(logged.table.column(input_column(asked.request)).combine_chunks().take(taken), key.type)
        for key, asked in zip(view_keys(view), part.keys, strict=True)
    }
    columns[_AS_OF] = as_ofs.take(taken).cast(to_arrow(Timestamp()))
    return Asked(logged=logged, part=part, view=view, rows=rows, requests=pa.table(columns))


def recompute(engine: BatchEngine, asked: Sequence[Asked], specs: tuple[FieldSpec, ...]) -> list[Answers]:
    """Return for each what training says of its rows, all fields; `asked` are of one view, which is swept once."""
    view = asked[0].view
    requests = pa.concat_tables([each.requests for each in asked]).combine_chunks()
    texts = [text for batch in requests.to_batches() for text in encode_key_columns(batch, view_keys(view))]
    firsts, places = distinct(texts, requests.column(_AS_OF).cast(pa.int64()).to_pylist())
    rows = recompute_requests(engine, view, requests.take(pa.array(firsts)))
    found = np.asarray(rows.column(FOUND).combine_chunks().to_numpy(zero_copy_only=False)).astype(np.bool_)
    answers = Answers(found=found, fields={spec.name: cells_of(rows, spec, found) for spec in specs})
    ends = np.cumsum([each.requests.num_rows for each in asked])
    return [answers.take(part) for part in np.split(places, ends[:-1])]


def replay(asked: Asked, specs: tuple[FieldSpec, ...], recomputed: Answers) -> Replayed:
    """Return the two sides of the asked rows compared."""
    logged = asked.logged.take(asked.rows)
    fields = tuple(spec for spec in specs if logged.has(asked.output(spec.name)))
    cells = {spec.name: logged.cells(asked.output(spec.name)) for spec in fields}
    open_ = {spec.name: _is_open(logged, asked.output(spec.name), cells[spec.name]) for spec in fields}
    served = Answers(found=served_found(fields, cells, recomputed), fields=cells)
    comparisons = dict(compare_fields(fields, served, recomputed))
    return Replayed(
        asked=asked,
        fields=fields,
        served=served,
        recomputed=recomputed,
        comparisons=comparisons,
        open=open_,
        unproven=np.zeros(len(asked.rows), np.bool_),
    )


def as_ofs_that_differ(replayed: Iterable[Replayed]) -> list[Instant]:
    """Return the as-ofs of which a cell differs, sorted."""
    found: set[Instant] = set()
    for each in replayed:
        differs = np.zeros(len(each.asked.rows), np.bool_)
        for spec in each.fields:
            differs |= each.differs(spec.name)
        found.update(each.asked.as_ofs[differs].tolist())
    return sorted(found)


def without_proof(replayed: Replayed, unproven: Flags, why: str) -> Replayed:
    """Return it with what differs in some rows INDETERMINATE: their source is not what the refresh read."""

    def verdicts(name: str, found: FieldComparison) -> FieldComparison:
        is_open = unproven & replayed.differs(name)
        return replace(found, verdicts=np.where(is_open, np.uint8(Verdict.INDETERMINATE), found.verdicts))

    comparisons = {name: verdicts(name, found) for name, found in replayed.comparisons.items()}
    return replace(replayed, comparisons=comparisons, unproven=unproven, source_change=why)


def _is_open(logged: LoggedRows, output: str, cells: Cells) -> Flags:
    unavailable: Flags = cells.statuses == Status.UNAVAILABLE
    return unavailable | is_degraded(cells.statuses, logged.reasons(output))


def served_found(fields: Sequence[FieldSpec], served: Mapping[str, Cells], recomputed: Answers) -> Flags:
    """Return which entities had a row: the log does not say so, so it is told only where the cells leave no doubt.

    There was none where every cell is what an entity without rows is answered, a latest value among them, and the other
    side says otherwise. There was one that should not be where most cells are not, and none of the latest values is:
    one cell alone is more likely wrong itself. Elsewhere it is as it should be.
    """
    if not fields:
        return recomputed.found
    blank = {spec.name: _is_blank(spec, served[spec.name]) for spec in fields}
    should_be = np.logical_and.reduce([_is_blank(spec, recomputed.fields[spec.name]) for spec in fields])
    latest = [blank[spec.name] for spec in fields if spec.is_latest]
    is_blank = np.logical_and.reduce(list(blank.values()))
    is_missing = is_blank & ~should_be & bool(latest)
    mostly_held = np.mean(list(blank.values()), axis=0) < _MOSTLY
    is_extra = mostly_held & ~np.logical_or.reduce([np.zeros(len(is_blank), np.bool_), *latest]) & (len(fields) > 1)
    found: Flags = np.where(recomputed.found, ~is_missing, is_extra)
    return found


def _is_blank(spec: FieldSpec, cells: Cells) -> Flags:
    """Return which cells are what an entity without rows is answered."""
    row = pa.table({spec.name: pa.nulls(1, to_arrow(spec.type)), STATUS_PREFIX + spec.name: pa.nulls(1, pa.int8())})
    blank = cells_of(row, spec, np.zeros(1, np.bool_))
    values = blank.values.take(pa.array(np.zeros(len(cells.values), np.int64)))
    same_status: Flags = cells.statuses == blank.statuses[0]
    if not blank.values[0].is_valid:
        return same_status
    return same_status & same_values(cells.values, values, spec.type)


def narrowed(values: pa.Array, kind: DataType) -> pa.Array:
    """Return keys in the view's type; one beyond it is NULL: the view has no row of such an entity."""
    wanted = to_arrow(kind)
    if values.type == wanted or kind not in INTEGER_BITS:
        return values.cast(wanted)
    most = 1 << (INTEGER_BITS[kind] - 1)
    fits = pc.and_(pc.greater_equal(values, -most), pc.less(values, most))
    return pc.if_else(fits, values, pa.scalar(None, values.type)).cast(wanted)
