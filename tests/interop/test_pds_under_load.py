"""The firehose source where it cannot keep up, and where a real PDS dies in the middle of much that is written."""

from __future__ import annotations

import asyncio
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from pds_reading import MOVES, ROOT, Reading, named, off
from pds_running import Account, Pds
from weighbridge_atproto.frames import StreamError

pytestmark = pytest.mark.interop

LARGE = 150


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
    async with Reading(pds, gm, tmp_path) as at:
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
    async with Reading(pds, gm, tmp_path) as at:
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
