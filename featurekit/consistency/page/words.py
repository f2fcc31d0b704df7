"""Numbers, shares and spans as the page says them."""

from __future__ import annotations

import re

from featurekit.clock import SECOND, format_duration


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "day"), counted(1200, "row"), counted(2, "refresh", "refreshes")
    ('1 day', '1,200 rows', '2 refreshes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def share(part: float | None) -> str:
    """Return a share in percent, never rounded to all or to nothing: one row in a million that is missing is missing.

    >>> share(1.0), share(0.9999999), share(0.0), share(0.0000001), share(0.1234), share(None)
    ('100 %', '99.99 %', '0 %', '< 0.01 %', '12.3 %', '–')
    """
    if part is None:
        return "–"
    if part in (0, 1):
        return f"{part:.0%}".replace("%", " %")
    if part < 0.0001:
        return "< 0.01 %"
    percent = min(100 * part, 99.99)
    return f"{percent:.4g} %" if percent > 99 else f"{percent:.3g} %"


def number(value: float) -> str:
    """Return a number in a few digits.

    >>> number(1234567.0), number(-0.5), number(1e-12), number(3.14159)
    ('1,234,567', '−0.5', '1e-12', '3.142')
    """
    large = 1000 <= abs(value) < 1e9
    return (f"{value:,.0f}" if large else f"{value:.4g}").replace("-", "−", 1 if value < 0 else 0)


def span(seconds: int) -> str:
    """Return a span of time in its two largest units.

    >>> span(52200), span(0), span(3 * 86400 + 7203)
    ('14h30m', '0s', '3d2h')
    """
    if seconds <= 0:
        return "0s"
    for unit, finer in ((86400, 3600), (3600, 60)):
        if seconds >= unit:
            return format_duration((seconds - seconds % finer) * SECOND)
    return format_duration(seconds * SECOND)


def moment(text: str | None) -> str:
    """Return an instant of a document as people read it.

    >>> moment("2013-11-15T14:30Z"), moment(None)
    ('2013-11-15 14:30 UTC', '–')
    """
    return "–" if text is None else text.replace("T", " ").replace("Z", " UTC")


def day(text: str) -> str:
    """Return since when something is known: its date alone, where it began with a date.

    >>> day("2013-11-12T00:00Z"), day("2013-11-12T06:00Z")
    ('2013-11-12', '2013-11-12 06:00 UTC')
    """
    return moment(text).removesuffix(" 00:00 UTC")


def parts(name: str) -> list[str]:
    """Return a name cut where a line may end.

    >>> parts("route_load.flights_1d")
    ['route_', 'load.', 'flights_', '1d']
    """
    return re.findall(r"[^._]+[._]*|[._]+", name)


def anchor(kind: str, name: str) -> str:
    """Return what links call the place of something.

    >>> anchor("field", "route_load.flights_1d"), anchor("view", "score: on demand")
    ('field-route_load.flights_1d', 'view-score-on-demand')
    """
    return re.sub(r"[^\w.]+", "-", f"{kind}-{name}")
