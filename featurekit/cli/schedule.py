"""`schedule`: what the declared cadence asks for, done as it becomes due, for as long as the program runs."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from featurekit.alerting.sinks import sinks_of
from featurekit.batch_state import batch_state
from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import Invocation, invocation
from featurekit.cli.show_schedule import performed_answer, plan_answer
from featurekit.config import Settings
from featurekit.errors import InputError, RefreshRunningError
from featurekit.feature_store import FeatureStore
from featurekit.monitoring.batch import listen, write_metrics
from featurekit.scheduled_loop import ScheduledLoop
from featurekit.scheduled_work import ScheduledWork
from featurekit.scheduling.plan import Job

_LOOPBACK = "127.0.0.1"


def schedule(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, and end: for cron and its like.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what is due and what comes next.")] = False,
    only: Annotated[
        list[Job] | None,
        typer.Option("--only", help="This job, and no other but those named beside it: instances can share them."),
    ] = None,
    metrics_file: Annotated[
        Path | None,
        typer.Option("--metrics-file", metavar="FILE", help="Write metrics there, for node_exporter's textfiles."),
    ] = None,
    metrics_host: Annotated[
        str, typer.Option("--metrics-host", metavar="HOST", help="0.0.0.0 for a Prometheus elsewhere.")
    ] = _LOOPBACK,
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", metavar="PORT", min=1, max=65535, help="Show metrics on this port, too."),
    ] = None,
) -> Answer:
    """Refresh, check and clean up by the declared cadence.

    Views are refreshed as their refreshes become due, all are checked once a day, and what nothing needs is dropped.
    One instance works at a time. What was missed while none ran is caught up. Stops after the task at hand on SIGTERM
    or Ctrl-C; killed, it goes on where it was.
    """
    asked = invocation(context)
    settings = asked.settings()
    jobs = only or tuple(Job)
    if dry_run:
        with FeatureStore(settings) as store:
            return plan_answer(ScheduledWork(store, jobs).plan())
    sinks_of(settings)  # wrong ones are told now, and not when there is something to tell
    if once:
        return _once(settings, jobs, metrics_file)
    if settings.now is not None:
        why = "a clock that stands still never comes to what is due next"
        raise InputError("schedule runs by the machine's clock", why=why, try_="--once --now TIME")
    loop = ScheduledLoop(settings, _command(asked, jobs, metrics_file), asked.output.error, jobs=jobs)
    if metrics_port is not None:
        listen(loop.state, metrics_host, metrics_port)
    # In a thread: a signal's handler may come while its own thread holds a lock that `stop` takes.
    with _signalled(lambda: threading.Thread(target=loop.stop).start()):
        line = Line(f"scheduling {settings.project} ({settings.environment})", Tone.GOOD)
        asked.output.answer(Answer(document={"project": settings.project}, blocks=(line,)))
        loop.run()
    return Answer(document={"stopped": True}, blocks=(Line("stopped"),))


def _once(settings: Settings, jobs: Collection[Job], metrics_file: Path | None) -> Answer:
    stopped = threading.Event()
    with _signalled(stopped.set), FeatureStore(settings) as store:
        work = ScheduledWork(store, jobs)
        try:
            done, delivery = work.run(is_stopped=stopped.is_set)
        except RefreshRunningError as error:
            # The other one does what is due; who runs this every minute is to hear of failures alone.
            return Answer(document={"running": error.parts()}, blocks=(Line("another instance is at work"),))
        if metrics_file is not None:
            write_metrics(lambda: batch_state(store, ScheduledWork(store).plan()), metrics_file)
        return performed_answer(done, delivery)


@contextmanager
def _signalled(stop: Callable[[], None]) -> Iterator[None]:
    """Have SIGTERM and Ctrl-C call `stop` while the block runs, so that what is under way ends first."""
    before = {each: signal.signal(each, lambda *_: stop()) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, action in before.items():
            signal.signal(each, action)


def _command(asked: Invocation, jobs: Collection[Job], metrics_file: Path | None) -> tuple[str, ...]:
    """Return the command line of the process that works, with the global options of this one."""
    words = [sys.executable, "-m", "featurekit.cli.app", "schedule", "--once"]
    words += [f"--only={job}" for job in jobs]
    if metrics_file is not None:
        words += ["--metrics-file", str(metrics_file)]
    if asked.settings_file is not None:
        words += ["--settings", str(asked.settings_file)]
    for name, value in asked.flags.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return (*words, "--json") if asked.output.as_json else tuple(words)
