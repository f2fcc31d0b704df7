"""Damaged rows through every decoder: nothing may crash, hang, or give a value that the row's own checks don't allow.

    python -m benchmarks.fuzz_codec [--rows 1000000] [--seed 7]

Layouts of fields are drawn, rows of them encoded and then damaged: bits flipped, cut, two rows spliced, lengths, status
bits and headers written over, random bytes. Each damaged row is read alone and among others, into Python, NumPy and
Arrow. `crashes` counts errors that are no CodecError, `hangs` batches of more than ten seconds of CPU time, and `wrong`
rows of which two decoders say different things, or one gives a value although version, fingerprint or as-of are not
ours.
"""

from __future__ import annotations

import argparse
import random
import signal
import struct
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

import pyarrow as pa

from benchmarks.fuzz_values import LAYOUT_TYPES, drawn_value, same
from benchmarks.report import finish
from featurekit.clock import DAY
from featurekit.errors import CodecError
from featurekit.grid import Grid
from featurekit.online.answer import AnswerPlan, ViewRows
from featurekit.online.arrow_answer import ArrowPlan
from featurekit.online.codec import RowCodec
from featurekit.online.keys import Namespace
from featurekit.online.layout import IDENTITY
from featurekit.online.planned import PlannedService
from featurekit.plan import LookupPlan, PlanField, PlanKey, PlanView
from featurekit.status import Status
from featurekit.types import Field, Int64, Schema, is_nested

SEED: Final = 7
AS_OF: Final = 16_024 * DAY
FINGERPRINT: Final = "0123456789abcdef" * 4
_BATCH: Final = 50
_BATCHES_OF_LAYOUT: Final = 8
_HANG_S: Final = 10
_EDGES: Final = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@dataclass
class Found:
    """What a run came to; `examples` are the first few findings, made as small as they go."""

    rows: int = 0
    whole: int = 0  # damaged, and still rows: in a value, or not at all
    crashes: int = 0
    wrong: int = 0
    hangs: int = 0
    by_damage: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


class Decoders:
    """Every way to read rows of one layout."""

    def __init__(self, draw: random.Random) -> None:
        kinds = [draw.choice(LAYOUT_TYPES) for _ in range(draw.choice((0, 1, 1, 2, 3, 4, 5, 8, 9, 17, 40)))]
        self.kinds = kinds
        self.codec = RowCodec([Field(f"f{i}", kind) for i, kind in enumerate(kinds)], FINGERPRINT)
        view = PlanView(
            alias="v",
            view="v",
            fingerprint=FINGERPRINT,
            keys=(PlanKey(name="k", type=Int64(), request="k"),),
            grid=Grid(DAY),
            fields=tuple(
                PlanField(name=f"f{i}", type=kind, is_latest=True, empty=None, default=None)
                for i, kind in enumerate(kinds)
            ),
        )
        plan = LookupPlan(
            service="s",
            fingerprint=FINGERPRINT,
            views=(view,),
            request=Schema(()),
            on_demand=(),
            outputs=tuple(Field(f"v.f{i}", kind) for i, kind in enumerate(kinds)),
        )
        self._answers = AnswerPlan(PlannedService(plan, Namespace("a", "b"), pointer_key=b"", pointer=b""))
        self._arrow = ArrowPlan(plan.outputs)
        self.identity = self.codec.identity + AS_OF.to_bytes(8, "little", signed=True)

    def row(self, draw: random.Random) -> bytes:
        values = [None if draw.random() < 0.15 else drawn_value(kind, draw) for kind in self.kinds]
        return self.codec.encode_row(values, as_of=AS_OF, last_event=draw.randrange(1 << 40))

    def alone(self, row: bytes) -> list[tuple[Any, int]] | None:
        """Return values and statuses as one row is decoded; None where it is refused."""
        try:
            found = self.codec.decode_row(row)
        except CodecError:
            return None
        return None if found.as_of != AS_OF else list(zip(found.values, map(int, found.statuses), strict=True))

    def together(self, rows: Sequence[bytes], *, with_arrow: bool = True) -> list[list[tuple[Any, int]] | None]:
        """Return the same as rows are decoded among others: None where all is UNAVAILABLE."""
        views = [ViewRows(rows=rows, as_of=AS_OF)]
        whole = self._answers.whole_rows(views) if len(rows) == 1 else None
        answer = self._answers.answer(views, {}, len(rows)) if whole is None else self._answers.answer_whole(whole)
        columns: list[Any] = [None] * len(self.kinds)
        for part in answer.parts:
            held = part.values if isinstance(part.values, list) else part.values.tolist()
            part.put(held, into=columns)
        statuses = answer.statuses
        found: list[list[tuple[Any, int]] | None] = []
        for at in range(len(rows)):
            codes = [0] * len(columns) if statuses is None else statuses[:, at].tolist()
            if codes and all(code == Status.UNAVAILABLE for code in codes):
                found.append(None)
                continue
            found.append([(None if code else column[at], code) for column, code in zip(columns, codes, strict=True)])
        if with_arrow:
            self._check_arrow(self._arrow.table(answer, len(rows)), found)
        return found

    def _check_arrow(self, table: pa.Table, found: list[list[tuple[Any, int]] | None]) -> None:
        """AssertionError where Arrow has other values, or none where there are some."""
        table.validate(full=True)
        for i, (kind, column) in enumerate(zip(self.kinds, table.columns, strict=True)):
            held = [None if cells is None else cells[i][0] for cells in found]
            if is_nested(kind):
                assert column.is_null().to_pylist() == [value is None for value in held], f"Arrow, field {i}"
                continue
            arrow = column.type
            stored = column.combine_chunks()
            if pa.types.is_temporal(arrow):
                stored = stored.view(pa.int32() if arrow.bit_width == 32 else pa.int64())
            assert all(map(same, stored.to_pylist(), held)), f"Arrow has other values in field {i}, {kind}"


