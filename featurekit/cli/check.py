"""`check`: is what is served what training says? Each command is a module of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from featurekit.cli.check_attribute import attribute
from featurekit.cli.check_history import history, show
from featurekit.cli.check_replay import replay
from featurekit.cli.check_run import run

_RUN: Final = "run"
_REPLAY: Final = "replay"
_REPLAY_OPTION: Final = f"--{_REPLAY}"


class _Checks(TyperGroup):
    """The commands; words that name none of them are those of `check run`, with `--replay LOG` of `check replay`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = _replay_first(args)
        word = self._first_word(args)
        completes_a_name = ctx.resilient_parsing and word is None
        return super().parse_args(ctx, args if word in self.commands or completes_a_name else [_RUN, *args])

    def _first_word(self, args: list[str]) -> str | None:
        """Return the first word that is neither an option of every command nor the value of one."""
        takes_value = {
            name: not getattr(option, "is_flag", False)
            for option in self.params
            for name in option.opts
            if name not in ("--help", "-h")
        }
        words = iter(args)
        for word in words:
            name, equals, _ = word.partition("=")
            if name not in takes_value:
                return word
            if takes_value[name] and not equals:
                next(words, None)
        return None


def _replay_first(args: list[str]) -> list[str]:
    """Return the words of `check --replay LOG …` as those of `check replay LOG …`."""
    for at, word in enumerate(args):
        option, equals, log = word.partition("=")
        if word == "--":
            break
        if option == _REPLAY_OPTION and equals:
            return [_REPLAY, log, *args[:at], *args[at + 1 :]]
        if option == _REPLAY_OPTION:
            return [_REPLAY, *args[at + 1 : at + 2], *args[:at], *args[at + 2 :]]
    return args


app = typer.Typer(add_completion=False, cls=_Checks)


@app.callback()
def check(
    # Words with it become those of `replay`; it is declared for whoever completes them.
    _log: Annotated[
        Path | None, typer.Option(_REPLAY_OPTION, metavar="LOG", help="Replay a served-feature log.")
    ] = None,
) -> None:
    """Compare what is served with what Spark computes."""


app.command(
    _RUN,
    epilog="What was really served: featurekit check --replay LOG. "
    "A view that is named like one of the commands of check: featurekit check run VIEW",
)(run)
app.command(_REPLAY)(replay)
app.command("history")(history)
app.command("show")(show)
app.command("attribute")(attribute)
