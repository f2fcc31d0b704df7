"""The served side: what the lookup client answers, and what each row that it reads says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from featurekit.clock import Instant
from featurekit.consistency.cells import Answers, Cells
from featurekit.consistency.diagnosis.causes import RowState, StoredRow
from featurekit.consistency.entity_keys import sdk_value
from featurekit.errors import CodecError, ForeignRowError
from featurekit.online.client import FeatureClient
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace
from featurekit.online.layout import HEADER
from featurekit.online.store import ReadableStore
from featurekit.plan import PlanView
from featurekit.types import Field

_READ_STEP: Final = 1000
_TIMEOUT_MS: Final = 60_000  # a whole sample in one lookup, and nobody waits for it who serves
_FINGERPRINT: Final = 2  # where it stands in a row's header


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the client answered for some entities, and the refresh it took it from; None where it has none."""

    as_of: Instant | None
    answers: Answers


def look_up(client: FeatureClient, plan: PlanView, entities: Sequence[tuple[Any, ...]], at: Instant) -> Served:
    """Return what a request at an instant is answered for the entities, by the service that is the view alone."""
    columns = {
        key.request: [sdk_value(entity[position], key.type) for entity in entities]
        for position, key in enumerate(plan.keys)
    }
    features = client.lookup(plan.view, columns, at=at, timeout_ms=_TIMEOUT_MS)
    table, statuses = features.to_arrow(), features.statuses
    names = {output: position for position, output in enumerate(features.names)}
    fields = {}
    for field in plan.fields:
        output = f"{plan.alias}.{field.name}"
        codes = np.ascontiguousarray(statuses[:, names[output]])
        fields[field.name] = Cells(values=table.column(output).combine_chunks(), statuses=codes)
    answers = Answers(found=np.asarray(features.found[plan.alias], np.bool_), fields=fields)
    return Served(as_of=features.as_of[plan.alias], answers=answers)


def read_stored_rows(
    store: ReadableStore, space: KeySpace, plan: PlanView, keys: Sequence[bytes]
) -> tuple[StoredRow, ...]:
    """Return what lies under the keys that lookups of these entities read in the key space."""
    codec = RowCodec([Field(field.name, field.type) for field in plan.fields], plan.fingerprint)
    rows: list[StoredRow] = []
    for start in range(0, len(keys), _READ_STEP):
        content = store.read([space.row(key) for key in keys[start : start + _READ_STEP]])
        rows += [_stored_row(codec, row, space) for row in content]
    return tuple(rows)


def _stored_row(codec: RowCodec, content: bytes | None, space: KeySpace) -> StoredRow:
    if content is None:
        return StoredRow(state=RowState.ABSENT)
    try:
        row = codec.decode_row(content)
    except ForeignRowError:
        return StoredRow(state=RowState.OTHER_VERSION, fingerprint=HEADER.unpack_from(content)[_FINGERPRINT].hex())
    except CodecError as error:
        return StoredRow(state=RowState.BROKEN, problem=error.what)
    state = RowState.OWN if row.as_of == space.as_of else RowState.STALE
    return StoredRow(
        state=state, as_of=row.as_of, fingerprint=codec.fingerprint, values=row.values, statuses=row.statuses
    )