def damaged(row: bytes, other: bytes, codec: RowCodec, draw: random.Random) -> tuple[str, bytes]:
    """Return what was done to a row, and the row after it."""
    whole = bytearray(row)
    kind = draw.choice(("bits", "bits", "cut", "longer", "splice", "lengths", "lengths", "header", "statuses", "filled",
                        "random", "random body"))  # fmt: skip
    match kind:
        case "bits":
            for _ in range(draw.choice((1, 1, 2, 8))):
                bit = draw.randrange(len(whole) * 8)
                whole[bit // 8] ^= 1 << bit % 8
        case "cut":
            del whole[draw.randrange(len(whole)) :]
        case "longer":
            whole += draw.randbytes(draw.choice((1, 2, 8, 100)))
        case "splice":
            at = draw.randrange(len(whole) + 1)
            whole = whole[:at] + other[draw.choice((at, draw.randrange(len(other) + 1))) :]
        case "lengths":
            at = draw.randrange(24, len(whole) + 1) if len(whole) > 24 else 0
            number = draw.choice((*_EDGES, len(whole), len(whole) - codec.size, draw.getrandbits(32)))
            whole[at : at + 4] = struct.pack("<I", max(0, number) & 0xFFFFFFFF)[: max(0, len(whole) - at)]
        case "header":
            edge = (draw.randrange(256), draw.choice((0, 1, 255)), draw.randbytes(6), draw.getrandbits(63))
            header = list(IDENTITY.unpack_from(whole))
            at = draw.randrange(4)
            header[at] = edge[at]
            whole[: IDENTITY.size] = IDENTITY.pack(*header)
        case "statuses":
            at = codec.layout.status_offset
            for i in range(at, codec.size):
                whole[i] = draw.randrange(256)
        case "filled":
            at = draw.randrange(len(whole))
            until = min(len(whole), at + draw.choice((1, 4, 8, 64)))
            whole[at:until] = bytes((draw.choice((0, 0, 0x7F, 0xFF)),)) * (until - at)
        case "random":
            whole = bytearray(draw.randbytes(draw.randrange(2 * len(whole))))
        case _:
            whole[IDENTITY.size :] = draw.randbytes(len(whole) - IDENTITY.size)
    return kind, bytes(whole)


class _HangError(BaseException):
    """No Exception: who looks for any that a decoder raises must not find it."""


def fuzz(rows: int, seed: int) -> Found:
    """Return what so many damaged rows came to."""
    draw = random.Random(seed)
    found = Found()
    before = signal.signal(signal.SIGPROF, _hang)
    try:
        while found.rows < rows:
            decoders = Decoders(draw)
            good = [decoders.row(draw) for _ in range(_BATCH)]
            for _ in range(_BATCHES_OF_LAYOUT):
                size = min(_BATCH, rows - found.rows)
                if not size:
                    break
                batch = [damaged(row, draw.choice(good), decoders.codec, draw) for row in good[:size]]
                _check(decoders, batch, good[:size], found)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found


def _check(decoders: Decoders, batch: list[tuple[str, bytes]], good: list[bytes], found: Found) -> None:
    found.rows += len(batch)
    found.by_damage.update(kind for kind, _ in batch)
    signal.setitimer(signal.ITIMER_PROF, _HANG_S)
    try:
        rows = [row for _, row in batch]
        # Damaged rows among whole ones, as they would be met; and then each by itself.
        together = decoders.together([*rows, *good[:3]])
        if any(cells is None for cells in together[len(rows) :]) and decoders.kinds:
            raise AssertionError("a whole row among damaged ones was refused")
        for row, among, original in zip(rows, together, good, strict=False):
            verdict = _verdict(decoders, row, among, good[:5])
            if verdict is None:
                found.whole += among is not None
            else:
                found.wrong += verdict == "wrong"
                found.crashes += verdict != "wrong"
                _note(decoders, row, original, verdict, found, good[:5])
    except _HangError:
        found.hangs += 1
    except Exception:  # noqa: BLE001  whatever is no CodecError is a finding
        found.crashes += 1
        for row, original in zip(rows, good, strict=False):
            if (verdict := _verdict_alone(decoders, row, good[:5])) is not None:
                _note(decoders, row, original, verdict, found, good[:5])
                return
        found.examples.append(f"{decoders.kinds}: only together: {traceback.format_exc()}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _verdict(decoders: Decoders, row: bytes, among: list[tuple[Any, int]] | None, whole: Sequence[bytes]) -> str | None:
    """Return what is wrong with how a row is read; None where nothing is."""
    try:
        alone = decoders.alone(row)
        (single,) = decoders.together([row], with_arrow=False)
        is_ours = row[: IDENTITY.size] == decoders.identity
        # Among broken rows each is looked at alone too: only among whole ones does reading many at once decide.
        few = decoders.together([row, *whole], with_arrow=False)[0] if is_ours else None
    except CodecError as error:
        return f"CodecError where many are read: {error}"
    except Exception:  # noqa: BLE001  whatever is no CodecError is a finding
        return traceback.format_exc()
    if not decoders.kinds:  # no value that could be wrong
        return None
    if not is_ours and (alone, single, among) != (None, None, None):
        return "wrong"
    return None if all(_alike(alone, other) for other in (single, few, among)) else "wrong"


def _verdict_alone(decoders: Decoders, row: bytes, whole: Sequence[bytes]) -> str | None:
    try:
        among = decoders.together([row, row])[0]
    except Exception:  # noqa: BLE001  whatever is no CodecError is a finding
        return traceback.format_exc()
    return _verdict(decoders, row, among, whole)


def _alike(one: list[tuple[Any, int]] | None, other: list[tuple[Any, int]] | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(code == its_code and same(value, its) for (value, code), (its, its_code) in zip(one, other, strict=True))


def _note(decoders: Decoders, row: bytes, original: bytes, verdict: str, found: Found, whole: Sequence[bytes]) -> None:
    if len(found.examples) < 5:
        small = _smaller(decoders, row, original, whole)
        found.examples.append(f"{[kind.name for kind in decoders.kinds]}\n  {small.hex()}\n  {verdict}")


def _smaller(decoders: Decoders, row: bytes, original: bytes, whole: Sequence[bytes]) -> bytes:
    """Return the row with as many of its bytes as they were as the finding allows."""
    small = bytearray(row)
    for at in range(min(len(row), len(original))):
        if small[at] != original[at]:
            damage, small[at] = small[at], original[at]
            if _verdict_alone(decoders, bytes(small), whole) is None:
                small[at] = damage
    return bytes(small)


def _hang(signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise _HangError


def main(arguments: Sequence[str]) -> int:
    """Fuzz, print what was found and the RESULT line, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    found = fuzz(options.rows, options.seed)
    for example in found.examples:
        print(example)
    print(f"{found.whole:,} of {found.rows:,} damaged rows are rows all the same; damage: {dict(found.by_damage)}")
    values = {"rows": found.rows, "crashes": found.crashes, "wrong": found.wrong, "hangs": found.hangs}
    details = {"whole": found.whole, "by_damage": found.by_damage, "examples": found.examples}
    finish("fuzz-codec", values, details=details, seed=options.seed, file="fuzz-codec")
    return 1 if found.crashes or found.wrong or found.hangs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
