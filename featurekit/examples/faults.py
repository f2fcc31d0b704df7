"""Faults to plant in an online store, so that the check has something to find."""

from __future__ import annotations

from collections.abc import Sequence

from featurekit.clock import format_instant
from featurekit.compiled import CompiledView
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace, entity_key_encoder
from featurekit.online.refresh import read_head
from featurekit.status import Status
from featurekit.types import Field

STALE_VIEW, STALE_ENTITY = "carrier_punctuality", ("UA",)
FILLED_VIEW, FILLED_FEATURE = "plane_facts", "built"


def serve_yesterdays_row(store: FeatureStore) -> str:
    """Put the row of the refresh before under the current key of one carrier; return what was done."""
    view = store.definitions.views[STALE_VIEW]
    today, yesterday = reversed(_served(store, view)[-2:])
    key = _entity_key(view, STALE_ENTITY)
    (row,) = store.online.read([yesterday.row(key)])
    if row is None:
        raise InputError(f"{STALE_VIEW} has no row of {STALE_ENTITY} as of {format_instant(yesterday.as_of)}")
    store.online.write({today.row(key): row})
    return f"under `{today.row(key).decode()}` lies the row as of {format_instant(yesterday.as_of)}"


def fill_null_with_zero(store: FeatureStore) -> str:
    """Write 0 in place of the first NULL of a feature, as a job that fills would; return what was done."""
    view = store.definitions.views[FILLED_VIEW]
    space = _served(store, view)[-1]
    place = [feature.name for feature in view.features].index(FILLED_FEATURE)
    codec = RowCodec([Field(feature.name, feature.type) for feature in view.features], view.fingerprint.data)
    prefix, suffix = space.namespace.row_prefix(), space.row_suffix
    for key in sorted(key for key in store.online.find(prefix) if key.endswith(suffix)):
        (content,) = store.online.read([key])
        if content is None:
            continue
        row = codec.decode_row(content)
        if row.statuses[place] is Status.NULL:
            values, statuses = list(row.values), list(row.statuses)
            values[place], statuses[place] = 0, Status.PRESENT
            filled = codec.encode_row(values, as_of=row.as_of, last_event=row.last_event, statuses=statuses)
            store.online.write({key: filled})
            return f"`{FILLED_VIEW}.{FILLED_FEATURE}` of `{key.decode()}` is 0 where it was null"
    raise InputError(f"{FILLED_VIEW}.{FILLED_FEATURE} is null nowhere")


def _served(store: FeatureStore, view: CompiledView) -> Sequence[KeySpace]:
    """Return the key spaces that the view's head lists, oldest as-of first."""
    space = KeySpace(namespace=store.namespace, view=view.name, fingerprint=view.fingerprint.data, as_of=0)
    return [space.at(entry.as_of, entry.restatement, entry.live) for entry in read_head(store.online, space).entries]


def _entity_key(view: CompiledView, values: Sequence[str]) -> bytes:
    (key,) = entity_key_encoder([key.type for key in view.keys])([[value] for value in values])
    if key is None:
        raise InputError("an entity to plant a fault for needs all its keys")
    return key
