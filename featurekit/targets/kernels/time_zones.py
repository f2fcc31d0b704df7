"""Clocks in zones: what a clock there reads at an instant, and the instant at which it reads so."""

from __future__ import annotations

from bisect import bisect_right

from featurekit.expr.nodes import Call
from featurekit.expr.time_units import FIRST_MICRO, LAST_MICRO
from featurekit.targets.kernels.kernel import Kernel, literal_value
from featurekit.targets.kernels.zones import zone_table


def from_utc(call: Call) -> Kernel:
    zone = zone_table(literal_value(call, 1))
    starts, offsets, end = zone.starts, zone.offsets, zone.end

    def kernel(micros: int) -> int | None:
        offset = offsets[bisect_right(starts, micros)] if micros < end else zone.offset_at(micros)
        local = micros + offset
        return local if FIRST_MICRO <= local <= LAST_MICRO else None

    return kernel


def to_utc(call: Call) -> Kernel:
    zone = zone_table(literal_value(call, 1))

    def kernel(local: int) -> int | None:
        micros = local - zone.offset_of(local)
        return micros if FIRST_MICRO <= micros <= LAST_MICRO else None

    return kernel


def convert(call: Call) -> Kernel:
    source, target = zone_table(literal_value(call, 0)), zone_table(literal_value(call, 1))

    def kernel(local: int) -> int | None:
        micros = local - source.offset_of(local)
        reading = micros + target.offset_at(micros)
        return reading if FIRST_MICRO <= reading <= LAST_MICRO else None

    return kernel
