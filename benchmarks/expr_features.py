"""Twenty features as people write them, and rows to compute them on."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from featurekit.clock import DAY, parse_instant
from featurekit.expr.nodes import Column, Node
from featurekit.expr.parse import parse_expression
from featurekit.expr.scope import ColumnScope
from featurekit.types import Array, DataType, Date, Float64, Int32, Int64, String, Timestamp

DIMENSIONS: Final = 16
_TYPES: Final[dict[str, DataType]] = {
    "amount": Float64(),
    "mean_amount": Float64(),
    "deviation": Float64(),
    "orders": Int64(),
    "quantity": Int32(),
    "event_time": Timestamp(),
    "signup": Date(),
    "country": String(),
    "email": String(),
    "carrier": String(),
    "lat": Float64(),
    "lon": Float64(),
    "shop_lat": Float64(),
    "shop_lon": Float64(),
    "user_vector": Array(Float64()),
    "item_vector": Array(Float64()),
}
INPUTS: Final = tuple(Column(name=name, type=kind, nullable=True) for name, kind in _TYPES.items())

FEATURES: Final[dict[str, str]] = {
    "distance_km": "haversine(lat, lon, shop_lat, shop_lon)",
    "similarity": "cosine_similarity(user_vector, item_vector)",
    "country_x_carrier": "cross_hash(10000, country, carrier)",
    "log_ratio": "ln(amount / mean_amount)",
    "log_orders": "log1p(CAST(orders AS double))",
    "z_score": "(amount - mean_amount) / (deviation + 1.0D)",
    "hour": "hour(event_time)",
    "local_hour": "hour(from_utc_timestamp(event_time, 'America/New_York'))",
    "is_weekend": "CASE WHEN dayofweek(event_time) IN (1, 7) THEN 1 ELSE 0 END",
    "month": "month(event_time)",
    "days_since_signup": "datediff(event_time, signup)",
    "weeks_since_signup": "datediff(event_time, signup) div 7",
    "email_prefix": "lower(substring(email, 1, 3))",
    "email_length": "length(email)",
    "route": "concat(upper(country), '|', carrier)",
    "size": "CASE WHEN amount < 10D THEN 'small' WHEN amount < 100D THEN 'medium' ELSE 'large' END",
    "items": "coalesce(orders, 0) + quantity",
    "rounded": "round(amount, 2)",
    "large_at_home": "country = 'US' AND amount > 50D",
    "at_least_mean": "greatest(amount, mean_amount, 0.0D)",
}


def nodes() -> list[Node]:
    scope = ColumnScope.of(INPUTS)
    return [parse_expression(text, scope, aggregates_allowed=False) for text in FEATURES.values()]


_START: Final = parse_instant("2024-01-01T00:00Z")
_NULLS: Final = 0.02


def columns(count: int, seed: int) -> dict[str, list[Any]]:
    """Return so many rows, a column of held values for each input; one value in fifty is NULL."""
    random = Random(seed)
    drawn: dict[str, list[Any]] = {name: [] for name in _TYPES}
    for _ in range(count):
        row = _row(random)
        for name, values in drawn.items():
            values.append(None if random.random() < _NULLS else row[name])
    return drawn


def _row(random: Random) -> dict[str, Any]:
    name = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(4, 12)))
    return {
        "amount": random.lognormvariate(3.5, 1.2),
        "mean_amount": random.lognormvariate(3.5, 0.6),
        "deviation": random.expovariate(0.1),
        "orders": random.randint(0, 500),
        "quantity": random.randint(1, 9),
        "event_time": _START + random.randrange(700 * DAY),
        "signup": _START // DAY - random.randint(0, 2000),
        "country": random.choice(("US", "DE", "FR", "IN", "BR", "JP", "GB", "ca")),
        "email": f"{name.capitalize()}@{random.choice(('example.com', 'mail.example.org'))}",
        "carrier": random.choice(("AA", "UA", "DL", "B6", "WN", "EV")),
        "lat": random.uniform(-60, 70),
        "lon": random.uniform(-180, 180),
        "shop_lat": random.uniform(-60, 70),
        "shop_lon": random.uniform(-180, 180),
        "user_vector": tuple(random.gauss(0, 1) for _ in range(DIMENSIONS)),
        "item_vector": tuple(random.gauss(0, 1) for _ in range(DIMENSIONS)),
    }
