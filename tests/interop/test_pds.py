"""The firehose source against a real PDS (npm, `@atproto/pds`): what can become of a record and of an account."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pds_reading import MOVES, ROOT, Reading, named, off
from pds_running import Account, Pds, Refusal, create, remove
from weighbridge.repos import open_carried
from weighbridge_atproto import following, open_repository
from weighbridge_atproto.errors import CursorInFuture
from weighbridge_atproto.kept_file import KeepingBroken

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def pds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pds]:
    running = Pds(tmp_path_factory.mktemp("pds"))
    yield running
    running.stop()


@pytest.fixture
def reads(pds: Pds, tmp_path: Path) -> Callable[[Callable[[Reading, Account], Awaitable[None]]], None]:
    """Have a GM with a root, a source, and do something with them."""

    def run(work: Callable[[Reading, Account], Awaitable[None]]) -> None:
        async def whole() -> None:
            gm = pds.account(named())
            async with Reading(pds, gm, tmp_path) as reading:
                gm.create(ROOT, "one", {"$type": ROOT, "text": "root"})
                assert await reading.texts(1) == ["root"]
                await work(reading, gm)

        asyncio.run(whole())

    return run


def test_records_are_created_changed_deleted_and_written_many_at_a_time(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        await off(alice.create, MOVES, "a", at.move("north"))
        await off(alice.put, MOVES, "a", at.move("south"))
        await off(alice.put, MOVES, "a", at.move("south"))
        await off(alice.create, "app.other.thing", "x", {"$type": "app.other.thing"})
        await off(alice.apply, *(create(MOVES, f"m{n}", at.move(str(n))) for n in range(20)))
        await off(alice.apply, remove(MOVES, "a"), create(MOVES, "z", at.move("z")))
        found = await at.next(24)
        assert [each.value.get("text") for each in found[:2]] == ["north", "south"]
        assert {each.value["text"] for each in found[2:22]} == {str(n) for n in range(20)}
        assert {each.value.get("text") for each in found[22:]} == {None, "z"}
        assert at.refused == {}

    reads(work)


def test_a_change_of_handle_changes_nothing_but_the_document(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        await off(alice.create, MOVES, "a", at.move("a"))
        (first,) = await at.next(1)
        await off(alice.call, "com.atproto.identity.updateHandle", {"handle": f"{named()}.test"})
        await off(alice.create, MOVES, "b", at.move("b"))
        (second,) = await at.next(1)
        assert first.prov["doc"] != second.prov["doc"]
        assert first.prov["key"] == second.prov["key"]

    reads(work)


def test_an_account_goes_and_comes_back(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        await off(alice.create, MOVES, "a", at.move("a"))
        await at.next(1)

        def status() -> str | None:
            repo = at.source.following.repo(alice.did)
            return None if repo is None or repo.active else repo.status

        await off(alice.call, "com.atproto.server.deactivateAccount", {})
        await at.until(lambda: status() == "deactivated")
        await off(alice.call, "com.atproto.server.activateAccount", "")
        await at.until(lambda: status() is None)
        await off(alice.create, MOVES, "b", at.move("b"))
        assert await at.texts(1) == ["b"]
        await off(alice.take_down)
        await at.until(lambda: status() == "takendown")
        await off(alice.take_down, False)
        await at.until(lambda: status() is None)
        await off(alice.create, MOVES, "c", at.move("c"))
        assert await at.texts(1) == ["c"]
        await off(alice.delete_account)
        await at.until(lambda: status() == "deleted")
        kinds = [each.kind for each in at.source.keeping.found(0, 100)]
        assert kinds.count("told") >= 5

    reads(work)


def test_a_deleted_record_is_proved_gone_also_by_a_source_that_came_later(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        await off(alice.create, MOVES, "a", at.move("a"))
        await at.next(1)
        await at.close()
        await off(alice.delete, MOVES, "a")
        await off(alice.create, MOVES, "b", at.move("b"))
        at.open()
        gone, there = await at.next(2)
        assert (gone.record, there.value["text"]) == (None, "b")
        source = open_repository({**at.settings, "repos": [alice.did]}, str(at.folder))
        try:
            whole = [open_carried(item.envelope).value["text"] async for _, item in source.read(0)]
        finally:
            await source.close()
        assert whole == ["b"]

    reads(work)


def test_what_is_signed_with_a_key_that_was_rotated_away_is_not_believed(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        await off(alice.create, MOVES, "a", at.move("a"))
        await at.next(1)
        rotated = await off(pds.rotate, alice.did)
        await off(alice.create, MOVES, "b", at.move("b"))
        await at.until(lambda: at.refused.get("commit-signature", 0) >= 1)
        assert at.source.keeping.record(alice.did, f"{MOVES}/b") is None
        await off(pds.rotate, alice.did, rotated["own"])
        await off(alice.create, MOVES, "c", at.move("c"))
        assert await at.texts(2) == ["b", "c"]

    reads(work)


def test_a_pds_that_is_killed_and_comes_back_is_read_on_at_the_cursor(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        alice = await off(pds.account, named())
        for n in range(3):
            await off(alice.create, MOVES, f"a{n}", at.move(f"a{n}"))
        assert await at.texts(3) == ["a0", "a1", "a2"]
        await off(pds.kill)
        await at.until(lambda: bool(at.refused))
        await off(pds.start)
        await off(alice.create, MOVES, "b", at.move("b"))
        assert await at.texts(1) == ["b"]
        assert at.source.stream.connects >= 2

    reads(work)


def test_a_cursor_of_the_future_stops_the_source(reads: Any, pds: Pds):
    async def work(at: Reading, _: Account) -> None:
        await at.close()
        at.open()
        at.source.keeping.set_number(f"cursor {pds.url}", 10**6)
        with pytest.raises(CursorInFuture):
            await at.next(1)

    reads(work)


def test_an_old_cursor_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(following, "CATCH_UP", 0.5)
    folder = tmp_path / "pds"
    folder.mkdir()
    pds = Pds(folder, PDS_BACKFILL_MS="300")
    try:
        asyncio.run(_old_cursor(pds, tmp_path))
    finally:
        pds.stop()


async def _old_cursor(pds: Pds, tmp_path: Path) -> None:
    gm = await off(pds.account, named())
    async with Reading(pds, gm, tmp_path) as at:
        await off(gm.create, ROOT, "one", {"$type": ROOT, "text": "root"})
        assert await at.texts(1) == ["root"]
        alice = await off(pds.account, named())
        # Only what it hears while it is said can tell it of somebody it has never heard of.
        await at.until(lambda: at.source.stream.cursor > 0)
        await off(alice.create, MOVES, "a", at.move("a"))
        assert await at.texts(1) == ["a"]
        await at.close()
        await off(alice.delete, MOVES, "a")
        await asyncio.sleep(0.6)  # by the clock of the PDS, which then sends it no more
        at.open()
        assert await at.texts(1) == [None]
        assert at.refused["outdated-cursor"] >= 1


def test_the_pds_says_no_where_the_notes_say_it_does(pds: Pds):
    alice = pds.account(named())
    with pytest.raises(Refusal):
        alice.create(MOVES, "float", {"$type": MOVES, "n": 1.5})
    with pytest.raises(Refusal):
        alice.apply(*(create(MOVES, f"n{n}", {"$type": MOVES}) for n in range(201)))
    with suppress(Refusal):
        alice.delete(MOVES, "never")


def test_a_test_that_fails_leaves_no_source_open_for_the_next(pds: Pds, tmp_path: Path):
    async def work() -> None:
        async def fails() -> None:
            raise RuntimeError("what was being read broke as well")

        at = Reading(pds, await off(pds.account, named()), tmp_path)
        at._items = SimpleNamespace(aclose=fails)
        with pytest.raises(RuntimeError):
            await at.close()
        with pytest.raises(KeepingBroken):
            at.source.keeping.dids()

    asyncio.run(work())
