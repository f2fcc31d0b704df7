"""Buckets, distances and similarity.

Spark has no function for most of these. They are defined here, by what they are in Spark SQL; sums go through arrays in
element order.
"""

from __future__ import annotations

from typing import Final

from featurekit.expr import buckets_forms as forms
from featurekit.expr import maths_rules as rules
from featurekit.expr import signatures
from featurekit.expr.catalogue.row import ARRAY, INTEGER, NUMBER, Exactness, Function, Param, scalar

_OURS: Final = Exactness.REDEFINED
_LATITUDES = (40.64, 90.0, -90.0, 0.0, -33.95, 91.0)
_LONGITUDES = (-73.78, 180.0, -180.0, 0.0, 151.18, 200.0)
_PLACES = (Param("lat1", NUMBER, edges=_LATITUDES), Param("lon1", NUMBER, edges=_LONGITUDES),
           Param("lat2", NUMBER, edges=_LATITUDES), Param("lon2", NUMBER, edges=_LONGITUDES))  # fmt: skip
_PAIR = (Param("a", ARRAY), Param("b", ARRAY))

ROWS: Final[tuple[Function, ...]] = (
    scalar("width_bucket",
           (Param("a", NUMBER), Param("low", NUMBER, edges=(0.0, -10.0, 10.0)),
            Param("high", NUMBER, edges=(10.0, 100.0, 0.0)), Param("count", INTEGER, edges=(5, 1, 100, 0, -1))),
           rules.width_bucket, "width_bucket({0}, {1}, {2}, {3})",
           "The bucket, 1 to the count, of so many equal ones between two bounds; 0 below and count + 1 above.",
           raises=True),
    scalar("bucketize",
           (Param("a", NUMBER), Param("bound", NUMBER, literal=True, repeated=True, edges=(0, 1, 10, 100))),
           rules.bucketize, forms.bucketize,
           "How many of the bounds the number reaches: 0 below the first. Bounds ascend; NaN is above all.",
           exactness=_OURS),
    scalar("log_ratio", (Param("a", NUMBER), Param("b", NUMBER)), signatures.doubles, "ln(try_divide({0}, {1}))",
           "ln(a / b); NULL unless a / b is above zero.", exactness=_OURS, raises=True),
    scalar("haversine", _PLACES, signatures.doubles, forms.haversine,
           "The great-circle distance in kilometres of two places given in degrees, on a sphere of radius 6371.0088; "
           "NULL for a latitude beyond 90 or a longitude beyond 180.",
           exactness=_OURS, raises=True),
    scalar("dot_product", _PAIR, rules.vectors, forms.dot_product,
           "The sum of the products, in element order, each sum a double; NULL when the lengths differ or an element "
           "is NULL.", exactness=_OURS, raises=True),
    scalar("cosine_similarity", _PAIR, rules.vectors, forms.cosine_similarity,
           "a·b / (|a| |b|) of such sums; NULL as dot_product is, and when a norm is zero.", exactness=_OURS,
           raises=True),
    scalar("l2_norm", (Param("a", ARRAY),), rules.vectors, forms.l2_norm,
           "The root of the sum of the squares, in element order; NULL when an element is NULL.", exactness=_OURS,
           raises=True),
    scalar("l2_distance", _PAIR, rules.vectors, forms.l2_distance,
           "The root of the sum of the squared differences; NULL as dot_product is.", exactness=_OURS, raises=True),
)  # fmt: skip
