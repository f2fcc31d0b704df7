"""The `featurekit` program: its global options, its commands, and what each way to end exits with.

    0    fine
    1    a check found something
    2    wrong usage, a wrong definition, wrong input
    3    an outside system failed: Redis, the registry, Spark, Java
    70   a bug of featurekit
    130  interrupted

A command is a function that returns an `Answer`; its module is imported when the command is asked for, so that
`featurekit --help` and `featurekit up` wait for neither pandas nor Spark.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from featurekit.cli.answer import Answer, Line
from featurekit.cli.context import Invocation, UsageError, invocation, no_command
from featurekit.cli.render import INTERNAL_EXIT_CODE, Output
from featurekit.errors import FeaturekitError, InputError

INTERRUPTED_EXIT_CODE: Final = 130


@dataclass(frozen=True, slots=True)
class Command:
    """Where a command is: a function, or a Typer app of several, in a module of this package."""

    module: str
    target: str
    help: str
    panel: str


COMMANDS: Final = {
    "init": Command("start", "init", "Write a small project that works into this folder.", "Define"),
    "validate": Command("definitions", "validate", "Check all definitions and report every mistake.", "Define"),
    "schema": Command("definitions", "schema", "Print the JSON Schema of definition files, for editors.", "Define"),
    "list": Command("listing", "list_", "List entities, sources, views, services and models.", "Define"),
    "explain": Command("explain", "explain", "Show what a view or service compiles to.", "Define"),
    "plan": Command("register", "plan", "Show what `register` would change and what has to be rebuilt.", "Run"),
    "register": Command("register", "register", "Make the definitions the ones that are served.", "Run"),
    "materialize": Command("materialize", "materialize", "Compute views and write them to the online store.", "Run"),
    "rollback": Command(
        "rollback", "rollback", "Let readers have what served before: a refresh, or a registration.", "Run"
    ),
    "pin": Command("pin", "pin", "Keep a version of a service for whoever reads it, or list pins.", "Run"),
    "unpin": Command("pin", "unpin", "Let a version go that was pinned.", "Run"),
    "gc": Command("gc", "gc", "Drop what nothing needs any more from the online store.", "Run"),
    "schedule": Command("schedule", "schedule", "Refresh, check and clean up by the declared cadence.", "Run"),
    "history": Command("history", "app", "Show, join and drop the kept rows of refreshes.", "Run"),
    "forget": Command("forget", "forget", "Take entities out of all that is kept, and prove it.", "Run"),
    "remember": Command("forget", "remember", "Let entities in again that were forgotten.", "Run"),
    "lookup": Command("lookup", "lookup", "Look features up as a model would get them.", "Run"),
    "dataset": Command("dataset", "app", "Build training sets, each row as of its own time, and check them.", "Run"),
    "check": Command("check", "app", "Compare what is served with what Spark computes.", "Run"),
    "trace": Command("explain", "trace", "Follow one value from its source rows to the served answer.", "Run"),
    "model": Command("model", "app", "Register, list and delete models.", "Models"),
    "predict": Command("model", "predict", "Look features up and run a model on them.", "Models"),
    "serve": Command("serve", "serve", "Answer lookups and predictions over HTTP.", "Models"),
    "up": Command("server", "up", "Start the embedded online store.", "Machine"),
    "down": Command("server", "down", "Stop the embedded online store; its data stay.", "Machine"),
    "status": Command("listing", "status", "Show the online store and what is served from it.", "Machine"),
    "doctor": Command("doctor", "doctor", "Check this machine: Python, Java, Redis, registry, definitions.", "Machine"),
}


def _options(
    settings: Annotated[
        Path | None, typer.Option("--settings", metavar="FILE", help="The settings file (default: featurekit.toml).")
    ] = None,
    project: Annotated[str | None, typer.Option("--project", metavar="NAME", help="Prefix of all online keys.")] = None,
    environment: Annotated[
        str | None, typer.Option("--environment", metavar="NAME", help="dev, prod and so on; part of all online keys.")
    ] = None,
    now: Annotated[
        str | None, typer.Option("--now", metavar="TIME", help="What the clock reads, such as 2013-11-15T02:00Z.")
    ] = None,
    redis_url: Annotated[
        str | None, typer.Option("--redis-url", metavar="URL", help="A Redis or Valkey server instead of the embedded.")
    ] = None,
    registry_url: Annotated[
        str | None, typer.Option("--registry-url", metavar="URL", help="A database instead of the SQLite file.")
    ] = None,
    spark_master: Annotated[
        str | None, typer.Option("--spark-master", metavar="URL", help="A Spark cluster instead of local[*].")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
) -> None:
    """The options that every command takes, before its name or after it."""


def _remember(context: typer.Context, option: Any, value: Any) -> Any:
    if value is not None and not context.resilient_parsing:
        asked = invocation(context)
        if option.name == "settings":
            asked.settings_file = value
        elif option.name != "json":  # known before anything is parsed, so that wrong usage is JSON too
            asked.flags[option.name] = value
    return value


def _global_options() -> list[Any]:
    """Return the global options as parameters of their own: each command gets them all."""
    declared = typer.Typer(add_completion=False)
    declared.command()(_options)
    options: list[Any] = list(get_command(declared).params)
    for option in options:
        option.expose_value = False
        option.callback = _remember
        option.rich_help_panel = "Everywhere"
    return options


class Commands(TyperGroup):
    """The commands, known by name and one line of help, and imported when one is run."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.params += _global_options()
        self.commands = {
            name: TyperCommand(name, help=command.help, rich_help_panel=command.panel)
            for name, command in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that `args` begins with, loaded with all its options."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        loaded = load_command(name)
        for each in (loaded, *getattr(loaded, "commands", {}).values()):
            each.rich_markup_mode = self.rich_markup_mode
        return name, loaded, rest

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002 - both modes end here, with the exit code
        windows_expand_args: bool = True,  # noqa: ARG002
        **extra: Any,
    ) -> Any:
        """Run one command line and exit: typer's own `main` would exit with 1 where we mean something else by it."""
        words = list(sys.argv[1:] if args is None else args)
        self._main_shell_completion(extra, prog_name or "featurekit", complete_var)
        self.rich_markup_mode = "rich" if sys.stdout.isatty() else None
        before_dashes = words[: words.index("--")] if "--" in words else words
        output = Output(as_json="--json" in before_dashes)

        def run() -> Any:
            with self.make_context("featurekit", words, obj=Invocation(output=output), **extra) as context:
                return self.invoke(context)

        sys.exit(finish(run, output))


