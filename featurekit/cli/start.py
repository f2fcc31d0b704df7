"""`init`: a small project that works at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import typer

from featurekit.cli.answer import Answer, Line, Tone
from featurekit.cli.context import invocation
from featurekit.config import FILE_NAME
from featurekit.errors import SettingsError

SETTINGS: Final = """\
# Paths are relative to this file. Environment variables (FEATUREKIT_PROJECT, …) and flags override it.
project = "example"
environment = "dev"
now = "2026-01-08T12:00Z"     # the example's orders end here; remove this line when yours go on

# [redis]
# url = "redis://localhost:6379"   # left out: an embedded server on this machine, `featurekit up`
"""

DEFINITIONS: Final = """\
# One example of each kind. `featurekit validate` checks it, `featurekit explain customer_spend` shows what it means.

entities:
  customer: {join_keys: {customer_id: bigint}}

sources:
  orders:
    path: data/orders.csv
    columns: {customer_id: bigint, amount: "decimal(10,2)", ordered_at: timestamp, recorded_at: timestamp}
    event_timestamp: ordered_at        # when it happened
    created_timestamp: recorded_at     # when it could be known

feature_views:
  customer_spend:
    entity: customer
    source: orders
    refresh: 1d                        # a new value each day at 00:00 UTC …
    availability_delay: 2h             # … which is served from 02:00
    features:
      orders_7d:   {sql: count(*), window: 7d, default: 0}
      spend_7d:    {sql: sum(amount), window: 7d}
      last_amount: {sql: amount, ttl: 30d}

on_demand_feature_views:
  basket:
    request: {basket_amount: double}   # what is known only when somebody asks
    features:
      times_usual: {sql: basket_amount / (CAST(customer_spend.spend_7d AS DOUBLE) / customer_spend.orders_7d)}

feature_services:
  checkout: {features: [customer_spend, basket]}
"""

ORDERS: Final = """\
customer_id,amount,ordered_at,recorded_at
1,20.00,2026-01-02T09:15:00Z,2026-01-02T09:16:00Z
1,35.50,2026-01-05T18:40:00Z,2026-01-05T18:41:00Z
2,12.25,2026-01-04T11:05:00Z,2026-01-04T11:06:00Z
2,8.00,2026-01-06T20:30:00Z,2026-01-06T20:31:00Z
3,99.90,2026-01-07T07:55:00Z,2026-01-07T07:56:00Z
1,5.75,2026-01-07T22:10:00Z,2026-01-07T22:11:00Z
"""

FILES: Final = {FILE_NAME: SETTINGS, "feature_defs/example.yaml": DEFINITIONS, "data/orders.csv": ORDERS}
NEXT: Final = (
    "featurekit validate",
    "featurekit plan",
    "featurekit register",
    "featurekit materialize",
    "featurekit lookup checkout customer_id=1 basket_amount=40",
    "featurekit check",
)


def init(context: typer.Context) -> Answer:
    """Write a small project that works into this folder.

    Writes featurekit.toml, feature_defs/example.yaml and data/orders.csv, and overwrites nothing.
    """
    invocation(context)
    written = write_project(Path.cwd())
    lines = (
        *(Line(f"wrote {path.relative_to(Path.cwd())}", Tone.GOOD) for path in written),
        Line("next:"),
        *(Line(f"  {command}") for command in NEXT),
    )
    return Answer(document={"written": [str(path) for path in written], "next": list(NEXT)}, blocks=lines)


def write_project(folder: Path) -> tuple[Path, ...]:
    """Return the files of the example, written into `folder`; SettingsError, and nothing written, if one is there."""
    definitions = folder / "feature_defs"
    there = [name for name in FILES if (folder / name).exists()]
    there += [str(path.relative_to(folder)) for path in sorted(definitions.glob("**/*.y*ml")) if definitions.is_dir()]
    if there:
        raise SettingsError(
            "this folder holds a project already",
            where=", ".join(dict.fromkeys(there)),
            why="init overwrites nothing, and adds no example to definitions that are there",
            try_="an empty folder; or write the file that is missing, docs/cli.md lists the settings",
        )
    written: list[Path] = []
    for name, text in FILES.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            for earlier in written:
                earlier.unlink(missing_ok=True)
            raise SettingsError("the project can't be written here", where=str(path), why=str(error)) from error
        written.append(path)
    return tuple(written)
