"""The firehose source against a real PDS (npm, `@atproto/pds`): what can become of a record and of an account."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from pds_running import Account, Pds, Refusal, create, remove
from weighbridge.ports import Given
from weighbridge.repos import OpenedRecord, open_carried
from weighbridge_atproto import following, open_firehose, open_repository
from weighbridge_atproto.errors import CursorInFuture
from weighbridge_atproto.frames import StreamError
from weighbridge_atproto.sources import Firehose

pytestmark = pytest.mark.interop

MOVES = "town.delve.move"
ROOT = "town.delve.root"
LARGE = 150
PATIENCE = 120.0
"""Seconds after which what a test waits for counts as not coming."""


@pytest.fixture(scope="module")
def pds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pds]:
    running = Pds(tmp_path_factory.mktemp("pds"))
    yield running
    running.stop()


_names = iter(range(1000))


def named() -> str:
    return f"player{next(_names)}"


class Reading:
    """A source that reads a PDS for the game of a GM."""

    def __init__(self, pds: Pds, gm: Account, folder: Path) -> None:
        self.pds = pds
        self.game = f"at://{gm.did}/{ROOT}/one"
        self.settings = {
            "game": self.game, "collections": ["town.delve.*"], "host": pds.url, "directory": pds.directory,
            "development": True,
        }  # fmt: skip
        self.folder = folder
        self.position = 0
        self.open()

    def open(self) -> None:
        self.source: Firehose = open_firehose(self.settings, str(self.folder))
        self.source.stream._backoff = (0.05, 0.2)
        self._items: Any = None

    async def close(self) -> None:
        if self._items is not None:
            await self._items.aclose()
        await self.source.close()

    async def next(self, count: int, within: float = PATIENCE) -> list[OpenedRecord]:
        if self._items is None:
            self._items = self.source.read(self.position)
        found: list[OpenedRecord] = []
        try:
            async with asyncio.timeout(within):
                while len(found) < count:
                    self.position, item = await anext(self._items)
                    if isinstance(item, Given):
                        found.append(open_carried(item.envelope))
        except TimeoutError:
            said = [each.value and each.value.get("text") for each in found]
            raise AssertionError(f"{len(found)} of {count} came: {said}; refused {self.refused}") from None
        return found

    async def texts(self, count: int) -> list[str | None]:
        return [each.value.get("text") for each in await self.next(count)]

    async def until(self, holds: Callable[[], bool]) -> None:
        if self._items is None:
            await self.next(0)
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await asyncio.sleep(0.02)

    def move(self, text: str) -> dict[str, str]:
        return {"$type": MOVES, "game": self.game, "text": text}

    @property
    def refused(self) -> dict[str, int]:
        return dict(self.source.following.refused)


@pytest.fixture
def reads(pds: Pds, tmp_path: Path) -> Callable[[Callable[[Reading, Account], Awaitable[None]]], None]:
    """Have a GM with a root, a source, and do something with them."""

    def run(work: Callable[[Reading, Account], Awaitable[None]]) -> None:
        async def whole() -> None:
            gm = pds.account(named())
            reading = Reading(pds, gm, tmp_path)
            gm.create(ROOT, "one", {"$type": ROOT, "text": "root"})
            try:
                assert await reading.texts(1) == ["root"]
                await work(reading, gm)
            finally:
                await reading.close()

        asyncio.run(whole())

    return run


async def off(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do something that blocks, beside the event loop."""
    return await asyncio.to_thread(work, *arguments)


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
        whole = [open_carried(item.envelope).value["text"] async for _, item in source.read(0)]
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
    at = Reading(pds, gm, tmp_path)
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
    await at.close()


def test_a_reader_that_is_too_slow_is_told_so_reads_on_at_its_cursor_and_has_lost_nothing(tmp_path: Path):
    folder = tmp_path / "pds"
    folder.mkdir()
    pds = Pds(folder, PDS_MAX_SUB_BUFFER="20")
    try:
        asyncio.run(_too_slow(pds, tmp_path))
    finally:
        pds.stop()