def load_command(name: str) -> Any:
    """Return the command `name` with its own options and the global ones."""
    command = COMMANDS[name]
    target = getattr(import_module(f"featurekit.cli.{command.module}"), command.target)
    if not isinstance(target, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(target)
        target = alone
    loaded = get_command(target)
    loaded.name = name
    for each in (loaded, *getattr(loaded, "commands", {}).values()):
        each.params += _global_options()
    return loaded


def finish(run: Callable[[], Any], output: Output) -> int:
    """Return the exit code of `run`, after printing what it answered or how it failed."""
    try:
        try:
            answer = run()
        except typer.Exit as end:
            return end.exit_code
        if isinstance(answer, Answer):
            return _shown(answer, output)
        return 0
    except FeaturekitError as error:
        with _read_or_not():
            output.error(error)
        return error.exit_code
    except typer.TyperException as error:  # wrong usage, as typer tells it
        with _read_or_not():
            output.error(_usage_error(error))
        return InputError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        with _read_or_not():
            output.interrupted()
        return INTERRUPTED_EXIT_CODE
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the edge: nothing unforeseen may exit with 1, "mismatch"
        with _read_or_not():
            output.internal_error(error)
        return INTERNAL_EXIT_CODE


def _shown(answer: Answer, output: Output) -> int:
    with _read_or_not():
        output.answer(answer)
    return answer.exit_code


@contextmanager
def _read_or_not() -> Iterator[None]:
    """Print what is printed here, whether or not somebody reads it.

    `featurekit list | head -1`: nobody reads on. The verdict stays what it is, and Python must not complain about the
    pipe once more when it exits.
    """
    try:
        yield
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        sys.stdout = sys.stderr = open("/dev/null", "w")  # noqa: SIM115, PTH123


def _usage_error(error: typer.TyperException) -> FeaturekitError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "featurekit"
    return UsageError(error.format_message(), where=path, try_=f"{path} --help")


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(context: typer.Context, value: bool) -> None:
    if value:
        try:
            found = version("featurekit")
        except PackageNotFoundError:
            found = "unknown: run from source, not installed"
        invocation(context).output.answer(Answer(document={"featurekit": found}, blocks=(Line(f"featurekit {found}"),)))
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    show_version: Annotated[  # noqa: ARG001 - its callback has printed it
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Define features once; train, serve and check them with one meaning."""
    if context.invoked_subcommand is None:
        no_command(context)


def main() -> None:
    """Run the program with the words of its command line."""
    app()


if __name__ == "__main__":
    main()
