"""The test vectors of docs/vectors: what a client in another language is tested with, as JSON.

    python -m tests.online.vectors      writes them anew (make vectors)

docs/formats.md says what each file holds and how a value is written there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal as Exact
from pathlib import Path
from typing import Any, Final

from featurekit.clock import DAY, HOUR, MINUTE, parse_instant
from featurekit.errors import CodecError
from featurekit.online.codec import RowCodec
from featurekit.online.keys import KeySpace, Namespace, as_of_text, entity_key_encoder
from featurekit.online.planned import PlannedView
from featurekit.online.reason import Reason
from featurekit.online.store import Head, HeadEntry, encode_head
from featurekit.status import Status
from featurekit.types import (
    Int64,
    parse_type,
)
from tests.online.servers import FINGERPRINT, NAMESPACE, plan_field, view_plan
from tests.online.test_codec import AS_OF, LAST_EVENT, ROWS, fields_of, golden
from tests.online.vector_lookups import lookups, stored
from tests.online.vector_values import shown

FOLDER: Final = Path(__file__).parents[2] / "docs" / "vectors"
FORMAT: Final = 1
_EPOCH_NIGHT: Final = parse_instant("2013-11-15")

# Entity keys: the types of the join keys, and values held as `types` says.
KEYS: Final[Sequence[tuple[tuple[str, ...], tuple[Any, ...]]]] = (
    (("tinyint",), (-128,)),
    (("smallint",), (0,)),
    (("int",), (42,)),
    (("bigint",), (42,)),
    (("bigint",), (-(2**63),)),
    (("bigint",), (2**63 - 1,)),
    (("string",), ("JFK",)),
    (("string",), ("",)),
    (("string",), ("%_",)),
    (("string",), ("a,b",)),
    (("string",), ("50% {é}",)),
    (("string",), (" pad ",)),
    (("string",), ("\0\t\x1f\x7f",)),
    (("string",), ("\U0001f600",)),
    (("string",), ("e\u0301",)),
    (("binary",), (b"",)),
    (("binary",), (b"\x00\xff",)),
    (("boolean",), (True,)),
    (("boolean",), (False,)),
    (("float",), (1.5,)),
    (("float",), (0.10000000149011612,)),
    (("double",), (0.1,)),
    (("double",), (-0.0,)),
    (("double",), (1e22,)),
    (("double",), (1e16,)),
    (("double",), (123456789012345.6,)),
    (("double",), (0.0001,)),
    (("double",), (0.00001,)),
    (("double",), (5e-324,)),
    (("double",), (1.7976931348623157e308,)),
    (("double",), (math.inf,)),
    (("double",), (-math.inf,)),
    (("double",), (math.nan,)),
    (("decimal(9,2)",), (Exact("-1.50"),)),
    (("decimal(9,2)",), (Exact("-0.00"),)),
    (("decimal(38,0)",), (Exact(10**38 - 1),)),
    (("decimal(18,18)",), (Exact("0.000000000000000001"),)),
    (("date",), (16024,)),
    (("date",), (-719162,)),
    (("date",), (-719163,)),
    (("date",), (-719529,)),
    (("date",), (2932897,)),
    (("timestamp",), (AS_OF,)),
    (("timestamp",), (-1,)),
    (("timestamp",), (253402300800000000,)),
    (("timestamp_ntz",), (AS_OF + 1,)),
    (("string", "bigint"), ("JFK", 7)),
    (("string", "string"), ("", "")),
    (("string", "string"), ("a,", "b")),
    (("string", "string"), ("a", ",b")),
    (("string", "bigint"), (None, 7)),
    (("string", "bigint"), ("JFK", None)),
)


def files() -> dict[str, bytes]:
    """Return each file of vectors by its name."""
    return {
        "keys.json": _document(cases=list(_keys()), as_of=list(_as_ofs()), names=list(_names())),
        "rows.json": _document(cases=list(_rows()), refused=list(_refused_rows())),
        "heads.json": _document(cases=list(_heads())),
        "lookups.json": _document(store=stored(), lookups=list(lookups())),
    }


def _keys() -> Iterator[dict[str, Any]]:
    for names, values in KEYS:
        kinds = [parse_type(name) for name in names]
        (text,) = entity_key_encoder(kinds)([[value] for value in values])
        yield {
            "types": list(names),
            "values": [shown(value, kind) for value, kind in zip(values, kinds, strict=True)],
            "text": None if text is None else text.decode(),
        }


def _as_ofs() -> Iterator[dict[str, str]]:
    for after in (0, 23 * HOUR, 30 * MINUTE, 15_000_000, 1, 12 * HOUR + 500_000):
        yield {"as_of": str(_EPOCH_NIGHT + after), "text": as_of_text(_EPOCH_NIGHT + after)}
    yield {"as_of": "-1", "text": as_of_text(-1)}


def _names() -> Iterator[dict[str, Any]]:
    plan = "9f" * 4
    for namespace, again in ((NAMESPACE, 0), (Namespace("shop-2", "prod.eu"), 3)):
        space = KeySpace(
            namespace=namespace, view="spend", fingerprint=FINGERPRINT, as_of=_EPOCH_NIGHT, restatement=again
        )
        yield {
            "project": namespace.project,
            "environment": namespace.environment,
            "view": space.view,
            "view_fingerprint": FINGERPRINT,
            "as_of": str(space.as_of),
            "restatement": again,
            "entity_key": "JFK,7",
            "row": space.row(b"JFK,7").decode(),
            "head": space.head.decode(),
            "marker": space.marker.decode(),
            "service": "score",
            "service_fingerprint": "f" * 64,
            "plan_digits": plan,
            "pointer": namespace.pointer("score").decode(),
            "services": namespace.names.decode(),
        }


def _rows() -> Iterator[dict[str, Any]]:
    stored = golden()
    for name, kinds, given in ROWS:
        statuses = [value if isinstance(value, Status) else Status.PRESENT for value in given]
        values = [None if isinstance(value, Status) else value for value in given]
        yield {
            "name": name,
            "fingerprint": FINGERPRINT,
            "types": [kind.name for kind in kinds],
            "row": stored[name].hex(),
            "as_of": str(AS_OF),
            "last_event": str(LAST_EVENT),
            "statuses": [status.name for status in statuses],
            "values": [shown(value, kind) for value, kind in zip(values, kinds, strict=True)],
        }


def _refused_rows() -> Iterator[dict[str, Any]]:
    """Yield rows that are no value, with the reason each has: from a whole one, a part changed or cut."""
    kinds = [parse_type(name) for name in ("bigint", "string", "array<int>", "boolean")]
    codec = RowCodec(fields_of(kinds), FINGERPRINT)
    whole = codec.encode_row([7, "é", (1, None), True], as_of=AS_OF, last_event=LAST_EVENT)
    fixed = codec.size
    text, nested = whole[fixed : fixed + 2], whole[fixed + 2 :]
    changed: Mapping[str, tuple[bytes, Reason]] = {
        "no bytes": (b"", Reason.BROKEN_ROW),
        "half a header": (whole[:23], Reason.BROKEN_ROW),
        "a later wire version": (b"\x02" + whole[1:], Reason.NEWER_ROW),
        "unknown flags": (whole[:1] + b"\x01" + whole[2:], Reason.NEWER_ROW),
        "wire version 0": (b"\x00" + whole[1:], Reason.FOREIGN_ROW),
        "another view version": (whole[:2] + bytes(6) + whole[8:], Reason.FOREIGN_ROW),
        "another as-of": (whole[:8] + (AS_OF + 1).to_bytes(8, "little") + whole[16:], Reason.STALE_ROW),
        "cut in the fixed part": (whole[: fixed - 1], Reason.BROKEN_ROW),
        "cut in the variable part": (whole[:-1], Reason.BROKEN_ROW),
        "a byte too many": (whole + b"\0", Reason.BROKEN_ROW),
        "a string that is not UTF-8": (whole[:fixed] + b"\xff\xff" + nested, Reason.BROKEN_ROW),
        "a count beyond the bytes": (whole[:fixed] + text + b"\xff\xff\xff\x7f" + nested[4:], Reason.BROKEN_ROW),
        "a null bit beyond the count": (whole[:fixed] + text + nested[:4] + b"\x06" + nested[5:], Reason.BROKEN_ROW),
        "a NULL that is not zero": (whole[:-1] + b"\x01", Reason.BROKEN_ROW),
    }
    for name, (row, reason) in changed.items():
        _check_refused(codec, row, reason)
        yield {
            "name": name,
            "fingerprint": FINGERPRINT,
            "types": [kind.name for kind in kinds],
            "as_of": str(AS_OF),
            "row": row.hex(),
            "reason": reason.name,
        }


def _check_refused(codec: RowCodec, row: bytes, reason: Reason) -> None:
    try:
        is_stale = codec.decode_row(row).as_of != AS_OF
    except CodecError:
        is_stale = False
        assert reason is not Reason.STALE_ROW
    assert is_stale == (reason is Reason.STALE_ROW)


def _heads() -> Iterator[dict[str, Any]]:
    first = _EPOCH_NIGHT
    entries = {
        "none": (),
        "one": ((first, 0, first + 2 * HOUR),),
        "two days": ((first, 0, first + 2 * HOUR), (first + DAY, 0, first + DAY + 2 * HOUR)),
        "late": ((first, 0, first + 2 * HOUR), (first + DAY, 0, first + DAY + 9 * HOUR)),
        "restated": ((first, 0, first + 2 * HOUR), (first, 1, first + 5 * HOUR)),
        "restated before the next": (
            (first, 0, first + 2 * HOUR),
            (first, 2, first + 30 * HOUR),
            (first + DAY, 0, first + DAY + 2 * HOUR),
        ),
    }
    for name, listed in entries.items():
        head = Head(
            tuple(
                HeadEntry(as_of=as_of, restatement=again, visible_from=visible, completed_at=visible, rows=3)
                for as_of, again, visible in listed
            )
        )
        yield _head_case(name, encode_head(head), listed)
    for number in (0, 2):
        entry = HeadEntry(
            as_of=first, restatement=0, visible_from=first + HOUR, completed_at=first + HOUR, rows=3, live=number
        )
        yield _head_case(f"in place, space {number}", encode_head(Head((entry,))), [(first, 0, first + HOUR)])
    yield _head_case("not there", None, ())


def _head_case(name: str, content: bytes | None, listed: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    view = PlannedView(view_plan([plan_field("n", Int64())]), NAMESPACE, ["n"], 0)
    head = view.learned(content)
    instants = sorted({at + more for as_of, _, visible in listed for at in (as_of, visible) for more in (-1, 0)} | {0})
    picks = []
    for at in instants:
        pick = head.at(at)
        told = None if pick is None else {"as_of": str(pick.as_of), "restatement": pick.restatement}
        space = None if pick is None else pick.row_suffix.decode().rpartition(":")[2]
        picks.append({"at": str(at), "pick": told, "space": space})
    return {
        "name": name,
        "head": None if content is None else content.decode(),
        "availability_delay": str(view.view.grid.availability_delay),
        "picks": picks,
    }


def _document(**content: object) -> bytes:
    """Return a file: a line per case, so that a change of one is seen as that."""
    parts = [f'"format": {FORMAT}']
    for name, cases in content.items():
        assert isinstance(cases, list)
        lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
        parts.append(f'"{name}": [\n{lines}\n]')
    return ("{" + ",\n".join(parts) + "}\n").encode()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)
        print(f"docs/vectors/{name}  {len(content):,} bytes")


if __name__ == "__main__":
    main()
