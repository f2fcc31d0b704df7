"""`check`: is what is served what training says? Each command is a module of its own."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

from featurekit.cli.check_run import run

_RUN: Final = "run"


class _Checks(TyperGroup):
    """The commands; words that name none of them are those of `check run`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
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


app = typer.Typer(add_completion=False, cls=_Checks)


@app.callback()
def check() -> None:
    """Compare what is served with what Spark computes."""


app.command(_RUN, epilog="A view that is named like one of the commands of check: featurekit check run VIEW")(run)
