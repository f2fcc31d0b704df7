"""The twenty features as people would compute them without featurekit: in DuckDB, and by hand in pandas.

Not the same bits: another hash, the machine's own logarithm and sine, and NULL is NaN in pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.expr_features import INPUTS
from featurekit.types import Array, DataType

_DUCKDB_TYPES: Final = {"string": "VARCHAR", "timestamp": "TIMESTAMP", "int": "INTEGER"}
_DUCKDB: Final[dict[str, str]] = {
    "distance_km": "2 * 6371.0088 * asin(sqrt(power(sin(radians(shop_lat - lat) / 2), 2) + cos(radians(lat)) "
    "* cos(radians(shop_lat)) * power(sin(radians(shop_lon - lon) / 2), 2)))",
    "similarity": "list_cosine_similarity(user_vector, item_vector)",
    "country_x_carrier": "hash(country, carrier) % 10000",
    "log_ratio": "CASE WHEN amount > 0 AND mean_amount > 0 THEN ln(amount / mean_amount) END",
    "log_orders": "CASE WHEN orders > -1 THEN ln(1.0 + orders) END",
    "z_score": "(amount - mean_amount) / (deviation + 1.0)",
    "hour": "hour(event_time)",
    "local_hour": "hour(event_time AT TIME ZONE 'UTC' AT TIME ZONE 'America/New_York')",
    "is_weekend": "CASE WHEN dayofweek(event_time) IN (0, 6) THEN 1 ELSE 0 END",
    "month": "month(event_time)",
    "days_since_signup": "date_diff('day', signup, CAST(event_time AS DATE))",
    "weeks_since_signup": "date_diff('day', signup, CAST(event_time AS DATE)) // 7",
    "email_prefix": "lower(substring(email, 1, 3))",
    "email_length": "length(email)",
    "route": "upper(country) || '|' || carrier",
    "size": "CASE WHEN amount < 10 THEN 'small' WHEN amount < 100 THEN 'medium' ELSE 'large' END",
    "items": "coalesce(orders, 0) + quantity",
    "rounded": "round(amount, 2)",
    "large_at_home": "country = 'US' AND amount > 50",
    "at_least_mean": "greatest(amount, mean_amount, 0.0)",
}


def _duckdb_type(kind: DataType) -> str:
    if isinstance(kind, Array):
        return f"{_duckdb_type(kind.element)}[]"
    return _DUCKDB_TYPES.get(kind.name, kind.name.upper())


def duckdb_row(row: Sequence[Any]) -> Callable[[], Any]:
    """Return what runs the prepared statement for one row, its values written as literals beforehand."""
    connection = _duckdb()
    kinds = [_duckdb_type(column.type) for column in INPUTS]
    given = ", ".join(f"CAST(? AS {kind}) AS {column.name}" for column, kind in zip(INPUTS, kinds, strict=True))
    connection.execute(f"PREPARE features AS SELECT {_selected()} FROM (SELECT {given})")
    # An EXECUTE takes no bound values.
    values = ", ".join(f"CAST({_literal(value)} AS {kind})" for value, kind in zip(row, kinds, strict=True))
    execute = f"EXECUTE features({values})"
    return lambda: connection.execute(execute).fetchone()


def _literal(value: Any) -> str:
    return repr(list(value)) if isinstance(value, tuple) else f"'{value}'"


def duckdb_rows(table: pa.Table) -> Callable[[], Any]:
    """Return what runs the prepared statement over an Arrow table, Arrow at both ends."""
    connection = _duckdb()
    connection.register("given", table)
    connection.execute(f"PREPARE features AS SELECT {_selected()} FROM given")
    return lambda: connection.sql("EXECUTE features").to_arrow_table()


def _selected() -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in _DUCKDB.items())


def _duckdb() -> Any:
    import duckdb  # here: only this benchmark needs it

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def pandas_rows(frame: pd.DataFrame) -> Callable[[], pd.DataFrame]:
    """Return what computes the features of a DataFrame by hand; its vectors are 2-d arrays' rows."""
    return lambda: _by_hand(frame)


def _by_hand(given: pd.DataFrame) -> pd.DataFrame:
    lat, lon, shop_lat, shop_lon = (np.radians(given[name]) for name in ("lat", "lon", "shop_lat", "shop_lon"))
    chord = np.sin((shop_lat - lat) / 2) ** 2 + np.cos(lat) * np.cos(shop_lat) * np.sin((shop_lon - lon) / 2) ** 2
    has_both = given["user_vector"].notna() & given["item_vector"].notna()
    users = np.array(given.loc[has_both, "user_vector"].tolist())
    items = np.array(given.loc[has_both, "item_vector"].tolist())
    similarity = (users * items).sum(axis=1) / np.sqrt((users**2).sum(axis=1) * (items**2).sum(axis=1))
    days = (given["event_time"].dt.tz_localize(None).dt.normalize() - given["signup"]).dt.days
    return pd.DataFrame(
        {
            "distance_km": 2 * 6371.0088 * np.arcsin(np.sqrt(chord)),
            "similarity": pd.Series(similarity, index=given.index[has_both]).reindex(given.index),
            "country_x_carrier": pd.util.hash_pandas_object(given[["country", "carrier"]], index=False) % 10000,
            "log_ratio": np.log(given["amount"] / given["mean_amount"]),
            "log_orders": np.log1p(given["orders"]),
            "z_score": (given["amount"] - given["mean_amount"]) / (given["deviation"] + 1),
            "hour": given["event_time"].dt.hour,
            "local_hour": given["event_time"].dt.tz_convert("America/New_York").dt.hour,
            "is_weekend": (given["event_time"].dt.dayofweek >= 5).astype(int),
            "month": given["event_time"].dt.month,
            "days_since_signup": days,
            "weeks_since_signup": days // 7,
            "email_prefix": given["email"].str[:3].str.lower(),
            "email_length": given["email"].str.len(),
            "route": given["country"].str.upper() + "|" + given["carrier"],
            "size": np.select([given["amount"] < 10, given["amount"] < 100], ["small", "medium"], "large"),
            "items": given["orders"].fillna(0) + given["quantity"],
            "rounded": given["amount"].round(2),
            "large_at_home": (given["country"] == "US") & (given["amount"] > 50),
            "at_least_mean": np.maximum(np.fmax(given["amount"], given["mean_amount"]), 0),
        }
    )
