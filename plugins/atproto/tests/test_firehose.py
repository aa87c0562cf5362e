"""The live source against a host on loopback: what it finds, what it survives, what it does not believe."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from atproto_host import error_frame
from atproto_play import GAME, NOW, Play, move, play
from repo_making import ALICE, BOB, MOVES, Key, Made, frame
from weighbridge.ports import Told
from weighbridge.repos import codec
from weighbridge_atproto.errors import CursorInFuture


@pytest.fixture
def table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Play], Awaitable[None]]], None]:
    return lambda work: play(work, tmp_path, monkeypatch)


def test_records_come_from_the_stream_with_their_proofs(table: Any):
    async def work(at: Play) -> None:
        assert await at.texts() == ["root"]
        await at.host.commit(at.alice, {f"{MOVES}/a": move("north")})
        await at.host.commit(at.bob, {f"{MOVES}/b": move("south"), "app.other.thing/x": {"n": 1}})
        first, second = await at.next(2)
        assert (str(first.uri), first.value) == (f"at://{ALICE}/{MOVES}/a", move("north"))
        assert second.prov["key"] == at.bob.key.public.did_key
        assert at.source.keeping.kept_document(second.prov["doc"]) is not None
        assert second.commit.rev == (at.bob.last and at.bob.last.rev)

    table(work)


def test_changes_and_ends_of_records_come_too_and_other_games_do_not(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("north"), f"{MOVES}/z": move("x", GAME + "x")})
        await at.host.commit(at.alice, {f"{MOVES}/a": move("east"), f"{MOVES}/z": None})
        await at.host.commit(at.alice, {f"{MOVES}/a": None})
        await at.host.commit(at.alice, {f"{MOVES}/a": move("north")})
        assert await at.texts(4) == ["north", "east", None, "north"]

    table(work)


def test_a_repository_met_later_is_fetched_with_what_it_held_before(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {}, tell=False)
        await at.host.commit(at.alice, {f"{MOVES}/{n}": move(n) for n in "abc"}, tell=False)
        await at.host.commit(at.alice, {f"{MOVES}/d": move("d")})
        assert await at.texts(4) == ["a", "b", "c", "d"]
        await at.host.commit(at.alice, {f"{MOVES}/e": move("e")})
        assert await at.texts() == ["e"]
        assert at.host.asked.count("/xrpc/com.atproto.sync.getRepo") == 2

    table(work)


def test_commits_that_come_while_the_repository_is_fetched_follow_it(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {}, tell=False)
        at.host.held.clear()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.until(lambda: at.host.asked.count("/xrpc/com.atproto.sync.getRepo") == 2)
        old = at.alice.export
        exported = old()
        at.alice.export = lambda: exported  # type: ignore[method-assign]
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        await at.host.commit(at.alice, {f"{MOVES}/a": None})
        await at.until(lambda: len(at.source.following.repo(ALICE).waiting) == 3)  # type: ignore[union-attr]
        at.host.held.set()
        assert await at.texts(3) == ["a", "b", None]
        assert "chain-break" not in at.refused

    table(work)


def test_a_missed_commit_breaks_the_chain_and_what_it_did_is_found(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b"), f"{MOVES}/a": None}, tell=False)
        await at.host.commit(at.alice, {f"{MOVES}/c": move("c")})
        assert sorted(map(str, await at.texts(3))) == ["None", "b", "c"]
        assert at.refused["chain-break"] == 1

    table(work)


def test_a_bad_frame_costs_itself_and_no_other(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        for bad in (b"", b"\xff" * 50, frame({"seq": 5}), bytes(5_000_001)):
            await at.host.send(bad, at.host.seq)
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        assert await at.texts(2) == ["a", "b"]
        assert at.refused == {"frame-encoding": 2, "frame-body": 1, "frame-size": 1}
        assert at.source.stream.connects == 1

    table(work)


@pytest.mark.parametrize("forger", ["another-key", "high-s"])
def test_what_the_key_did_not_sign_is_not_believed_and_the_next_commit_tells_all(table: Any, forger: str):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        if forger == "high-s":
            await at.host.commit(at.alice, {f"{MOVES}/b": move("b")}, high=True)
        else:
            key, at.alice.key = at.alice.key, Key(number=99)
            old = at.host.repos.pop(ALICE)
            stand_in = at.host.repos[ALICE] = Made(ALICE, key)
            await at.host.commit(old, {f"{MOVES}/b": move("b")})
            at.alice.key = key
            await at.until(lambda: bool(at.refused))
            at.host.repos[ALICE] = old
            del stand_in
        await at.until(lambda: bool(at.refused))
        assert at.source.keeping.record(ALICE, f"{MOVES}/b") is None
        await at.host.commit(at.alice, {f"{MOVES}/c": move("c")})
        assert await at.texts(2) == ["b", "c"]
        wanted = "commit-high-s" if forger == "high-s" else "commit-signature"
        assert at.refused[wanted] == 1

    table(work)


def test_a_rotated_key_is_looked_up_once_and_believed(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        old = (await at.next())[0].prov
        at.alice.key = Key("P-256", 77)
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        (found,) = await at.next()
        assert found.prov["key"] == at.alice.key.public.did_key != old["key"]
        assert at.source.keeping.kept_document(old["doc"]) is not None

    table(work)


def test_an_identity_event_drops_the_document(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.event("#identity", did=ALICE, handle="new.delve.town")
        await at.until(lambda: at.source.keeping.document(ALICE) is None)
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        assert await at.texts() == ["b"]
        assert at.host.asked.count(f"/{ALICE}") == 2

    table(work)


def test_an_account_that_is_away_lists_nothing_and_is_caught_up_with_when_it_is_back(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.event("#account", did=ALICE, active=False, status="takendown")
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        await at.until(lambda: at.refused.get("account-inactive") == 1)
        await at.host.event("#account", did=ALICE, active=True)
        await at.host.commit(at.alice, {f"{MOVES}/c": move("c")})
        assert await at.texts(2) == ["b", "c"]

    table(work)


def test_a_sync_of_what_is_not_known_has_the_repository_fetched(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")}, tell=False)
        last = at.alice.last
        assert last is not None
        blocks = at.alice.slice(last, at.alice.tree)
        await at.host.event("#sync", did=ALICE, rev=last.rev, blocks=blocks)
        assert await at.texts() == ["b"]

    table(work)


def test_a_commit_that_is_told_again_under_another_number_says_nothing_again(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.host.commit(at.alice, {f"{MOVES}/a": None})
        header = codec.encode({"op": 1, "t": "#commit"})
        told: Any = codec.decode(at.host.frames[-2][1].removeprefix(header))
        at.host.seq += 1
        await at.host.send(frame(told | {"seq": at.host.seq}), at.host.seq)
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        assert await at.texts(3) == ["a", None, "b"]
        assert at.source.following.old >= 1
        assert at.refused == {}

    table(work)


def test_a_stream_that_breaks_goes_on_at_the_cursor_and_nothing_comes_twice(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        for text in "abc":
            await at.host.commit(at.alice, {f"{MOVES}/{text}": move(text)})
            assert await at.texts() == [text]
            await at.host.hang_up()
            await at.until(lambda: at.source.stream.connects == len(at.host.cursors))
        await at.host.commit(at.alice, {f"{MOVES}/d": move("d")})
        assert await at.texts() == ["d"]
        assert at.host.cursors[:4] == [0, 2, 3, 4]
        assert "commit-rev-order" not in at.refused

    table(work)


@pytest.mark.parametrize("error", ["ConsumerTooSlow", "SomethingNew"])
def test_a_host_that_ends_the_stream_is_asked_again(table: Any, error: str):
    async def work(at: Play) -> None:
        at.host.first = [error_frame(error)]
        reading = asyncio.create_task(at.next())
        await at.until(lambda: at.refused.get("stream-closed", 0) >= 2)
        at.host.first = []
        assert (await reading)[0].value["text"] == "root"

    table(work)


def test_a_host_that_has_lost_its_past_stops_the_source_for_a_person_to_look(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        at.host.first = [error_frame("FutureCursor")]
        reading = asyncio.create_task(at.next())
        await at.host.hang_up()
        with pytest.raises(CursorInFuture) as broken:
            await reading
        assert broken.value.code == "cursor-in-future"

    table(work)


def test_an_outdated_cursor_has_every_repository_fetched(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": None}, tell=False)
        at.host.first = [frame({"name": "OutdatedCursor"}, "#info")]
        reading = asyncio.create_task(at.texts())
        await at.host.hang_up()
        assert await reading == [None]

    table(work)


def test_a_silent_stream_is_given_up_and_connected_to_again(table: Any):
    async def work(at: Play) -> None:
        at.source.stream._silence = 0.1
        await at.next()
        await at.until(lambda: at.source.stream.connects >= 3)
        assert at.refused["stream-closed"] >= 2

    table(work)


def test_a_source_that_is_started_anew_goes_on_where_it_was(table: Any):
    async def work(at: Play) -> None:
        await at.host.commit(at.alice, {f"{MOVES}/{n}": move(n) for n in "abc"})
        assert await at.texts(2) == ["root", "a"]
        await at.again()
        assert await at.texts(2) == ["b", "c"]
        await at.again()
        await at.host.commit(at.alice, {f"{MOVES}/d": move("d")})
        assert await at.texts() == ["d"]
        assert at.host.cursors[-1] == 2

    table(work)


def test_frames_that_were_queued_and_not_verified_are_verified_after_a_restart(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        stored = frame(at.alice.commit({f"{MOVES}/a": move("a")}) | {"seq": 2})
        await at.stop()
        at.source, at._reading = at.opened(), None
        at.source.keeping.queue([(ALICE, stored)])
        at.source.keeping.set_number(f"cursor {at.host.url}", 2)
        assert await at.texts() == ["a"]

    table(work)


def test_a_host_that_cannot_give_the_repository_is_asked_until_it_can(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        at.host.status = 503
        await at.host.commit(at.alice, {}, tell=False)
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.until(lambda: at.refused.get("host-unavailable", 0) >= 2)
        at.host.status = 200
        assert await at.texts() == ["a"]

    table(work)


def test_a_commit_from_a_host_that_is_not_the_accounts_own_is_not_believed(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        elsewhere = Made(ALICE, Key(number=5), NOW)
        del at.host.repos[ALICE]
        await at.host.commit(elsewhere, {f"{MOVES}/a": move("a")})
        await at.until(lambda: at.refused.get("did-gone") is not None)
        assert at.source.keeping.records(ALICE) == {}

    table(work)


def test_a_leap_of_the_sequence_is_not_believed_at_once(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        at.host.seq = 2**40
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        assert at.source.stream.cursor == 1
        await at.host.commit(at.alice, {f"{MOVES}/b": move("b")})
        await at.next()
        assert at.source.stream.cursor == 2**40 + 2

    table(work)


def test_what_the_host_says_of_accounts_and_identities_is_told_as_its_word(table: Any):
    async def work(at: Play) -> None:
        await at.next()
        await at.host.commit(at.alice, {f"{MOVES}/a": move("a")})
        await at.next()
        await at.host.event("#account", did=ALICE, active=False, status="takendown")
        await at.host.event("#account", did=ALICE, active=False, status="takendown")
        await at.host.event("#identity", did=ALICE, handle="alice.delve.town")
        await at.host.event("#account", did=BOB, active=False, status="deleted")
        await at.host.event("#account", did=ALICE, active=True)
        found: list[Told] = []
        while len(found) < 3:
            _, item = await anext(at._reading)
            found += [item] if isinstance(item, Told) else []
        assert [(each.event, each.status) for each in found] == [
            ("account", "takendown"), ("identity", "handle not verified: alice.delve.town"), ("account", "active"),
        ]  # fmt: skip

    table(work)
