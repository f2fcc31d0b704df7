"""`dataset`: training sets, built, shown, compared and checked. Each command is a module of its own."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from featurekit.cli.context import UsageError, no_command
from featurekit.cli.dataset_audit import audit
from featurekit.cli.dataset_build import build
from featurekit.cli.dataset_compare import compare
from featurekit.cli.dataset_diff import diff
from featurekit.cli.dataset_log import from_log
from featurekit.cli.dataset_rebuild import rebuild
from featurekit.cli.dataset_show import show


class _Datasets(TyperGroup):
    """The commands; who names a service in place of one is told which command builds its training sets."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            raise UsageError(
                getattr(error, "message", str(error)),
                where=ctx.command_path,
                try_=f"{ctx.command_path} build {args[0]} …, if that is a service; {ctx.command_path} --help lists all",
            ) from error


app = typer.Typer(add_completion=False, invoke_without_command=True, cls=_Datasets)


@app.callback()
def dataset(context: typer.Context) -> None:
    """Build training sets, each row as of its own time, and check them."""
    if context.invoked_subcommand is None:
        no_command(context)


app.command("build")(build)
app.command("compare")(compare)
app.command("show")(show)
app.command("diff")(diff)
app.command("rebuild")(rebuild)
app.command("audit")(audit)
app.command("from-log")(from_log)
