"""What becomes of texts on the way: blanks, case, Unicode forms, encodings, lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from featurekit.consistency.cells import Cells, FieldSpec
from featurekit.consistency.diagnosis.causes import Cause
from featurekit.consistency.diagnosis.cell_values import present, with_values
from featurekit.consistency.diagnosis.factors import Factor

_LENGTHS: Final = (8, 10, 16, 20, 32, 50, 64, 100, 128, 255, 256)


def text_factors() -> Iterator[Factor]:
    """Yield what turns a text into another one."""
    trims = (("both ends", pc.utf8_trim_whitespace), ("its end", pc.utf8_rtrim_whitespace))
    for where, trim in trims:
        told = f"The served text is the recomputed one without blanks at {where}."
        yield _turned(Cause.TRIMMED, told, trim, conditional=True, extra=0 if where == "both ends" else 1)
    yield _turned(Cause.LOWER_CASED, "The served text is the recomputed one in lower case.", pc.utf8_lower)
    yield _turned(Cause.UPPER_CASED, "The served text is the recomputed one in upper case.", pc.utf8_upper)
    for extra, form in enumerate(("NFC", "NFKC", "NFD", "NFKD")):
        told = f"The served text is the recomputed one in Unicode's form {form}."
        yield _turned(Cause.NORMALISED, told, _normalised(form), conditional=True, extra=extra)
    for wrote, read in (("utf-8", "latin-1"), ("utf-8", "cp1252"), ("latin-1", "utf-8")):
        told = f"The served text is the recomputed one, written as {wrote} and read as {read}."
        yield _turned(Cause.MOJIBAKE, told, _recoded(wrote, read), conditional=True)
    told = "The served text is the recomputed one with other than ASCII letters replaced."
    yield _turned(Cause.MOJIBAKE, told, _recoded("ascii", "ascii"), conditional=True, extra=1)
    for length in _LENGTHS:
        yield cut_at(length, extra=0)


def cut_at(length: int, *, extra: int) -> Factor:
    """Return the factor that cuts texts after so many letters."""
    told = f"The served text is the first {length} letters of the recomputed one."
    return _turned(
        Cause.TEXT_CUT, told, lambda texts: pc.utf8_slice_codeunits(texts, 0, length), conditional=True, extra=extra
    )


def _turned(
    cause: Cause, told: str, function: Callable[[pa.Array], pa.Array], *, conditional: bool = False, extra: int = 0
) -> Factor:
    def turn(cells: Cells, spec: FieldSpec) -> Cells | None:
        if not pa.types.is_string(cells.values.type):
            return None
        return with_values(cells, spec, present(cells), function(cells.values))

    return Factor(cause=cause, told=told, cells=turn, conditional=conditional, extra=extra)


def _normalised(form: str) -> Callable[[pa.Array], pa.Array]:
    return lambda texts: pc.utf8_normalize(texts, form=form)


def _recoded(wrote: str, read: str) -> Callable[[pa.Array], pa.Array]:
    def turn(texts: pa.Array) -> pa.Array:
        return pa.array(
            [None if text is None else _through(text, wrote, read) for text in texts.to_pylist()], pa.string()
        )

    return turn


def _through(text: str, wrote: str, read: str) -> str:
    return text if text.isascii() else text.encode(wrote, "replace").decode(read, "replace")
