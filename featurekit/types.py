"""The logical types: Spark's, by Spark's names, without Spark.

How a value of each type is held in Python, everywhere inside featurekit:

    boolean                     bool
    tinyint smallint int bigint int, within the type's range
    float                       float that is exactly a float32
    double                      float
    decimal(p,s)                decimal.Decimal with exactly s fraction digits
    string                      str
    binary                      bytes
    date                        int, days since 1970-01-01
    timestamp                   int, microseconds since 1970-01-01T00:00Z
    timestamp_ntz               int, microseconds since 1970-01-01T00:00 of a clock without zone
    array<t>                    tuple of elements
    map<k,v>                    tuple of (key, value) pairs, in the map's order
    struct<a:t,b:u>             tuple of the fields' values
    void                        None

NULL is None, also inside arrays, maps and structs. Nested values are tuples, so that every value can be hashed and none
is changed by who holds it. At the SDK's edge `clock` turns dates and timestamps into `datetime` values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from featurekit.errors import InputError


@dataclass(frozen=True, slots=True)
class DataType:
    """A logical type; `name` is Spark's spelling of it."""

    @property
    def name(self) -> str:
        return _SPARK_NAMES[type(self)]

    @property
    def sql(self) -> str:
        """The type as SQL text has it, whatever its fields are called."""
        return self.name.upper()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Null(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Boolean(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Int8(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Int16(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Int32(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Int64(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Float32(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Float64(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Decimal(DataType):
    """An exact number of `precision` digits (1 to 38), `scale` of them after the point (0 to precision)."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        if not (1 <= self.precision <= 38 and 0 <= self.scale <= self.precision):
            raise InputError(
                f"decimal({self.precision},{self.scale}) is not a type",
                why="the precision is 1 to 38 and the scale 0 to the precision",
            )

    @property
    def name(self) -> str:
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class String(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Binary(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Date(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Timestamp(DataType):
    pass


@dataclass(frozen=True, slots=True)
class TimestampNtz(DataType):
    pass


@dataclass(frozen=True, slots=True)
class Array(DataType):
    element: DataType

    @property
    def name(self) -> str:
        return f"array<{self.element.name}>"

    @property
    def sql(self) -> str:
        return f"ARRAY<{self.element.sql}>"


@dataclass(frozen=True, slots=True)
class Map(DataType):
    key: DataType
    value: DataType

    @property
    def name(self) -> str:
        return f"map<{self.key.name},{self.value.name}>"

    @property
    def sql(self) -> str:
        return f"MAP<{self.key.sql}, {self.value.sql}>"


@dataclass(frozen=True, slots=True)
class Struct(DataType):
    """Named fields in order; a name is found as it is written, and no two differ in case only."""

    fields: tuple[tuple[str, DataType], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.fields]
        for name in names:
            if not name or name != name.strip() or not _PUNCTUATION.isdisjoint(name):
                raise InputError(
                    f"{name!r} can't name a field of a struct",
                    why="a type is written as struct<name:type,…>, and would read back as another one",
                    try_="letters, digits and _",
                )
        if len({name.lower() for name in names}) != len(names):
            raise InputError(
                f"two fields of a struct have one name: {', '.join(names)}",
                why="Spark does not tell upper and lower case in names apart",
                try_="rename one",
            )

    def get(self, name: str) -> DataType | None:
        """Return the type of the field of this very name."""
        return next((kind for field, kind in self.fields if field == name), None)

    @property
    def name(self) -> str:
        return f"struct<{','.join(f'{name}:{kind.name}' for name, kind in self.fields)}>"

    @property
    def sql(self) -> str:
        return f"STRUCT<{', '.join(f'`{name}`: {kind.sql}' for name, kind in self.fields)}>"


_PUNCTUATION: Final = frozenset("`,:<>()\n")
_SPARK_NAMES: Final[dict[type[DataType], str]] = {
    Null: "void",
    Boolean: "boolean",
    Int8: "tinyint",
    Int16: "smallint",
    Int32: "int",
    Int64: "bigint",
    Float32: "float",
    Float64: "double",
    Decimal: "decimal",
    String: "string",
    Binary: "binary",
    Date: "date",
    Timestamp: "timestamp",
    TimestampNtz: "timestamp_ntz",
}

# The spellings accepted in definitions: Spark's, and the sized names that people write.
_BY_NAME: Final[dict[str, DataType]] = {
    **{name: kind() for kind, name in _SPARK_NAMES.items() if kind not in (Decimal, Null)},
    "bool": Boolean(),
    "int8": Int8(),
    "int16": Int16(),
    "int32": Int32(),
    "integer": Int32(),
    "int64": Int64(),
    "long": Int64(),
    "float32": Float32(),
    "float64": Float64(),
}
TYPE_NAMES: Final[tuple[str, ...]] = (*sorted(_BY_NAME), "decimal(p,s)", "array<t>", "map<k,v>", "struct<a:t,…>")

INTEGERS: Final[tuple[DataType, ...]] = (Int8(), Int16(), Int32(), Int64())
INTEGER_BITS: Final[dict[DataType, int]] = {Int8(): 8, Int16(): 16, Int32(): 32, Int64(): 64}
_NESTED = re.compile(r"(array|map|struct)\s*<(.*)>", re.IGNORECASE | re.DOTALL)
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)")


def parse_type(text: str) -> DataType:
    """Return the type that `text` names, in Spark's spelling or a sized one; InputError where it names none.

    >>> parse_type("int64").name, parse_type("decimal(10, 2)").name, parse_type("array<map<string, int>>").name
    ('bigint', 'decimal(10,2)', 'array<map<string,int>>')
    """
    written = text.strip()
    name = written.lower()
    if found := _BY_NAME.get(name):
        return found
    if match := _DECIMAL.fullmatch(name):
        return Decimal(int(match[1]), int(match[2] or 0))
    if match := _NESTED.fullmatch(written):
        return _nested(match[1].lower(), _split(match[2], ","), text)
    raise InputError(f"{text!r} is not a type", try_=f"one of {', '.join(TYPE_NAMES)}")


def _nested(word: str, parts: list[str], text: str) -> DataType:
    if word == "array" and len(parts) == 1:
        return Array(_inner(parts[0]))
    if word == "map" and len(parts) == 2:
        return Map(_inner(parts[0]), _inner(parts[1]))
    if word == "struct":
        fields = [_split(part, ":") for part in parts]
        names = [field[0].strip().strip("`") for field in fields]
        if all(len(field) == 2 for field in fields):
            return Struct(tuple((name, _inner(field[1])) for name, field in zip(names, fields, strict=True)))
    raise InputError(f"{text!r} is not a type", try_="array<int>, map<string,double>, struct<a:int,b:string>")


def _inner(text: str) -> DataType:
    return Null() if text.strip().lower() == "void" else parse_type(text)


def _split(text: str, separator: str) -> list[str]:
    """Return the parts between the separators that stand outside of all brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def is_nested(kind: DataType) -> bool:
    return isinstance(kind, Array | Map | Struct)


def parts(kind: DataType) -> tuple[DataType, ...]:
    """Return the types that a nested type is made of, one level down; none of another type."""
    match kind:
        case Array():
            return (kind.element,)
        case Map():
            return (kind.key, kind.value)
        case Struct():
            return tuple(inner for _, inner in kind.fields)
        case _:
            return ()


def holds(kind: DataType, *kinds: type[DataType]) -> bool:
    """Return whether a type is one of `kinds`, or a part of it is."""
    return isinstance(kind, kinds) or any(holds(part, *kinds) for part in parts(kind))


def is_integer(kind: DataType) -> bool:
    return kind in INTEGER_BITS


def is_float(kind: DataType) -> bool:
    return isinstance(kind, Float32 | Float64)


def is_numeric(kind: DataType) -> bool:
    return is_integer(kind) or is_float(kind) or isinstance(kind, Decimal)


def integer_range(kind: DataType) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    bits = INTEGER_BITS[kind]
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    """Named, typed columns in order."""

    fields: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    def get(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)

    def __contains__(self, name: object) -> bool:
        return any(field.name == name for field in self.fields)
