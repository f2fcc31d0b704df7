"""`history`: the kept rows of refreshes, listed, joined and dropped. No Spark is loaded."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from featurekit.cli.answer import Answer, Block, Cell, Line, Table, Tone, Toned, counted
from featurekit.cli.context import invocation, no_command
from featurekit.clock import format_instant
from featurekit.errors import InputError
from featurekit.feature_store import FeatureStore
from featurekit.keeping import Changed, Gap, ViewHistory
from featurekit.offline.history import HistoryEntry, served_at

app = typer.Typer(add_completion=False, invoke_without_command=True)
Views = Annotated[list[str] | None, typer.Argument(metavar="VIEW", help="All views without one.")]


@app.callback()
def history(context: typer.Context) -> None:
    """Show, join and drop the kept rows of refreshes."""
    if context.invoked_subcommand is None:
        no_command(context)


@app.command("list")
def list_(context: typer.Context) -> Answer:
    """List what is kept of each view: refreshes, rows, bytes, and the gaps on its grid."""
    with FeatureStore(invocation(context).settings()) as store:
        found = store.histories()
        return listed(found, str(store.history))


def listed(found: tuple[ViewHistory, ...], folder: str) -> Answer:
    """Return what is kept as an answer."""
    document = {"folder": folder, "views": [_document(one) for one in found]}
    if not found:
        return Answer(document=document, blocks=(Line(f"nothing is kept in {folder}"),))
    columns = ("view", "version", "", "refreshes", "from", "to", "rows", "bytes", "files", "gaps")
    rows = tuple(_row(one) for one in found)
    broken = tuple(
        Line(f"{each.path}: {each.why}; it is not read", Tone.WARNING) for one in found for each in one.broken
    )
    return Answer(document=document, blocks=(Table(columns=columns, rows=rows), *broken))


@app.command("show")
def show(
    context: typer.Context, view: Annotated[str, typer.Argument(metavar="VIEW", help="A view with kept rows.")]
) -> Answer:
    """Show each kept refresh of a view: how it was computed, when lookups saw it, and why it was restated."""
    settings = invocation(context).settings()
    with FeatureStore(settings) as store:
        found = [one for one in store.histories() if one.view == view]
        if not found:
            raise InputError(f"nothing is kept of {view!r}", where=str(store.history), try_="featurekit history list")
    now = settings.clock()
    blocks: list[Block] = []
    for one in found:
        serving = served_at(one.entries, now) if one.is_live else None
        columns = ("as of", "restatement", "computed", "rows", "bytes", "files", "served from", "")
        rows = tuple(_refresh(entry, serving) for entry in one.entries)
        title = f"{one.view} {one.fingerprint[:8]}, {_use(one).text}"
        blocks.append(Table(title=title, columns=columns, rows=rows))
        blocks += [Line(f"gap: {_gap(gap)}", Tone.WARNING) for gap in one.gaps]
        blocks += [Line(f"{each.path}: {each.why}; it is not read", Tone.WARNING) for each in one.broken]
    document = {"versions": [{**_document(one), "kept": [_kept(entry) for entry in one.entries]} for one in found]}
    return Answer(document=document, blocks=tuple(blocks))


@app.command("compact")
def compact(context: typer.Context, views: Views = None) -> Answer:
    """Join the small files of each refresh into one. The rows stay the same, and readers at work are not disturbed."""
    with FeatureStore(invocation(context).settings()) as store:
        return _changed(store.compact_history(views), "joined", "nothing to join")


@app.command("expire")
def expire(
    context: typer.Context,
    views: Views = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be dropped.")] = False,
) -> Answer:
    """Drop kept rows that are older than their view keeps them; what serves stays, and so does the run history."""
    with FeatureStore(invocation(context).settings()) as store:
        if dry_run:
            return _changed(store.expire_history(views, dry_run=True), "would be dropped", "nothing is too old")
        return _changed(store.expire_history(views), "dropped", "nothing is too old")


def _row(one: ViewHistory) -> tuple[Cell, ...]:
    missing = sum(gap.refreshes for gap in one.gaps)
    return (
        one.view,
        one.fingerprint[:8],
        _use(one),
        f"{len(one.entries):,}",
        format_instant(one.entries[0].as_of),
        format_instant(one.entries[-1].as_of),
        f"{one.rows:,}",
        f"{one.bytes:,}",
        f"{sum(len(entry.files) for entry in one.entries):,}",
        Toned(counted(missing, "refresh", "refreshes"), Tone.WARNING) if missing else "",
    )


def _use(one: ViewHistory) -> Toned:
    return Toned("read now", Tone.GOOD) if one.is_live else Toned("no longer read", Tone.FAINT)


def _refresh(entry: HistoryEntry, serving: HistoryEntry | None) -> tuple[Cell, ...]:
    return (
        format_instant(entry.as_of),
        str(entry.restatement) if entry.restatement else "",
        entry.kind,
        f"{entry.rows:,}",
        f"{entry.bytes:,}",
        f"{len(entry.files):,}",
        "" if entry.kind == "backfill" else format_instant(entry.visible_from),
        _state(entry, serving),
    )


def _state(entry: HistoryEntry, serving: HistoryEntry | None) -> Cell:
    if entry.withdrawn_at is not None:
        return Toned(f"withdrawn {format_instant(entry.withdrawn_at)}", Tone.WARNING)
    restated = f"restated: {entry.reason}" if entry.restatement and entry.reason else ""
    if entry == serving:
        return Toned("; ".join(filter(None, ("serves", restated))), Tone.GOOD)
    return restated


def _gap(gap: Gap) -> str:
    count = counted(gap.refreshes, "refresh", "refreshes")
    return f"{count} from {format_instant(gap.first)} to {format_instant(gap.last)}"


def _document(one: ViewHistory) -> dict[str, Any]:
    return {
        "view": one.view,
        "fingerprint": one.fingerprint,
        "live": one.is_live,
        "refreshes": len(one.entries),
        "from": format_instant(one.entries[0].as_of),
        "to": format_instant(one.entries[-1].as_of),
        "rows": one.rows,
        "bytes": one.bytes,
        "gaps": [
            {"from": format_instant(gap.first), "to": format_instant(gap.last), "refreshes": gap.refreshes}
            for gap in one.gaps
        ],
        "broken": [{"folder": str(each.path), "why": each.why} for each in one.broken],
    }


def _kept(entry: HistoryEntry) -> dict[str, Any]:
    return {
        "as_of": format_instant(entry.as_of),
        "restatement": entry.restatement,
        "kind": entry.kind,
        "reason": entry.reason,
        "visible_from": format_instant(entry.visible_from),
        "completed_at": format_instant(entry.completed_at),
        "withdrawn_at": None if entry.withdrawn_at is None else format_instant(entry.withdrawn_at),
        "rows": entry.rows,
        "bytes": entry.bytes,
        "files": [file.name for file in entry.files],
        "folder": str(entry.path),
    }


def _changed(changed: tuple[Changed, ...], done: str, nothing: str) -> Answer:
    document = {
        "refreshes": [
            {
                "view": each.entry.view,
                "fingerprint": each.entry.fingerprint,
                "as_of": format_instant(each.entry.as_of),
                "restatement": each.entry.restatement,
                "bytes_before": each.bytes_before,
                "bytes_after": each.bytes_after,
            }
            for each in changed
        ]
    }
    if not changed:
        return Answer(document=document, blocks=(Line(nothing),))
    rows: list[tuple[Cell, ...]] = []
    for view in dict.fromkeys(each.entry.view for each in changed):
        own = [each for each in changed if each.entry.view == view]
        before, after = sum(each.bytes_before for each in own), sum(each.bytes_after for each in own)
        rows.append((view, f"{len(own):,}", f"{before:,}", f"{after:,}"))
    columns = ("view", f"refreshes {done}", "bytes before", "bytes after")
    return Answer(document=document, blocks=(Table(columns=columns, rows=tuple(rows)),))
