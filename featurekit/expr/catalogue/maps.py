"""Maps. What would have a NULL key, or one key twice, is NULL; of keys, 0.0 and -0.0 are one, and NaN is one."""

from __future__ import annotations

from typing import Final

from featurekit.expr import lambda_rules as lambdas
from featurekit.expr import nested_forms as nested
from featurekit.expr import nested_rules as rules
from featurekit.expr.catalogue.row import ANY, ARRAY, LAMBDA, MAP, STRING, Function, Nulls, Param, scalar
from featurekit.types import Array

_M: Final = Param("map", MAP)
_ENTRY: Final = Param("function", LAMBDA, binds=lambdas.binds_entry)

ROWS: Final[tuple[Function, ...]] = (
    scalar("map", (Param("key_or_value", ANY, optional=True, repeated=True),), rules.map_of, nested.map_of,
           "A map of these keys and values: `map(k, v, k, v, …)`.", nulls=Nulls.ANY, raises=True),
    scalar("map_keys", (_M,), rules.map_part(lambda kind: Array(kind.key)), "map_keys({0})", "The keys, in order."),
    scalar("map_values", (_M,), rules.map_part(lambda kind: Array(kind.value)), "map_values({0})",
           "The values, in the keys' order."),
    scalar("map_entries", (_M,), rules.map_part(rules.entries_of), "map_entries({0})",
           "An array of structs with fields key and value."),
    scalar("map_from_arrays", (Param("keys", ARRAY), Param("values", ARRAY)), rules.from_arrays, nested.from_arrays,
           "A map of an array's keys to another's values; NULL where one is longer.", raises=True),
    scalar("map_from_entries", (Param("entries", ARRAY),), rules.from_entries, nested.from_entries,
           "A map of an array of structs of key and value; NULL where one of them is.", raises=True),
    scalar("map_concat", (Param("map", MAP, repeated=True),), rules.maps, nested.concatenated,
           "One map of all entries.", raises=True),
    scalar("map_contains_key", (_M, Param("key", ANY, edges=("a", 1))), rules.has_key, nested.contains_key,
           "Whether a key is there."),
    scalar("map_filter", (_M, Param("condition", LAMBDA, binds=lambdas.binds_entry)), lambdas.map_filtered,
           "map_filter({0}, {1})", "The entries for which a lambda of key and value is true."),
    scalar("transform_keys", (_M, _ENTRY), lambdas.keys_transformed, nested.keys_transformed,
           "With the keys that a lambda of key and value gives.", raises=True),
    scalar("transform_values", (_M, _ENTRY), lambdas.values_transformed, "transform_values({0}, {1})",
           "With the values that a lambda of key and value gives."),
    scalar("str_to_map",
           (Param("text", STRING),
            Param("between_pairs", STRING, literal=True, optional=True, edges=(",", ";", "[|]"), pattern=True),
            Param("within_pair", STRING, literal=True, optional=True, edges=(":", "=", "\\."), pattern=True)),
           rules.split_into_map, nested.split_into_map,
           "A map of text such as `a:1,b:2`; its delimiters are patterns that match one text, such as `;` or `[|]`. A"
           " part without the second has the value NULL.", raises=True),
)  # fmt: skip
