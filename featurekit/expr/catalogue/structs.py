"""Structs. A field is found by its name as it is written; no two names of a struct differ in case only."""

from __future__ import annotations

from typing import Final

from featurekit.expr import nested_forms as nested
from featurekit.expr import nested_rules as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import ANY, STRING, Function, Nulls, Param, Takes, scalar, syntax
from featurekit.types import Array, Struct

ROWS: Final[tuple[Function, ...]] = (
    scalar("named_struct", (Param("name_or_value", ANY, repeated=True, edges=("a", "b", "c")),), rules.named_struct,
           forms.listed("named_struct"), "A struct of these fields: `named_struct('a', x, 'b', y, …)`.",
           nulls=Nulls.NEVER),
    syntax("struct", (Param("value", ANY, repeated=True),),
           "A struct of fields named after their columns, else col1, col2 and so on.", "struct"),
    scalar("get_field",
           (Param("struct", Takes("struct, or array of structs", (Struct, Array))),
            Param("name", STRING, literal=True, edges=("a", "b", "c"))),
           rules.field_of, nested.field, "`s.name`: a field; of an array of structs, an array of it from each.",
           spellings=(), raises=True),
)  # fmt: skip
