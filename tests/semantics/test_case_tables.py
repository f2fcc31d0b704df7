"""The recorded letter cases are those of the Spark at hand, for every code point."""

from __future__ import annotations

from typing import Any

import pytest

from tests.semantics import record_case


@pytest.mark.long  # they change with the Java that they were recorded on alone
@pytest.mark.spark
def test_case_tables_are_sparks_for_every_code_point(spark: Any) -> None:
    answer = record_case.ask(spark)
    for name, table in record_case.recorded().items():
        assert answer[name] == table, name
