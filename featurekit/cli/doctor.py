"""`doctor`: is everything there that featurekit needs, and does it fit together?"""

from __future__ import annotations

import typer

from featurekit.cli.answer import Answer, Line, Table, Tone, Toned, counted
from featurekit.cli.checks import Check, Verdict, exit_code, run_checks
from featurekit.cli.context import invocation

_TONES = {Verdict.OK: Tone.GOOD, Verdict.WARNING: Tone.WARNING, Verdict.FAILED: Tone.BAD}


def doctor(context: typer.Context) -> Answer:
    """Check this machine: Python, Java, Redis, registry, definitions.

    Exits with 2 where settings or definitions are wrong, with 3 where an outside system fails. Starts nothing.
    """
    checks = run_checks(invocation(context).settings())
    code = exit_code(checks)
    rows = [row for check in checks for row in _rows(check)]
    failures = sum(check.verdict is Verdict.FAILED for check in checks)
    verdict = Line("everything that is needed is there", Tone.GOOD)
    if code:
        verdict = Line(f"{counted(failures, 'check')} failed", Tone.BAD)
    document = {
        "passed": not code,
        "checks": [
            {"name": check.name, "verdict": check.verdict.value, "detail": check.detail, "try": check.try_}
            for check in checks
        ],
    }
    return Answer(document=document, blocks=(Table(rows=tuple(rows)), verdict), exit_code=code)


def _rows(check: Check) -> list[tuple[Toned | str, ...]]:
    rows: list[tuple[Toned | str, ...]] = [
        (Toned(check.verdict.value, _TONES[check.verdict]), check.name, check.detail)
    ]
    if check.try_:
        rows.append(("", "", Toned(f"try  {check.try_}", Tone.FAINT)))
    return rows
