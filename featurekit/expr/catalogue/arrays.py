"""Arrays, with functions of their elements.

Elements are compared as values are: NaN equals NaN, -0.0 equals 0.0. Inside an array or struct NULL equals NULL and
comes before all else. Positions begin at 1, but those of `a[i]`, `get` and a lambda's index, which begin at 0.
"""

from __future__ import annotations

from typing import Final

from featurekit.expr import lambda_rules as lambdas
from featurekit.expr import nested_forms as nested
from featurekit.expr import nested_rules as rules
from featurekit.expr import spark_forms as forms
from featurekit.expr.catalogue.row import (
    ANY,
    ARRAY,
    BOOLEAN,
    INT,
    INTEGER,
    LAMBDA,
    STRING,
    Exactness,
    Function,
    Nulls,
    Param,
    Takes,
    scalar,
)
from featurekit.types import Array, Boolean, Int32, Int64, Map

_CONTAINER: Final = Takes("array or map", (Array, Map))
_A: Final = Param("array", ARRAY)
_B: Final = Param("other", ARRAY)
_VALUE: Final = Param("value", ANY)
_POSITIONS: Final = (1, 2, -1, 0, 5, -4)

_MAKING: Final = (
    scalar("array", (Param("element", ANY, optional=True, repeated=True),), rules.array_of, forms.listed("array"),
           "An array of these elements, in their common type.", nulls=Nulls.NEVER),
    scalar("sequence",
           (Param("first", INTEGER, literal=True, edges=(1, 0, 5, -3)),
            Param("last", INTEGER, literal=True, edges=(5, 1, 16, -3)),
            Param("step", INTEGER, literal=True, optional=True, edges=(2, 1, -1, 3))),
           rules.sequence, forms.listed("sequence"),
           f"Whole numbers from the first to the last, at most {rules.MAX_LENGTH:,}; all three are literals."),
    scalar("array_repeat", (_VALUE, Param("count", INT, literal=True, edges=(2, 0, 1, -1, 3))), rules.repeated,
           forms.listed("array_repeat"), f"The value so many times, at most {rules.MAX_LENGTH:,}.", nulls=Nulls.ANY),
)  # fmt: skip

_ACCESS: Final = (
    scalar("size", (Param("collection", _CONTAINER),), rules.sized, nested.size,
           "The number of elements or entries; NULL for NULL.", spellings=("size", "cardinality", "array_size")),
    scalar("get_item", (Param("collection", _CONTAINER), Param("key", ANY, edges=(0, 1, 2, -1, 7, "a"))),
           rules.item(widest_index=Int64()), nested.item,
           "`a[i]`: the element at an index, 0 the first; `m[k]`: the value under a key. NULL where there is none.",
           spellings=("get",), raises=True),
    scalar("element_at", (Param("collection", _CONTAINER), Param("key", ANY, edges=(*_POSITIONS, "a"))),
           rules.item(widest_index=Int32()), nested.element_at,
           "The element at a position, -1 the last; or the value under a key of a map. NULL where there is none.",
           spellings=("element_at", "try_element_at"), raises=True),
    scalar("slice", (_A, Param("start", INT, edges=_POSITIONS), Param("length", INT, edges=(2, 0, 1, -1, 100))),
           rules.sliced, nested.sliced,
           "So many elements from a position on, -1 the last; NULL for position 0 and for a negative length.",
           raises=True),
)  # fmt: skip

_SEARCH: Final = (
    scalar("array_contains", (_A, _VALUE), rules.with_value(compared=True, decimals_grow=True, result=Boolean()),
           "array_contains({0}, {1})", "Whether an element equals the value; NULL when none does and one is NULL.",
           raises=True),
    scalar("array_position", (_A, _VALUE), rules.with_value(compared=True, result=Int64()),
           "array_position({0}, {1})", "The position of the first element that equals the value, 0 where none does."),
    scalar("arrays_overlap", (_A, _B), rules.arrays(compared=True, result=Boolean()), "arrays_overlap({0}, {1})",
           "Whether both have an element in common that is not NULL; NULL when not and a NULL might be one.",
           raises=True),
    scalar("array_min", (_A,), rules.extreme_of, "array_min({0})", "The smallest element; NULLs are passed over.",
           raises=True),
    scalar("array_max", (_A,), rules.extreme_of, "array_max({0})",
           "The largest element; NULLs are passed over, NaN is largest.", raises=True),
)  # fmt: skip

