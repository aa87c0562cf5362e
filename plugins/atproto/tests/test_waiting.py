"""Commits that wait until their repository is fetched: every version that was proved is told, once and in order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_play import Play, move, play
from atproto_waiting import GET_REPO, A, met, north_and_south, waiting
from repo_making import ALICE, MOVES, Key, frame
from weighbridge.repos import carried
from weighbridge_atproto import chain, following


@pytest.fixture
def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    return lambda work: play(work, tmp_path, monkeypatch)


@pytest.mark.parametrize("rotated", [False, True], ids=["same-key", "key-rotated-since"])
def test_commits_that_wait_are_told_after_a_crash_with_what_they_were_verified_with(
    table: Any, rotated: bool
):
    async def work(at: Play) -> None:
        await met(at)
        at.host.held.clear()
        await north_and_south(at)
        await at.until(lambda: waiting(at) == 2)
        old = at.alice.key.public.did_key
        if rotated:
            at.alice.key = Key(number=77)
            await at.host.commit(at.alice, {f"{MOVES}/z": move("z")}, tell=False)
            at.source.keeping.drop_document(ALICE)
        await at.again()
        at.host.held.set()
        found = await at.next(3 if rotated else 2)
        told = {each.value["text"]: each.prov["key"] for each in found}
        assert list(told) == ["north", "south", "z"][: len(found)]
        assert (told["north"], told["south"]) == (old, old)

    table(work)


def test_a_fetch_that_fails_after_commits_waited_loses_none(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        at.host.status = 503
        await north_and_south(at)
        await at.until(lambda: waiting(at) == 2 and at.refused.get("host-unavailable", 0) >= 2)
        at.host.status = 200
        assert await at.texts(2) == ["north", "south"]

    table(work)


def test_a_state_that_is_older_than_what_waits_is_fetched_again_and_all_versions_told(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        export = at.alice.export
        stale = export()
        at.alice.export = lambda: stale  # type: ignore[method-assign]
        await at.host.commit(at.alice, {f"{MOVES}/x": move("x")}, tell=False)
        await north_and_south(at)
        await at.host.commit(at.alice, {A: None})
        await at.until(lambda: waiting(at) == 3 and at.refused.get("chain-break", 0) >= 2)
        at.alice.export = export  # type: ignore[method-assign]
        assert await at.texts(4) == ["x", "north", "south", None]

    table(work)


def test_a_state_that_is_ahead_of_the_stream_costs_no_version_that_the_stream_has_yet_to_say(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        monkeypatch.setattr(following, "CATCH_UP", 60.0)
        await met(at)
        await at.host.commit(at.alice, {f"{MOVES}/old": move("old")}, tell=False)
        await at.host.commit(at.alice, {A: move("north")})
        late = []
        for changes in ({A: move("south")}, {f"{MOVES}/{n}": move(str(n)) for n in range(9)}, {A: None}):
            at.host.seq += 1
            late.append((frame(at.alice.commit(changes) | {"seq": at.host.seq}), at.host.seq))
        assert await at.texts(2) == ["old", "north"]
        assert at.source.following.repo(ALICE).ahead == at.alice.last.rev  # type: ignore[union-attr]
        for data, seq in late:
            await at.host.send(data, seq)
        assert await at.texts(11) == ["south", *map(str, range(9)), None]
        assert at.refused == {}
        assert at.source.following.repo(ALICE).ahead is None  # type: ignore[union-attr]
        assert at.host.asked.count(GET_REPO) == 2

    table(work)


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_what_the_stream_never_says_of_a_state_is_told_after_a_while(table: Any, restarted: bool):
    async def work(at: Play) -> None:
        await met(at)
        await at.host.commit(at.alice, {A: move("north")})
        await at.host.commit(at.alice, {f"{MOVES}/z": move("z"), A: None}, tell=False)
        if restarted:
            assert await at.texts() == ["north"]
            await at.again()
        found = await at.texts(2 if restarted else 3)
        assert found[-2:] in ([None, "z"], ["z", None])
        assert restarted or found[0] == "north"

    table(work)


def test_a_state_between_what_waits_loses_none_of_it(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        at.host.held.clear()
        await at.host.commit(at.alice, {A: move("north")})
        await at.until(lambda: at.host.asked.count(GET_REPO) == 2)
        await at.host.commit(at.alice, {A: move("south")})
        between = at.alice.export()
        export = at.alice.export
        at.alice.export = lambda: between  # type: ignore[method-assign]
        await at.host.commit(at.alice, {A: move("east")}, tell=False)
        await at.host.commit(at.alice, {A: move("west")})
        await at.host.commit(at.alice, {A: move("north again")})
        await at.until(lambda: waiting(at) == 4)
        at.host.held.set()
        assert await at.texts(2) == ["north", "south"]
        at.alice.export = export  # type: ignore[method-assign]
        assert await at.texts(2) == ["west", "north again"]
        assert at.refused["chain-break"] >= 1

    table(work)


@pytest.mark.parametrize("bound", ["commits", "bytes"])
def test_where_no_more_can_wait_they_are_told_before_the_repository_and_none_is_lost(
    table: Any, monkeypatch: pytest.MonkeyPatch, bound: str
):
    async def work(at: Play) -> None:
        await met(at)
        await at.host.commit(at.alice, {f"{MOVES}/x": move("x")}, tell=False)
        at.host.held.clear()
        await north_and_south(at)
        await at.until(lambda: waiting(at) == 2)
        if bound == "commits":
            monkeypatch.setattr(chain, "MAX_WAITING", 2)
        else:
            monkeypatch.setattr(following, "MAX_WAITING_BYTES", at.source.following._waiting_bytes)
        await at.host.commit(at.alice, {A: move("east")})
        assert await at.texts(3) == ["north", "south", "east"]
        assert (at.refused["waited-enough"], at.source.following._waiting_bytes) == (1, 0)
        at.host.held.set()
        assert await at.texts() == ["x"]

    table(work)


def test_a_sync_that_comes_while_an_older_state_is_on_its_way_has_it_fetched_again(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        at.host.held.clear()
        await at.host.commit(at.alice, {A: move("north")})
        await at.until(lambda: at.host.asked.count(GET_REPO) == 2)
        export = at.alice.export
        stale = export()
        at.alice.export = lambda: stale  # type: ignore[method-assign]
        await at.host.commit(at.alice, {f"{MOVES}/z": move("z")}, tell=False)
        last = at.alice.last
        assert last is not None
        blocks = at.alice.slice(last, at.alice.tree)
        await at.host.event("#sync", did=ALICE, rev=last.rev, blocks=blocks)
        await at.until(lambda: at.source.following.repo(ALICE).phase == "desynchronized")  # type: ignore[union-attr]
        at.host.held.set()
        assert await at.texts() == ["north"]
        at.alice.export = export  # type: ignore[method-assign]
        assert await at.texts() == ["z"]

    table(work)


def test_a_gap_in_the_stream_while_commits_wait_loses_none_of_them(table: Any):
    async def work(at: Play) -> None:
        await met(at)
        at.host.held.clear()
        await north_and_south(at)
        await at.until(lambda: waiting(at) == 2)
        at.source.following.doubt_all()
        at.host.held.set()
        assert await at.texts(2) == ["north", "south"]

    table(work)


def test_a_record_whose_proof_is_larger_than_is_listed_is_counted_and_costs_no_other(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        await at.next()
        monkeypatch.setattr(carried, "MAX_PROOF", 500)
        await at.host.commit(at.bob, {f"{MOVES}/b": move("b")})
        await at.host.commit(at.alice, {f"app.other.thing/{n}": {"n": n} for n in range(200)})
        await at.host.commit(at.alice, {f"{MOVES}/fat": move("fat"), "zed.zed.zed/0": {"n": 1}})
        await at.host.commit(at.bob, {f"{MOVES}/b": move("c")})
        assert await at.texts(2) == ["b", "c"]
        await at.until(lambda: at.source.refused.get("repo-proof-size", 0) >= 1)

    table(work)


def test_after_a_gap_in_the_stream_what_it_still_has_comes_before_what_was_missed(
    table: Any, monkeypatch: pytest.MonkeyPatch
):
    async def work(at: Play) -> None:
        monkeypatch.setattr(following, "CATCH_UP", 60.0)
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/x": move("x")})
        assert await at.texts() == ["x"]
        await at.host.commit(at.alice, {f"{MOVES}/x": None}, tell=False)
        at.host.first = [frame({"name": "OutdatedCursor"}, "#info")]
        await at.host.hang_up()
        await at.until(lambda: at.refused.get("outdated-cursor", 0) >= 1)
        at.host.first = []
        assert at.source.following.repo(ALICE).phase == "synchronized"  # type: ignore[union-attr]
        await north_and_south(at)
        assert await at.texts(3) == [None, "north", "south"]

    table(work)


def test_nothing_is_looked_at_again_once_it_was_stopped(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.source.following.stop()
        at.source.following.gap()
        assert at.source.following._looks == {}

    table(work)
