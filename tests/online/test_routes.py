"""Routes without servers: what they ask whom, given what was answered before."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TypeVar

import pytest

from featurekit.online.redis.address import Place, read_address
from featurekit.online.redis.cluster import ClusterRoute
from featurekit.online.redis.errors import ReplyError
from featurekit.online.redis.peer import Command, Peer, Reply
from featurekit.online.redis.single import SentinelRoute
from featurekit.online.redis.slots import SLOTS, slot_of
from featurekit.online.redis.steps import Steps

Result = TypeVar("Result")
Answer = Callable[[Place, Command], Reply]
"""What a server at a place replies to a command; an exception is what became of asking it."""


def run(steps: Steps[Result], answer: Answer) -> Result:
    def replies(peer: Peer, commands: list[Command]) -> list[Reply] | Exception:
        found = [answer(peer.place, command) for command in commands]
        return next((one for one in found if isinstance(one, OSError)), found)

    try:
        ask = next(steps)
        while True:
            ask = steps.send({peer: replies(peer, commands) for peer, commands in ask.batches.items()})
    except StopIteration as done:
        result: Result = done.value
        return result


def test_a_slot_that_no_node_had_is_found_where_it_is_given_to_one() -> None:
    route = ClusterRoute(read_address("redis+cluster://a:1"))
    node = [b"a", 1, b"id"]
    hole = slot_of(b"x")
    slots = [[0, hole - 1, node], [hole + 1, SLOTS - 1, node]]

    def answer(_: Place, command: Command) -> Reply:
        return slots if command == (b"CLUSTER", b"SLOTS") else [b"1"]

    assert run(route.read([b"y"]), answer) == [b"1"]
    with pytest.raises(ReplyError, match="CLUSTERDOWN"):
        run(route.master_of(b"x"), answer)
    with pytest.raises(ReplyError, match=f"CLUSTERDOWN no node has slot {hole}"):
        run(route.read([b"x"]), answer)
    slots.append([hole, hole, node])

    assert run(route.read([b"x"]), answer) == [b"1"]
    assert run(route.master_of(b"x"), answer).place == Place("a", 1)


def test_who_asks_which_masters_there_are_makes_no_reader_ask_again() -> None:
    route = ClusterRoute(read_address("redis+cluster://a:1"))
    asked: list[Command] = []

    def answer(_: Place, command: Command) -> Reply:
        asked.append(command)
        return [[0, SLOTS - 1, [b"a", 1, b"id"]]] if command == (b"CLUSTER", b"SLOTS") else [b"1"]

    run(route.read([b"x"]), answer)
    watching = route.masters()
    next(watching)  # it is asked, and has not answered yet
    asked.clear()

    assert run(route.read([b"x"]), answer) == [b"1"]
    assert asked == [(b"MGET", b"x")]


@pytest.mark.parametrize("said", ["MOVED 7 ?:2", "MOVED 7 :2", "ASK 7 ?:2"])
def test_a_node_that_does_not_tell_its_host_is_where_it_was_asked(said: str) -> None:
    assert ReplyError(said).redirect == (7, "", 2)


@pytest.mark.parametrize("kind", [TimeoutError, socket.gaierror, ConnectionRefusedError])
def test_a_sentinel_that_names_who_is_gone_is_not_asked_first_again(kind: type[OSError]) -> None:
    route = SentinelRoute(read_address("redis+sentinel://behind:1,knows:1/main"))

    def answer(place: Place, command: Command) -> Reply:
        if command[0] == b"SENTINEL":
            return [b"gone" if place.host == "behind" else b"master", b"2"]
        return kind("it is gone") if place.host == "gone" else [b"1"]

    if kind is TimeoutError:  # no time is left to ask the other in the same read
        with pytest.raises(TimeoutError):
            run(route.read([b"x"]), answer)

    assert run(route.read([b"x"]), answer) == [b"1"]