_SETS: Final = (
    scalar("array_distinct", (_A,), rules.arrays(compared=True), "array_distinct({0})",
           "Without the elements that came before; -0.0 becomes 0.0."),
    scalar("array_union", (_A, _B), rules.arrays(compared=True), "array_union({0}, {1})",
           "The distinct elements of both, the first array's first; -0.0 becomes 0.0."),
    scalar("array_intersect", (_A, _B), rules.arrays(compared=True), "array_intersect({0}, {1})",
           "The distinct elements of the first that the second has too; -0.0 becomes 0.0."),
    scalar("array_except", (_A, _B), rules.arrays(compared=True), "array_except({0}, {1})",
           "The distinct elements of the first that the second has not; -0.0 becomes 0.0."),
)  # fmt: skip

_CHANGE: Final = (
    scalar("array_remove", (_A, _VALUE), rules.with_value(compared=True), "array_remove({0}, {1})",
           "Without the elements that equal the value."),
    scalar("array_append", (_A, _VALUE), rules.with_value(), "array_append({0}, {1})",
           "With the value, which may be NULL, after the last element.", nulls=Nulls.ANY),
    scalar("array_prepend", (_A, _VALUE), rules.with_value(), "array_prepend({0}, {1})",
           "With the value, which may be NULL, before the first element.", nulls=Nulls.ANY),
    scalar("array_insert", (_A, Param("position", INT, literal=True, edges=(1, 2, -1, -2, 5, -6)), _VALUE),
           rules.inserted, forms.listed("array_insert"),
           "With the value at a position, -1 after the last; NULLs fill the gap to a position outside.",
           nulls=Nulls.ANY),
    scalar("array_compact", (_A,), rules.same_array, "array_compact({0})", "Without the elements that are NULL."),
    scalar("flatten", (_A,), rules.flattened, "flatten({0})",
           "The elements of all arrays in an array; NULL when one of them is.", raises=True),
    scalar("sort_array", (_A, Param("ascending", BOOLEAN, literal=True, optional=True, edges=(True, False))),
           rules.ordered, nested.sorted_array,
           "In order, NULLs first (or descending, NULLs last); equal elements, 0.0 and -0.0 among them, stay as they"
           " come.", exactness=Exactness.REDEFINED),
    scalar("array_sort", (_A,), rules.ordered, "array_sort({0})",
           "In order, NULLs last; equal elements, 0.0 and -0.0 among them, stay as they come."),
    scalar("array_join", (_A, Param("between", STRING, edges=(",", "")),
                          Param("null", STRING, optional=True, edges=("-", ""))),
           rules.joined, forms.listed("array_join"),
           "The strings in a row with a text between; NULLs are left out, or replaced."),
)  # fmt: skip

_LAMBDAS: Final = (
    scalar("transform", (_A, Param("function", LAMBDA, binds=lambdas.binds_element_and_index)), lambdas.transformed,
           forms.listed("transform"), "What a lambda of each element (and its index) gives."),
    scalar("filter", (_A, Param("condition", LAMBDA, binds=lambdas.binds_element_and_index)), lambdas.filtered,
           forms.listed("filter"), "The elements for which a lambda of them (and their index) is true."),
    scalar("exists", (_A, Param("condition", LAMBDA, binds=lambdas.binds_element)), lambdas.tested, "exists({0}, {1})",
           "Whether a condition is true for an element; NULL when it is for none and NULL for one.", raises=True),
    scalar("forall", (_A, Param("condition", LAMBDA, binds=lambdas.binds_element)), lambdas.tested, "forall({0}, {1})",
           "Whether a condition is true for all elements; NULL when it is false for none and NULL for one.",
           raises=True),
    scalar("aggregate",
           (_A, Param("start", ANY), Param("merge", LAMBDA, binds=lambdas.binds_state_and_element),
            Param("finish", LAMBDA, optional=True, binds=lambdas.binds_state)),
           lambdas.aggregated, forms.listed("aggregate"),
           "The start, merged with one element after the other, from first to last; then what `finish` makes of it.",
           spellings=("aggregate", "reduce"), nulls=Nulls.ANY, raises=True),
    scalar("zip_with", (_A, _B, Param("function", LAMBDA, binds=lambdas.binds_both_elements)), lambdas.zipped,
           "zip_with({0}, {1}, {2})",
           "What a lambda of the elements at each position gives; the shorter array is filled with NULL."),
)  # fmt: skip

ROWS: Final[tuple[Function, ...]] = (*_MAKING, *_ACCESS, *_SEARCH, *_SETS, *_CHANGE, *_LAMBDAS)
