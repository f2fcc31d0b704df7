"""JSON: typed values at a path.

Spark's own get_json_object prints fractions as the Java it runs on does, and two Javas print some differently. So
values are read by type here; a fraction has a form as a double, and none as text.
"""

from __future__ import annotations

from typing import Final

from featurekit.expr import text_rules as rules
from featurekit.expr.catalogue.row import STRING, Exactness, Function, Param, scalar
from featurekit.expr.json_path import ADVICE, PathError, parse_path
from featurekit.expr.nodes import Call, Node
from featurekit.expr.signatures import Rule, Signature, literal_text, mismatch
from featurekit.expr.spark_forms import Form
from featurekit.types import Array, Boolean, DataType, Float64, Int32, Int64, String

_PATHS: Final = ("$.a", "$.a.b", "$.a[0]", "$[0]", "$['a']", "$[1].a", "$.b['a b'][0]")
_JSON: Final = Param("text", STRING, edges=(
    '{"a":1}', '{"a":"x","b":{"a b":[1,2.5]}}', '[1,{"a":true}]', '{"a":[1.5e3,null]}', "{'a':'it'}",
    '{"a":{"b":null}}',
    '{"a":"😀\\n"}', '{"a":["😀\\u0001"]}', '{"a":01}', '{"a":1}x', '{"a":9223372036854775808}', '{"a":-0}', "",
))  # fmt: skip
_PATH: Final = Param("path", STRING, literal=True, edges=_PATHS)
# What a fraction looks like on its own, and within an object or array.
_NO_FRACTION: Final = (
    r"(?s)^(?!-?[0-9]+[.][0-9]+(?:E[+-]?[0-9]+)?\z)(?![\[{](?:.*[\[,:])?-?[0-9]+[.][0-9]).*"
)  # fmt: skip
_NUMBER: Final = r"^-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?\z"
_INTEGER: Final = r"^-?[0-9]+\z"


def _at_path(result: DataType) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        try:
            parse_path(literal_text(args, 1, "the path"))
        except PathError as error:
            raise mismatch(args, str(error), ADVICE) from None
        return rules.text(String(), result=result)(args)

    return rule


def _sql(pattern: str) -> str:
    return f"CAST(X'{pattern.encode().hex()}' AS STRING)"


def _found(args: tuple[str, ...]) -> str:
    return f"get_json_object({', '.join(args)})"


def _as_text(_: Call, args: tuple[str, ...]) -> str:
    return f"get(regexp_extract_all({_found(args)}, {_sql(_NO_FRACTION)}, 0), 0)"


def _as_number(pattern: str, kind: str) -> Form:
    return lambda _, args: f"try_cast(regexp_extract({_found(args)}, {_sql(pattern)}, 0) AS {kind})"


def _as_boolean(_: Call, args: tuple[str, ...]) -> str:
    return f"(CASE {_found(args)} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END)"


ROWS: Final[tuple[Function, ...]] = (
    scalar("json_string", (_JSON, _PATH), _at_path(String()), _as_text,
           "The text at a path; an integer, true or false as it is written, an object or array without spaces. NULL "
           "for a number with a fraction or exponent, what holds one, and text that looks like either.",
           raises=True, exactness=Exactness.REDEFINED),
    scalar("json_double", (_JSON, _PATH), _at_path(Float64()), _as_number(_NUMBER, "DOUBLE"),
           "The number at a path, or the one that text there is.", raises=True, exactness=Exactness.REDEFINED),
    scalar("json_bigint", (_JSON, _PATH), _at_path(Int64()), _as_number(_INTEGER, "BIGINT"),
           "The integer at a path, or the one that text there is; NULL where it does not fit.",
           raises=True, exactness=Exactness.REDEFINED),
    scalar("json_boolean", (_JSON, _PATH), _at_path(Boolean()), _as_boolean,
           "The true or false at a path.", raises=True, exactness=Exactness.REDEFINED),
    scalar("json_array_length", (_JSON,), rules.text(result=Int32()), "json_array_length({0})",
           "How many elements the array has; NULL where the text is none.", raises=True),
    scalar("json_object_keys", (_JSON,), rules.text(result=Array(String())), "json_object_keys({0})",
           "The names of the object's members, in order; NULL where the text is none.", raises=True),
)  # fmt: skip
