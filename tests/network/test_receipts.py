"""Receipts make a roll timely: a lister cannot hold an ask back and date it into the past, on any node's table."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import coin
import pytest
from ingest_games import GAME, Table, data_of, flip, note, player
from nodes import World, until, until_async
from weighbridge import codec
from weighbridge.dice import QUICKNET, round_time
from weighbridge.fold import Fold
from weighbridge.fold.records import place_of
from weighbridge.log import read_listed
from weighbridge_services.ingest.app import Service
from weighbridge_services.ingest.following import AHEAD

SECOND = 1_000_000
HOUR = 3_600 * SECOND


STILL = time.time_ns() // 1_000


class Clock:
    """A clock that stands, off by as much as a test says.

    What counts is how the clocks of two nodes differ: were they to go, a machine that stands still for some
    seconds would make every receipt a late one.
    """

    def __init__(self, shift: int = 0) -> None:
        self.shift = shift

    def now(self) -> int:
        return STILL + self.shift

    def advance(self, at: int) -> None:
        pass


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


async def fold_of(table: Table, number: int) -> Fold:
    """Fold what a node's own stream holds."""
    subjects = table.nodes[number].subjects(GAME)
    fold = Fold(GAME, coin.RULES)
    last = await table.bus(number).last(subjects.stream("LOG"), subjects.log)
    for seq in range(1, last.sequence + 1 if last else 1):
        message = await table.bus(number).js.get_msg(subjects.stream("LOG"), seq)
        value: Any = codec.decode(message.data or b"")
        fold.fold(read_listed(value["entry"], value["record"]))
    return fold


async def roll_of(table: Table, uri: str, number: int = 0) -> tuple[str | None, int]:
    """Return whether the roll of a flip is timely yet, and how many early receipts it has."""
    fold = await fold_of(table, number)
    pending = fold.world.pendings.get(place_of(uri))
    assert pending is not None
    return pending.roll, len(pending.early)


async def receipts(table: Table) -> dict[str, list[int]]:
    """Return the sizes that the listed receipts hold, by operator's name."""
    names = {node.did: node.name for node in table.nodes}
    found: dict[str, list[int]] = {node.name: [] for node in table.nodes}
    for entry in await table.log():
        if "/network.weighbridge.receipt/" in entry.get("uri", ""):
            found[names[entry["author"]]].append(int(entry["value"]["checkpoint"].split("\n")[1]))
    return found


async def listed_with_receipts(table: Table, *names: str) -> tuple[str, dict[str, Any]]:
    """Hand a flip in and wait until these followers' receipts of it are listed; return its uri and answer."""
    ask = flip(player(1), "a")
    (answer,) = await table.submit(data_of(ask))

    async def held() -> bool:
        found = await receipts(table)
        return all(max(found[name], default=0) > answer["listed"] for name in names)

    await until_async(held)
    return ask.uri, answer


LISTERS: dict[str, tuple[int, int, str | None]] = {
    "whose clock is right": (0, 15, "timely"),
    "that backdates by an hour": (-HOUR, 15, None),
    "that backdates by five seconds, with the usual margin": (-5 * SECOND, 15, "timely"),
    "that backdates by twenty seconds": (-20 * SECOND, 15, None),
    "that backdates by seven seconds, with the least margin": (-7 * SECOND, 3, None),
    "that is four seconds ahead": (4 * SECOND, 15, "timely"),
}


@pytest.mark.parametrize(("shift", "margin", "roll"), LISTERS.values(), ids=list(LISTERS))
async def test_a_lister(table: Table, shift: int, margin: int, roll: str | None) -> None:
    await table.lay(followers=1, beacon={"margin": margin})
    await table.up("alma", clock=Clock(shift))
    await table.up("bela", clock=Clock())
    uri, answer = await listed_with_receipts(table, "bela")
    assert answer["round"] is not None
    assert await roll_of(table, uri) == (roll, 1 if roll == "timely" else 0)
    await until_async(lambda: holds(table, 1, answer["listed"]))
    await until_async(lambda: agrees(table, uri, roll))


async def holds(table: Table, number: int, seq: int) -> bool:
    return len(await table.log(number)) > seq


async def agrees(table: Table, uri: str, roll: str | None) -> bool:
    """Whether the follower's own table says the same, once it holds the same entries."""
    return (await roll_of(table, uri, 1))[0] == roll


