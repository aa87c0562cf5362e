"""Frames whose DID cannot be resolved now, and connections that end at the wrong time: what came is told later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_play import Play, move, play
from atproto_waiting import A, held, met, north_and_south, waiting
from repo_making import ALICE, BOB, MOVES, Key, frame
from weighbridge_atproto import asking
from weighbridge_atproto.frames import parse_frame
from weighbridge_atproto.kept_file import KeepingBroken


@pytest.fixture
def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    return lambda work: play(work, tmp_path, monkeypatch)


@pytest.mark.parametrize("first", [True, False], ids=["from-its-first-commit", "met-later"])
def test_frames_of_a_did_that_cannot_be_resolved_now_wait_and_other_repositories_go_on(
    table: Any, first: bool
):
    async def work(at: Play) -> None:
        await at.next() if first else await met(at)
        at.host.directory[ALICE] = 503
        await north_and_south(at)
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        assert await at.texts() == ["b"]
        await at.until(lambda: held(at) == 2 and at.refused.get("host-unavailable", 0) >= 2)
        del at.host.directory[ALICE]
        assert await at.texts(2) == ["north", "south"]
        assert (held(at), waiting(at)) == (0, 0)

    table(work)


def test_frames_of_a_did_that_is_not_resolved_are_still_there_after_a_restart(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        at.host.directory[ALICE] = 503
        await north_and_south(at)
        await at.until(lambda: held(at) == 2)
        await at.again()
        del at.host.directory[ALICE]
        assert await at.texts(2) == ["north", "south"]

    table(work)


def test_of_a_did_that_is_nobody_the_frames_that_came_are_refused_at_once(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        at.host.directory[ALICE] = 404
        await north_and_south(at)
        await at.until(lambda: at.refused.get("did-gone", 0) >= 2)
        assert held(at) == 0

    table(work)


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_a_connection_that_is_cut_where_it_was_to_be_used_again_costs_nothing(table: Any, cut: int):
    async def work(at: Play) -> None:
        await met(at)
        at.host.cut = cut
        await north_and_south(at)
        assert await at.texts(2) == ["north", "south"]
        assert at.host.cut == 0

    table(work)


def test_past_the_bound_the_frames_of_the_did_with_the_most_are_given_up_and_counted(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.next()
        at.host.directory |= {ALICE: 503, BOB: 503}
        small = await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        await at.until(lambda: held(at) == 1)
        monkeypatch.setattr(asking, "MAX_HELD", 4 * asking.LEAST_HELD)
        assert small
        sent = 0
        while "frames-given-up" not in at.refused:
            await at.host.commit(at.alice, {A: move(str(sent))})
            sent += 1
            await at.until(lambda: at.source.stream.cursor == at.host.seq)
            await asyncio.sleep(0)
        assert at.refused["frames-given-up"] >= 2
        at.host.directory.clear()
        # What was given up is not lost with its repository, whose state is fetched; bob's frame waited.
        assert sorted(map(str, await at.texts(2))) == sorted([str(sent - 1), "b"])

    table(work)


def test_what_a_key_signed_that_is_too_new_to_be_asked_for_waits_until_it_can_be(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        resolver: Any = at.source.following._resolver
        now = 1000.0
        resolver._clock = lambda: now
        await at.host.commit(at.alice, {A: move("a")})
        assert await at.texts() == ["a"]
        at.alice.key = Key(number=77)
        await at.host.commit(at.alice, {A: move("b")})
        assert await at.texts() == ["b"]
        at.alice.key = Key(number=78)
        await at.host.commit(at.alice, {A: move("c")})
        await at.until(lambda: held(at) == 1)
        await at.host.commit(at.bob, {f"{MOVES}/b": move("bob")})
        assert await at.texts() == ["bob"]
        now += 61
        assert await at.texts() == ["c"]
        assert "commit-signature" not in at.refused

    table(work)


def test_a_crash_within_a_turn_has_taken_none_of_its_frames(table: Any, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        await at.next()
        add, seen = at.source.keeping.add, 0

        def fails(kind: str, data: bytes) -> None:
            nonlocal seen
            seen += 1
            if seen == 2:
                raise KeepingBroken("no room left")
            add(kind, data)

        monkeypatch.setattr(at.source.keeping, "add", fails)
        frames = [
            at.alice.commit({A: move(text)}) | {"seq": 2 + n} for n, text in enumerate(("north", "south"))
        ]
        at.source.keeping.queue([(ALICE, frame(each)) for each in frames])
        at.source.following.queued.set()
        with pytest.raises(KeepingBroken):
            await at.next()
        await at.again()
        assert await at.texts(2) == ["north", "south"]

    table(work)


def test_a_commit_that_is_not_watched_is_kept_while_the_first_that_is_still_lies_in_the_queue(table: Any):
    async def work(at: Play) -> None:
        of_the_game = parse_frame(frame(at.alice.commit({A: move("a")})))
        other = parse_frame(frame(at.alice.commit({"app.other.thing/x": {"n": 1}})))
        assert at.source.following.concerns(other) is None
        assert at.source.following.concerns(of_the_game) == ALICE
        assert at.source.following.concerns(other) == ALICE

    table(work)


def test_a_source_whose_file_breaks_while_much_arrives_stops_rather_than_stands_still(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.next()

        def fails(_: object) -> None:
            raise KeepingBroken("no room left")

        monkeypatch.setattr(at.source.keeping, "queue", fails)
        body = at.alice.commit({A: move("a")})
        for n in range(3_000):
            await at.host.send(frame(body | {"seq": n + 2}), n + 2)
        with pytest.raises(KeepingBroken):
            await at.next()

    table(work)


def test_what_breaks_beside_the_stream_stops_the_source(table: Any, monkeypatch: pytest.MonkeyPatch):
    async def work(at: Play) -> None:
        await met(at)

        def fails(*_: object) -> None:
            raise KeepingBroken("no room left")

        monkeypatch.setattr(at.source.keeping, "records", fails)
        await north_and_south(at)
        with pytest.raises(KeepingBroken):
            await at.next()

    table(work)
