"""What cannot be told at once: commits whose DID is not resolved, whose repository is not fetched, and what is kept of
them when something fails on the way. Every version of a record that was proved is told, in its order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_play import Play, move, play
from repo_making import ALICE, BOB, MOVES, Key, frame
from weighbridge.repos import carried
from weighbridge_atproto import asking, chain, following
from weighbridge_atproto.frames import parse_frame
from weighbridge_atproto.keeping import KeepingBroken

GET_REPO = "/xrpc/com.atproto.sync.getRepo"
A = f"{MOVES}/a"


@pytest.fixture
def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    return lambda work: play(work, tmp_path, monkeypatch)


def waiting(at: Play, did: str = ALICE) -> int:
    repo = at.source.following.repo(did)
    return 0 if repo is None else len(repo.waiting)


def held(at: Play) -> int:
    return sum(1 for (state,) in at.source.keeping._rows("SELECT state FROM queue") if state == 1)


async def met(at: Play) -> None:
    """Have the root read, and alice's first commit made where nobody saw it: what follows needs a fetch."""
    assert await at.texts() == ["root"]
    await at.host.commit(at.alice, {}, tell=False)


async def north_and_south(at: Play) -> None:
    for text in ("north", "south"):
        await at.host.commit(at.alice, {A: move(text)})


# --- a DID that cannot be resolved now ---------------------------------------------------------------------


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
        monkeypatch.setattr(asking, "MAX_HELD", 4 * len(at.host.frames[-1][1]))
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


# --- a repository that is being fetched --------------------------------------------------------------------


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


# --- crashes, and what must not stand still ----------------------------------------------------------------


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
