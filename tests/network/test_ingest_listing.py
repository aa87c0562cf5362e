"""Handing in, listing and receipts, between nodes on a real broker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from ingest_games import Table, data_of, flip, player
from nodes import World, until_async


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


async def receipts_of(table: Table, number: int) -> list[str]:
    did = table.nodes[number].did
    return [e["value"]["checkpoint"] for e in await table.log() if f"{did}/network.weighbridge.receipt" in e.get("uri", "")]


async def test_a_submission_is_listed_answered_and_receipted_by_every_follower(table: Table) -> None:
    await table.lay(followers=2)
    for name in ("alma", "bela", "cora"):
        await table.up(name)
    (answer,) = await table.submit(data_of(flip(player(1), "a")))
    assert set(answer) == {"listed", "at", "round", "receipt"}
    seq = answer["listed"]

    async def held() -> bool:
        notes = [await receipts_of(table, number) for number in (1, 2)]
        return all(any(int(note.split("\n")[1]) > seq for note in each) for each in notes)

    await until_async(held)
    log = await table.log()
    assert log[0]["uri"] == log[0]["game"]
    assert log[seq]["uri"].endswith("/example.coin.flip/a")
