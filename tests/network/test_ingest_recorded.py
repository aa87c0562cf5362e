"""A recorded season: records at the times they had, and pauses until others have said what they say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import coin
import pytest
from ingest_games import GAME, Table, data_of, flip, note, player
from nodes import PATIENCE, World, until, until_async
from weighbridge import codec
from weighbridge.dice import round_after, round_time
from weighbridge.fold import Fold
from weighbridge.identity import envelope_to_json, sign_record
from weighbridge.local_chain import LocalChain
from weighbridge.log import read_listed
from weighbridge.logfile import log_to_jsonl
from weighbridge.ports import chain_value

DAY = 86_400_000_000
SECOND = 1_000_000
NOON = 19_700 * DAY + DAY // 2
LOCAL = LocalChain(b"a chain of one's own, for this test", period=3, genesis=NOON // SECOND - 3_000)
MARGIN = 15


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


def at(time: int, envelope: Any) -> str:
    return json.dumps({"at": time, "envelope": envelope_to_json(envelope)})


async def lay(table: Table, *lines: str) -> None:
    chain = {"chain": chain_value(LOCAL.chain), "margin": MARGIN}
    await table.lay(followers=2, recorded=True, source='file = "season.jsonl"', beacon=chain)
    (table.lister.folder / "season.jsonl").write_text("\n".join(lines) + "\n")


async def publish_beacon(table: Table, number: int) -> None:
    """Publish a round's beacon as a follower's dice witness does."""
    follower = table.nodes[1]
    value = {"game": GAME, "round": number, "signature": LOCAL.sign(number), "chain": LOCAL.chain.hash}
    record = sign_record(follower.keys.records, GAME, "network.weighbridge.beacon", str(number), value)
    await table.bus(1).publish_once(follower.subjects(GAME).beacon(number), data_of(record))


async def test_a_season_is_played_with_its_receipts_and_its_dice(table: Table) -> None:
    number = round_after(LOCAL.chain, NOON, MARGIN)
    await lay(
        table,
        at(NOON, flip(player(1), "a")),
        json.dumps({"await": {"receipts": True}}),
        json.dumps({"await": {"beacon": number}}),
        at(NOON + DAY, note(player(1), "b")),
        json.dumps({"time": NOON + 2 * DAY}),
    )
    for name in ("alma", "bela", "cora"):
        await table.up(name)
    await publish_beacon(table, number)
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.done)  # type: ignore[union-attr]
    await until_async(lambda: ended(table, NOON + 2 * DAY))
    log = await table.log()
    assert [(entry["at"], entry["op"]) for entry in log if entry["op"] == "tick"] == [
        ((NOON // DAY + 1) * DAY, "tick"),
        ((NOON // DAY + 2) * DAY, "tick"),
    ]
    times = {
        entry["uri"].rpartition("/")[2]: entry["at"]
        for entry in log
        if "/example.coin." in entry.get("uri", "")
    }
    assert (times["a"], times["b"]) == (NOON, NOON + DAY)
    (beacon,) = [entry for entry in log if "/network.weighbridge.beacon/" in entry.get("uri", "")]
    assert beacon["at"] == round_time(LOCAL.chain, number) * SECOND
    fold = await fold_of(table)
    assert fold.table.get(f"flip/{player(1).did}:a")["status"] == "flipped"


async def ended(table: Table, time: int) -> bool:
    return any(entry["op"] == "tick" and entry["at"] == (time // DAY) * DAY for entry in await table.log())


async def fold_of(table: Table) -> Fold:
    subjects = table.lister.subjects(GAME)
    fold = Fold(GAME, coin.RULES)
    for seq in range(1, len(await table.log()) + 1):
        message = await table.bus().js.get_msg(subjects.stream("LOG"), seq)
        value: Any = codec.decode(message.data or b"")
        fold.fold(read_listed(value["entry"], value["record"]))
    return fold


async def test_a_beacon_is_not_listed_before_its_round_in_recorded_time(table: Table) -> None:
    number = round_after(LOCAL.chain, NOON, MARGIN)
    await lay(table, at(NOON, flip(player(1), "a")))
    for name in ("alma", "bela"):
        await table.up(name)
    await publish_beacon(table, number)
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.done)  # type: ignore[union-attr]
    later = round_time(LOCAL.chain, number) * SECOND
    await listing.lister.let_pass(later - 1)  # type: ignore[union-attr]
    (answer,) = await table.submit(data_of(note(player(1), "b")))
    assert answer["at"] < later
    assert not listing.lister.has_beacon(number)  # type: ignore[union-attr]
    await listing.lister.let_pass(later)  # type: ignore[union-attr]
    await until(lambda: listing.lister.has_beacon(number))  # type: ignore[union-attr]


async def test_a_pause_ends_after_its_time_whatever_is_missing(table: Table) -> None:
    await lay(
        table,
        at(NOON, flip(player(1), "a")),
        json.dumps({"await": {"receipts": True, "beacon": 9, "timeout": 0}}),
        at(NOON + 1, note(player(1), "b")),
    )
    await table.up("alma")
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.done)  # type: ignore[union-attr]
    assert [
        entry["uri"][-1] for entry in await table.log() if "/example.coin.note/" in entry.get("uri", "")
    ] == ["b"]


async def test_a_lister_stops_at_once_in_the_middle_of_a_pause(table: Table) -> None:
    await lay(table, at(NOON, flip(player(1), "a")), json.dumps({"await": {"beacon": 9, "timeout": 600}}))
    await table.up("alma")
    await publish_beacon(table, 10_000)
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.read == 1)  # type: ignore[union-attr]
    await asyncio.wait_for(table.down("alma"), PATIENCE)


async def test_another_log_of_the_game_is_listed_again_with_its_times(table: Table) -> None:
    await lay(table, at(NOON, flip(player(1), "a")), at(NOON + 7, note(player(2), "b")))
    await table.up("alma")
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.done)  # type: ignore[union-attr]
    store = listing.setting.store
    entries = await store.run(store.listed, 0, store.size)
    await table.down("alma")
    config = table.lister.folder / "weighbridge.toml"
    text = config.read_text().replace('file = "season.jsonl"', 'plugin = "logfile"\nfile = "log.jsonl"')
    config.write_text(text.replace('root = "root.json"', ""))
    (table.lister.folder / "log.jsonl").write_bytes(b"".join(log_to_jsonl(entries)))
    (table.lister.folder / "ledger").rename(table.lister.folder / "aside")
    await table.world.wipe_broker()
    for node in table.nodes:
        await table.declare(node)
    table.nodes[0] = type(table.lister).open(table.lister.folder)
    await table.up("alma")
    listing = table.services["alma"][0].games[0]
    await until(lambda: listing.driver is not None and listing.driver.done)  # type: ignore[union-attr]
    again = [
        (entry["uri"], entry["at"]) for entry in await table.log() if "/example.coin." in entry.get("uri", "")
    ]
    assert again == [
        (each.entry.uri, each.entry.at) for each in entries if "/example.coin." in (each.entry.uri or "")
    ]