async def test_a_lister_that_checkpoints_late_makes_no_timely_roll(table: Table) -> None:
    await table.lay(followers=1)
    lister = await table.up("alma", clock=Clock())
    clock = Clock()
    await table.up("bela", clock=clock)
    checkpoints = lister.games[0].lister.checkpoints  # type: ignore[union-attr]
    await until(lambda: checkpoints.due_in() is None and checkpoints.size > 2)
    due_in: Callable[[], float | None] = checkpoints.due_in
    checkpoints.due_in = lambda: None  # type: ignore[method-assign]
    ask = flip(player(1), "a")
    await table.bus().put(table.lister.subjects(GAME).submit("x"), data_of(ask))
    await until_async(lambda: listed(table, ask.uri))
    clock.shift = 60 * SECOND  # a minute goes by before the lister signs
    checkpoints.due_in = due_in  # type: ignore[method-assign]

    async def held() -> bool:
        seq = next(entry["seq"] for entry in await table.log() if entry.get("uri") == ask.uri)
        return max((await receipts(table))["bela"], default=0) > seq

    await until_async(held)
    assert await roll_of(table, ask.uri) == (None, 0)


async def listed(table: Table, uri: str) -> bool:
    return any(entry.get("uri") == uri for entry in await table.log())


async def test_a_late_follower_counts_for_nothing_and_a_majority_without_it_does(table: Table) -> None:
    await table.lay(followers=3)
    await table.up("alma", clock=Clock())
    await table.up("bela", clock=Clock())
    await table.up("cora", clock=Clock())
    await table.up("dina", clock=Clock(60 * SECOND))
    uri, _ = await listed_with_receipts(table, "bela", "cora", "dina")
    assert await roll_of(table, uri) == ("timely", 2)


async def test_one_of_three_followers_may_be_away_and_two_may_not(table: Table) -> None:
    await table.lay(followers=3)
    await table.up("alma", clock=Clock())
    await table.up("bela", clock=Clock())
    uri, _ = await listed_with_receipts(table, "bela")
    assert await roll_of(table, uri) == (None, 1)
    await table.up("cora", clock=Clock())
    uri, _ = await listed_with_receipts(table, "bela", "cora")
    assert await roll_of(table, uri) == ("timely", 2)


async def test_a_follower_that_backfills_receipts_the_newest_checkpoint_and_no_older_one(
    table: Table,
) -> None:
    await table.lay(followers=1)
    await table.up("alma", clock=Clock())
    for number in range(5):
        (answer,) = await table.submit(data_of(note(player(1), f"n{number}")))
    service = await table.up("bela", clock=Clock())
    follower = service.games[0]
    await until(lambda: follower.health()["checkpoint"] > answer["listed"])

    async def held() -> bool:
        return max((await receipts(table))["bela"], default=0) > answer["listed"]

    await until_async(held)
    assert [size for size in (await receipts(table))["bela"] if size <= answer["listed"]] == []


async def test_a_lister_whose_entries_are_of_the_future_gets_no_receipt_until_they_are_not(
    table: Table,
) -> None:
    await table.lay(followers=1)
    await table.up("alma", clock=Clock(HOUR))
    clock = Clock()
    service = await table.up("bela", clock=clock)
    (answer,) = await table.submit(data_of(flip(player(1), "a")))
    await until_async(lambda: holds(table, 1, answer["listed"]))
    follower = service.games[0]
    await until(lambda: any("in the future" in said for said in follower.health()["unhealthy"]))
    assert (await receipts(table))["bela"] == []
    clock.shift = HOUR - AHEAD + SECOND

    async def held() -> bool:
        return max((await receipts(table))["bela"], default=0) > answer["listed"]

    await until_async(held)


async def test_receipts_dated_before_the_round_make_a_roll_timely_with_the_least_margin(table: Table) -> None:
    await table.lay(followers=2, beacon={"margin": 3})
    for number, name in enumerate(("alma", "bela", "cora")):
        await table.up(name, clock=Clock(number * SECOND))
    uri, answer = await listed_with_receipts(table, "bela", "cora")
    due = round_time(QUICKNET, answer["round"])
    fold = await fold_of(table, 0)
    times = [fold.table.get(f"_/receipt/{node.did}")["time"] for node in table.nodes[1:]]
    assert times == [STILL // SECOND + 1, STILL // SECOND + 2]
    assert all(each < due for each in times)
    assert (await roll_of(table, uri))[0] == "timely"


async def test_whose_clock_is_off_the_newest_beacon_lists_and_signs_nothing(table: Table) -> None:
    await table.lay(followers=0)
    path = table.lister.folder / "weighbridge.toml"
    path.write_text(path.read_text() + '\n[[beacons]]\nsource = "file"\n')
    table.nodes[0] = type(table.lister).open(table.lister.folder)
    off = {"off": 2 * SECOND}

    async def newest(_: bytes) -> bytes:
        return codec.encode(off)

    await table.bus().serve(table.lister.subjects(GAME).rpc("newest-beacon"), newest)
    service: Service = await table.up("alma", clock=Clock())
    listing = service.games[0]
    await until(lambda: any("ahead of the newest beacon" in said for said in listing.health()["unhealthy"]))
    (answer,) = await table.submit(data_of(note(player(1), "a")))
    assert answer["unavailable"] == "clock-off"
    assert await table.log() == []
    off["off"] = 0
    await until_async(lambda: listed(table, note(player(1), "a").uri))
    assert listing.health()["clock_checked"]
