"""The only printer: answers, errors and progress, for a terminal, for a pipe, or as one JSON document."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, assert_never

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from featurekit.cli.answer import Answer, Block, Cell, Code, Line, Table, Tone, Toned, to_json
from featurekit.errors import DefinitionErrors, FeaturekitError

INTERNAL_EXIT_CODE: Final = 70
_STYLES: Final = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.WARNING: "yellow",
    Tone.BAD: "bold red",
    Tone.FAINT: "dim",
}
Advance = Callable[[str, int, int], None]
"""Told as work goes on: what is being worked at, how much of it is done, of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where one run of the program prints; `as_json`: one document on standard output and nothing else there."""

    as_json: bool = False

    def answer(self, answer: Answer) -> None:
        """Print a command's result, and let go of it at once: `serve` prints where it listens and then runs on."""
        if self.as_json:
            self._document(answer.document)
        else:
            console = _console(sys.stdout)
            for block in answer.blocks:
                _block(console, block)
            for error in answer.errors:
                self.error(error)
        sys.stdout.flush()

    def error(self, error: FeaturekitError) -> None:
        """Print an error with its four parts laid out."""
        if self.as_json:
            self._document({**error.parts(), "exit_code": error.exit_code})
            return
        console = _console(sys.stderr)
        if isinstance(error, DefinitionErrors):
            for mistake in error.mistakes:
                _error(console, mistake)
            console.print(Text(error.what, style=_STYLES[Tone.BAD]), soft_wrap=True)
        else:
            _error(console, error)

    def internal_error(self, error: BaseException) -> None:
        """Print that featurekit itself is wrong, and where the whole traceback was written."""
        found = FeaturekitError(
            f"featurekit has a bug: {type(error).__name__}: {error}",
            where=_our_line(error),
            why="no input should lead here; nothing can be said about what the command was to do",
            try_=f"report it with the traceback, {_written_traceback(error)}",
        )
        if self.as_json:
            self._document({**found.parts(), "error": "InternalError", "exit_code": INTERNAL_EXIT_CODE})
        else:
            _error(_console(sys.stderr), found, name="InternalError")

    def interrupted(self) -> None:
        """Print that the user stopped the command."""
        _console(sys.stderr).print("interrupted", style=_STYLES[Tone.WARNING])

    def text(self, text: str) -> None:
        """Print text as it is, help for instance."""
        print(text)

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees progress: a terminal's standard error."""
        return _console(sys.stderr).is_terminal

    @contextmanager
    def progress(self) -> Iterator[Advance]:
        """Give a function to call as work goes on: bars on a terminal's standard error, else nothing."""
        console = _console(sys.stderr)
        if not console.is_terminal:
            yield _ignore
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            task = bars.add_task("", total=None)

            def advance(name: str, done: int, total: int) -> None:
                bars.update(task, description=name, completed=done, total=total)

            yield advance

    def _document(self, document: Any) -> None:
        print(json.dumps(to_json(document), indent=2, ensure_ascii=False, allow_nan=False))


def _ignore(name: str, done: int, total: int) -> None:
    pass


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Say that nobody reads on; rich itself would exit with 1, which means a mismatch here."""
        raise BrokenPipeError


def _console(stream: TextIO) -> Console:
    # Made for each use, not once: tests and notebooks exchange sys.stdout.
    return _Console(file=stream, highlight=False, markup=False, emoji=False)


def _block(console: Console, block: Block) -> None:
    match block:
        case Line(text, tone):
            console.print(Text(text, style=_STYLES[tone]), soft_wrap=True)
        case Table():
            if block.title:
                console.print(Text(block.title, style="bold"), soft_wrap=True)
            if console.is_terminal:
                console.print(_rich_table(block))
            else:
                console.print(_plain_table(block), soft_wrap=True)
        case Code():
            if console.is_terminal:
                shown = Syntax(
                    block.text, block.language, theme="ansi_dark", word_wrap=True, background_color="default"
                )
                console.print(Panel(shown, title=block.title, title_align="left", border_style="dim"))
            else:
                console.print(f"-- {block.title}\n{block.text.rstrip()}\n", soft_wrap=True)
        case _:
            assert_never(block)


def _text(cell: Cell) -> Text:
    return Text(cell.text, style=_STYLES[cell.tone]) if isinstance(cell, Toned) else Text(cell)


def _rich_table(table: Table) -> RichTable:
    shown = RichTable(box=SIMPLE_HEAD, show_header=bool(table.columns), show_edge=False, header_style="bold")
    for column in table.columns or ("",) * max((len(row) for row in table.rows), default=0):
        shown.add_column(column, overflow="fold")
    for row in table.rows:
        shown.add_row(*(_text(cell) for cell in row))
    return shown


def _plain_table(table: Table) -> str:
    """Return the table as aligned columns, two spaces apart, never wrapped: what grep and cut can work with."""
    rows = [[cell.text if isinstance(cell, Toned) else cell for cell in row] for row in table.rows]
    if table.columns:
        rows.insert(0, list(table.columns))
    count = max((len(row) for row in rows), default=0)
    widths = [max((len(row[at]) for row in rows if at < len(row)), default=0) for at in range(count)]
    return "\n".join("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _error(console: Console, error: FeaturekitError, *, name: str | None = None) -> None:
    shown = RichTable.grid(padding=(0, 2)) if console.is_terminal else None
    title = Text.assemble((f"{name or type(error).__name__}: ", _STYLES[Tone.BAD]), error.what)
    console.print(title, soft_wrap=shown is None)
    for label, part in (("where", error.where), ("why", error.why), ("try", error.try_)):
        if part and shown is not None:
            shown.add_row(Text(f"  {label}", style="bold"), Text(part))
        elif part:
            console.print(f"  {label:<6} {part}", soft_wrap=True)
    if shown is not None and shown.row_count:
        console.print(shown)


def _our_line(error: BaseException) -> str | None:
    """Return the innermost line of featurekit on the way to the error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}featurekit{os.sep}" in frame.filename]
    return f"{ours[-1].filename}:{ours[-1].lineno} in {ours[-1].name}" if ours else None


def _written_traceback(error: BaseException) -> str:
    with suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="featurekit-traceback-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(traceback.format_exception(error))
        return f"which is in {Path(name)}"
    return "".join(traceback.format_exception(error))