async def _too_slow(pds: Pds, tmp_path: Path) -> None:
    gm = await off(pds.account, named())
    at = Reading(pds, gm, tmp_path)
    await off(gm.create, ROOT, "one", {"$type": ROOT, "text": "root"})
    alice = await off(pds.account, named())
    await off(alice.create, MOVES, "first", at.move("first"))
    said, connections = errors_heard(at), connections_of(at)
    assert set(await at.texts(2)) == {"root", "first"}
    # Nothing more is taken from the socket. Its buffers and the PDS's own hold some megabytes; the PDS keeps twenty
    # events beyond that.
    connections[-1].transport.pause_reading()
    for n in range(LARGE):
        await off(alice.create, MOVES, f"r{n:04}", at.move(f"{n} " + "x" * 60_000))
    connections[-1].transport.resume_reading()
    texts = [text and text.split()[0] for text in await at.texts(LARGE)]
    assert texts == [str(n) for n in range(LARGE)]
    assert "ConsumerTooSlow" in said
    assert at.source.stream.connects >= 2
    await at.close()


def errors_heard(at: Reading) -> list[str]:
    """The errors with which the host ends the stream, as they come."""
    said: list[str] = []
    listen = at.source.stream._listen

    def heard(frame: Any, cursor: int) -> None:
        if isinstance(frame, StreamError):
            said.append(frame.error)
        listen(frame, cursor)

    at.source.stream._listen = heard  # type: ignore[method-assign]
    return said


def connections_of(at: Reading) -> list[Any]:
    """The connections of the stream, as they are made."""
    made: list[Any] = []
    receive = at.source.stream._receive

    def received(connection: Any, *rest: Any) -> Any:
        made.append(connection)
        return receive(connection, *rest)

    at.source.stream._receive = received  # type: ignore[method-assign]
    return made


def test_a_pds_killed_while_several_write_has_all_it_kept_found_once_and_in_order(tmp_path: Path):
    folder = tmp_path / "pds"
    folder.mkdir()
    pds = Pds(folder)
    try:
        asyncio.run(_killed_in_a_burst(pds, tmp_path))
    finally:
        pds.stop()


async def _killed_in_a_burst(pds: Pds, tmp_path: Path) -> None:
    gm = await off(pds.account, named())
    at = Reading(pds, gm, tmp_path)
    await off(gm.create, ROOT, "one", {"$type": ROOT, "text": "root"})
    assert await at.texts(1) == ["root"]
    writers = [Writer(await off(pds.account, named()), at) for _ in range(4)]
    for _ in range(2):
        writing = [asyncio.create_task(off(each.write)) for each in writers]
        before = sum(each.written for each in writers)
        await at.until(lambda before=before: sum(each.written for each in writers) >= before + 60)
        await off(pds.kill)
        await asyncio.gather(*writing)
        await off(pds.start)
    for each in writers:
        await off(each.write, 3)
    kept = {each.account.did: await off(each.account.texts, MOVES) for each in writers}
    found = await at.next(sum(map(len, kept.values())))
    for writer in writers:
        did = writer.account.did
        assert [one.value["text"] for one in found if one.uri.authority == did] == kept[did]
        assert len(kept[did]) >= writer.written
    await off(writers[0].account.create, MOVES, "last", at.move("last"))
    assert await at.texts(1) == ["last"]
    await at.close()


class Writer:
    """An account that writes one record after another, until its PDS is gone."""

    def __init__(self, account: Account, at: Reading) -> None:
        self.account = account
        self.at = at
        self.number = 0
        self.written = 0

    def write(self, most: int = 10_000) -> None:
        for _ in range(most):
            # Whether the one at which the PDS was killed was kept, only the PDS knows.
            self.number += 1
            try:
                self.account.create(MOVES, None, self.at.move(str(self.number)))
            except (OSError, HTTPException):
                return
            self.written += 1


def test_the_pds_says_no_where_the_notes_say_it_does(pds: Pds):
    alice = pds.account(named())
    with pytest.raises(Refusal):
        alice.create(MOVES, "float", {"$type": MOVES, "n": 1.5})
    with pytest.raises(Refusal):
        alice.apply(*(create(MOVES, f"n{n}", {"$type": MOVES}) for n in range(201)))
    with suppress(Refusal):
        alice.delete(MOVES, "never")
