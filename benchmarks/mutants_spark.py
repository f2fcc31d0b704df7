"""The Spark leg of `benchmarks.mutants`: SQL that a defect changed, run beside what is recorded.

    python -m benchmarks.mutants_spark --render ANSWER.json            the SQL of every recorded case, in this tree
    python -m benchmarks.mutants_spark --judge CHANGED.json ANSWER.json

A defect of the SQL changes text, not code that runs: so one session judges all of them, each by the cases whose SQL it
changed, with ANSI on and off. What raises is seen, as is another type or another bit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from featurekit.arrow_types import from_arrow
from featurekit.targets.spark import render
from tests.semantics import edges, values
from tests.semantics.corpus import Recorded
from tests.semantics.legs import CASES, differences, parsed
from tests.semantics.session import frame, start

_BATCH: Final = 60
_RECORDED: Final = {case.id: case for case in CASES if case.type is not None}


def main(arguments: Sequence[str]) -> int:
    task, *paths = arguments
    if task == "--render":
        answer: dict[str, Any] = {name: rendered(case) for name, case in _RECORDED.items()}
    else:
        changed = json.loads(Path(paths[0]).read_text(encoding="utf-8"))
        answer = judged(changed)
    Path(paths[-1]).write_text(json.dumps(answer), encoding="utf-8")
    return 0


def rendered(case: Recorded) -> str:
    try:
        return render(parsed(case.expression), lambda column: column.name)
    except Exception as error:  # noqa: BLE001 - whatever a defect raises is no SQL, and Spark will say so
        return f"raised {error!r}"


def judged(changed: Mapping[str, Mapping[str, str]]) -> dict[str, str | None]:
    """Return by defect what Spark sees of it, None where all of its cases are as recorded."""
    spark = start()
    table = pa.table({name: values.arrow_column(column, edges.TYPES[name]) for name, column in edges.DATA.items()})
    table = table.append_column("row_number", pa.array(range(edges.ROWS), pa.int32()))
    # Not a local relation: the optimizer would compute that by itself, and no plan would run.
    frame(spark, table).coalesce(1).createOrReplaceTempView("edges")
    return {defect: _seen(spark, list(texts.items())) for defect, texts in changed.items()}


def _seen(spark: Any, texts: Sequence[tuple[str, str]]) -> str | None:
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for first in range(0, len(texts), _BATCH):
            if found := _differs(spark, texts[first : first + _BATCH]):
                return f"ANSI {ansi}: {found}"[:500]
    return None


def _differs(spark: Any, texts: Sequence[tuple[str, str]]) -> str | None:
    columns = ", ".join(f"{sql} AS v{place}" for place, (_, sql) in enumerate(texts))
    try:
        answer = spark.sql(f"SELECT {columns} FROM edges ORDER BY row_number").toArrow()
    except Exception as error:  # noqa: BLE001 - of many kinds, and each is what we ask for
        return f"{texts[0][0]} or one of the {len(texts) - 1} after it raised {str(error)[:200]}"
    for place, (name, _) in enumerate(texts):
        case = _RECORDED[name]
        kind = from_arrow(answer.schema.field(f"v{place}").type)
        if kind != parsed(case.expression).type:
            return f"{name}: type {kind.name}"
        if found := differences(case, values.held_values(answer[f"v{place}"])):
            return f"{name}: {found[0]}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
