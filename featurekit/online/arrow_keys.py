"""Arrow batches of offline rows -> entity key texts, a column at a time: the same texts as `keys` makes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.arrow_types import to_arrow
from featurekit.errors import CodecError
from featurekit.online.keys import ESCAPED, SEPARATOR, escape, text_encoder
from featurekit.types import DataType, Field, Null, String, is_integer

_SPECIAL: Final = ESCAPED.decode()


def encode_key_columns(batch: pa.RecordBatch, keys: Sequence[Field]) -> list[bytes | None]:
    """Return the entity key text of each row, None where a join key is NULL."""
    texts: list[bytes | None] = key_array(batch, keys).to_pylist()
    return texts


def key_array(batch: pa.RecordBatch, keys: Sequence[Field]) -> pa.BinaryArray:
    """Return the entity key texts as one Arrow array, null where a join key is NULL."""
    texts = [_key_texts(batch_column(batch, key), key.type) for key in keys]
    return texts[0] if len(texts) == 1 else join_bytes(*texts, between=SEPARATOR)


def batch_column(batch: pa.RecordBatch, field: Field) -> pa.Array:
    at = batch.schema.get_field_index(field.name)
    if at < 0:
        raise CodecError(
            f"the offline rows have no column {field.name}", why=f"they have {', '.join(batch.schema.names)}"
        )
    column = batch.column(at)
    wanted = to_arrow(field.type)
    return column if column.type == wanted else column.cast(wanted)


def join_bytes(*parts: pa.BinaryArray | pa.BinaryScalar, between: bytes = b"") -> pa.BinaryArray:
    """Return the parts joined row by row; null where any part is null."""
    return pc.binary_join_element_wise(*parts, pa.scalar(between, pa.binary()))


def _key_texts(column: pa.Array, kind: DataType) -> pa.BinaryArray:
    if isinstance(kind, String):
        return _escaped(column.cast(pa.binary()))
    if is_integer(kind):
        return column.cast(pa.string()).cast(pa.binary())
    if isinstance(kind, Null):
        return pa.nulls(len(column), pa.binary())
    # The rest are rare as join keys: the request's encoder makes them too, so the two can't differ.
    encode = text_encoder(kind)
    held = _held(column)
    texts = iter(encode([value for value in held if value is not None]))
    return pa.array([None if value is None else next(texts) for value in held], pa.binary())


def _held(column: pa.Array) -> list[object]:
    """Return the values as `types` says they are held."""
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    values: list[object] = column.to_pylist()
    return values


def _escaped(texts: pa.BinaryArray) -> pa.BinaryArray:
    special = pc.or_(pc.match_substring_regex(texts, _SPECIAL), pc.equal(pc.binary_length(texts), 0))
    if not pc.any(special).as_py():
        return texts
    return pa.array([None if text is None else escape(text) for text in texts.to_pylist()], pa.binary())
