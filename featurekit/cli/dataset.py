"""`dataset`: training sets, built, shown, compared and checked. Each command is a module of its own."""

from __future__ import annotations

import typer

from featurekit.cli.context import invocation
from featurekit.cli.dataset_audit import audit
from featurekit.cli.dataset_build import build
from featurekit.cli.dataset_compare import compare
from featurekit.cli.dataset_diff import diff
from featurekit.cli.dataset_log import from_log
from featurekit.cli.dataset_rebuild import rebuild
from featurekit.cli.dataset_show import show
from featurekit.errors import InputError

app = typer.Typer(add_completion=False, invoke_without_command=True)


@app.callback()
def dataset(context: typer.Context) -> None:
    """Build training sets, each row as of its own time, and check them."""
    if context.invoked_subcommand is None:
        invocation(context).output.text(context.get_help())
        raise typer.Exit(InputError.exit_code)


app.command("build")(build)
app.command("compare")(compare)
app.command("show")(show)
app.command("diff")(diff)
app.command("rebuild")(rebuild)
app.command("audit")(audit)
app.command("from-log")(from_log)
