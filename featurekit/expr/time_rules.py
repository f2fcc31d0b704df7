"""Type rules of dates and times. A timestamp's date is its UTC date, a date's instant is 00:00 UTC of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from featurekit.clock import zone
from featurekit.errors import InputError
from featurekit.expr.coerce import castable
from featurekit.expr.nodes import Node
from featurekit.expr.signatures import Rule, Signature, literal_text, mismatch
from featurekit.expr.time_patterns import ADVICE, PatternError, check_readable, parse_pattern
from featurekit.expr.time_units import CLOCK_FIELDS, FIELDS, WEEKDAYS
from featurekit.types import (
    Boolean,
    DataType,
    Date,
    Decimal,
    Float64,
    Int32,
    Int64,
    Null,
    String,
    Timestamp,
    TimestampNtz,
    is_float,
    is_integer,
)

SECONDS: Final = Decimal(16, 6)  # Spark's type of make_timestamp's seconds
SECOND_OF_MINUTE: Final = Decimal(8, 6)


def is_zone(name: str) -> bool:
    try:
        zone(name)
    except InputError:
        return False
    # Both sides know the IANA names; Spark also takes 'PST' and '+01:00', which mean other things to other engines.
    return "/" in name or name == "UTC"


def expect_time(args: tuple[Node, ...], arg: Node) -> None:
    if not isinstance(arg.type, Timestamp | TimestampNtz | Date | Null):
        raise mismatch(args, "it takes a timestamp or a date", "declare the column as a timestamp")


def expect_whole(args: tuple[Node, ...], arg: Node, *, wide: bool = False) -> None:
    if isinstance(arg.type, Null) or (is_integer(arg.type) and (wide or arg.type != Int64())):
        return
    raise mismatch(args, "it takes a whole number there" if wide else "it takes an int there", "CAST(… AS INT)")


def expect_zone(args: tuple[Node, ...], index: int) -> None:
    name = literal_text(args, index, "the zone")
    if not is_zone(name):
        raise mismatch(args, f"{name!r} is not a time zone", "an IANA name such as 'America/New_York' or 'UTC'")


def of_time(*, takes: DataType, result: DataType) -> Rule:
    """One timestamp or date, read as `takes`."""

    def rule(args: tuple[Node, ...]) -> Signature:
        expect_time(args, args[0])
        return Signature((takes,), result)

    return rule


def of_instant(args: tuple[Node, ...]) -> Signature:
    """A timestamp itself, not that of a date: Spark takes no other here."""
    if not isinstance(args[0].type, Timestamp | TimestampNtz | Null):
        raise mismatch(args, "it takes a timestamp", "CAST(… AS TIMESTAMP)")
    return Signature((Timestamp(),), Int64())


def of_day(args: tuple[Node, ...]) -> Signature:
    """A date itself, not the date of a timestamp: Spark takes no other here."""
    if not isinstance(args[0].type, Date | Null):
        raise mismatch(args, "it takes a date", "CAST(… AS DATE)")
    return Signature((Date(),), Int32())


def days_between(args: tuple[Node, ...]) -> Signature:
    for arg in args:
        expect_time(args, arg)
    return Signature((Date(), Date()), Int32())


def moved_date(args: tuple[Node, ...]) -> Signature:
    """A date and a number of days or months."""
    expect_time(args, args[0])
    expect_whole(args, args[1])
    return Signature((Date(), Int32()), Date())


def expect_word(args: tuple[Node, ...], index: int, what: str, words: Mapping[str, str] | Mapping[str, int]) -> str:
    word = literal_text(args, index, what)
    if word.lower() not in words:
        raise mismatch(args, f"{word!r} is not {what} it knows", f"one of {', '.join(words)}")
    return word.lower()


def truncated(units: Mapping[str, str]) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        expect_word(args, 0, "a unit", units)
        expect_time(args, args[1])
        return Signature((String(), Timestamp()), Timestamp())

    return rule


def truncated_date(units: Mapping[str, str]) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        expect_time(args, args[0])
        expect_word(args, 1, "a unit", units)
        return Signature((Date(), String()), Date())

    return rule


def next_weekday(args: tuple[Node, ...]) -> Signature:
    expect_time(args, args[0])
    expect_word(args, 1, "a day of the week", WEEKDAYS)
    return Signature((Date(), String()), Date())


def field_of(args: tuple[Node, ...]) -> Signature:
    field = FIELDS[expect_word(args, 0, "a field", FIELDS)]
    expect_time(args, args[1])
    takes = Timestamp() if field in CLOCK_FIELDS else Date()
    return Signature((String(), takes), SECOND_OF_MINUTE if field == "second" else Int32())


def added(units: Mapping[str, str]) -> Rule:
    """timestampadd: a date becomes a timestamp, a timestamp without zone stays one."""

    def rule(args: tuple[Node, ...]) -> Signature:
        expect_word(args, 0, "a unit", units)
        expect_whole(args, args[1], wide=True)
        expect_time(args, args[2])
        kind = TimestampNtz() if isinstance(args[2].type, TimestampNtz) else Timestamp()
        return Signature((String(), Int64(), kind), kind)

    return rule


def units_between(units: Mapping[str, str]) -> Rule:
    def rule(args: tuple[Node, ...]) -> Signature:
        expect_word(args, 0, "a unit", units)
        expect_time(args, args[1])
        expect_time(args, args[2])
        return Signature((String(), Timestamp(), Timestamp()), Int64())

    return rule


def months_between(args: tuple[Node, ...]) -> Signature:
    expect_time(args, args[0])
    expect_time(args, args[1])
    if len(args) == 3 and not isinstance(args[2].type, Boolean):
        raise mismatch(args, "whether it rounds is true or false")
    return Signature((Timestamp(), Timestamp(), Boolean())[: len(args)], Float64())


def in_zone(args: tuple[Node, ...]) -> Signature:
    expect_zone(args, 1)
    expect_time(args, args[0])
    return Signature((Timestamp(), String()), Timestamp())


def converted(args: tuple[Node, ...]) -> Signature:
    expect_zone(args, 0)
    expect_zone(args, 1)
    expect_time(args, args[2])
    return Signature((String(), String(), TimestampNtz()), TimestampNtz())


def wholes(*kinds: DataType, result: DataType) -> Rule:
    """Integers, each read as the type at its place."""

    def rule(args: tuple[Node, ...]) -> Signature:
        for arg, kind in zip(args, kinds, strict=True):
            expect_whole(args, arg, wide=kind == Int64())
        return Signature(kinds, result)

    return rule


def made_timestamp(result: DataType) -> Rule:
    """Year, month, day, hour, minute, second, and perhaps a zone."""

    def rule(args: tuple[Node, ...]) -> Signature:
        for arg in args[:5]:
            expect_whole(args, arg)
        if not (is_integer(args[5].type) or isinstance(args[5].type, Decimal | Null)):
            raise mismatch(args, "the second is a whole number or a decimal", "CAST(… AS DECIMAL(8,6))")
        if len(args) == 7:
            expect_zone(args, 6)
        return Signature((*(Int32(),) * 5, SECONDS, String())[: len(args)], result)

    return rule


def from_seconds(args: tuple[Node, ...]) -> Signature:
    kind = args[0].type
    if isinstance(kind, Decimal):
        return Signature((kind,), Timestamp())
    if not (is_integer(kind) or is_float(kind) or isinstance(kind, Null)):
        raise mismatch(args, "it takes a number of seconds")
    return Signature((Float64() if is_float(kind) else Int64(),), Timestamp())


def _pattern(args: tuple[Node, ...], index: int, *, read: bool) -> None:
    pattern = literal_text(args, index, "the pattern")
    try:
        pieces = parse_pattern(pattern)
        if read:
            check_readable(pieces)
    except PatternError as error:
        raise mismatch(args, f"the pattern {pattern!r}: {error}", ADVICE) from None


def written(args: tuple[Node, ...]) -> Signature:
    """date_format: a time and a pattern."""
    expect_time(args, args[0])
    _pattern(args, 1, read=False)
    return Signature((Timestamp(), String()), String())


def written_seconds(args: tuple[Node, ...]) -> Signature:
    """from_unixtime: seconds and perhaps a pattern."""
    expect_whole(args, args[0], wide=True)
    if len(args) == 2:
        _pattern(args, 1, read=False)
    return Signature((Int64(), String())[: len(args)], String())


def read_as(result: DataType) -> Rule:
    """to_date, to_timestamp: text by a pattern, or what casts to the result."""

    def rule(args: tuple[Node, ...]) -> Signature:
        kind = args[0].type
        if len(args) == 2 and not isinstance(kind, String | Null):
            raise mismatch(args, "a pattern says how text is read", "leave the pattern away")
        if len(args) == 2:
            _pattern(args, 1, read=True)
            return Signature((String(), String()), result)
        if not isinstance(kind, String):
            expect_time(args, args[0])
        if not castable(kind, result):
            raise mismatch(args, f"a {kind.name} is not read as a {result.name}", "give a pattern")
        return Signature((result if isinstance(kind, Null) else kind,), result)

    return rule


def unix_seconds(args: tuple[Node, ...]) -> Signature:
    """unix_timestamp: a time, or text by a pattern."""
    signature = read_as(Timestamp())(args) if isinstance(args[0].type, String) else None
    if signature is None:
        expect_time(args, args[0])
        return Signature((Timestamp(),), Int64()) if len(args) == 1 else _timed(args)
    if len(args) == 1:
        raise mismatch(args, "text is read by a pattern", "unix_timestamp(x, 'yyyy-MM-dd HH:mm:ss')")
    return Signature(signature.args, Int64())


def _timed(args: tuple[Node, ...]) -> Signature:
    raise mismatch(args, "a pattern says how text is read", "leave the pattern away")
