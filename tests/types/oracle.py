"""The types that Spark's analyser gives to expressions: many a query, none of them run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from tests.semantics import edges, values
from tests.semantics.session import frame

_BATCH: Final = 100
_UNKNOWN_FUNCTION: Final = "UNRESOLVED_ROUTINE"


class Analyser:
    """Spark, asked for the types of SQL text over the columns of the edge table."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        table = pa.table({name: values.arrow_column([], kind) for name, kind in edges.TYPES.items()})
        frame(spark, table).createOrReplaceTempView("typed")
        spark.conf.set("spark.sql.ansi.enabled", "true")

    def types(self, texts: Sequence[str]) -> list[str | None]:
        """Return a type for each text, its error where Spark refuses it; None where Spark has no such function."""
        found: list[str | None] = []
        for first in range(0, len(texts), _BATCH):
            found += self._types(texts[first : first + _BATCH])
        return found

    def _types(self, texts: Sequence[str]) -> list[str | None]:
        from pyspark.errors import PySparkException  # not at the top: this module's neighbours need no Spark

        columns = ", ".join(f"{text} AS v{place}" for place, text in enumerate(texts))
        try:
            schema = self._spark.sql(f"SELECT {columns} FROM typed").schema
        except PySparkException as error:
            if len(texts) == 1:
                return [_refusal(error)]
            middle = len(texts) // 2
            return [*self._types(texts[:middle]), *self._types(texts[middle:])]
        return [str(field.dataType.simpleString()) for field in schema]


def _refusal(error: Any) -> str | None:
    condition = str(error.getCondition() or "")
    if condition.startswith(_UNKNOWN_FUNCTION):
        return None
    return f"refused: {condition} {str(error).splitlines()[0][:200]}"
