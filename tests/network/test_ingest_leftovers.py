"""What a source has found and a full day's log left out is listed when the next day has begun, and nothing is lost."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import pytest
from ingest_games import GAME, Table, data_of, note, player, root
from nodes import World, until, until_async
from repo_making import ALICE
from shelf import SHELVES, Repo, Shelf
from watched_games import NOTES, follower_of, said, settled, with_source
from weighbridge.cid import Cid
from weighbridge.fold.records import DAY, TRACE
from weighbridge.identity import sign_record
from weighbridge_services.ingest import leftovers
from weighbridge_services.ingest.listing import Listing

NOON = 20_700 * DAY + DAY // 2


class Clock:
    """Goes on from a noon, and over days when it is told to."""

    def __init__(self) -> None:
        self.ahead = NOON - time.monotonic_ns() // 1_000

    def now(self) -> int:
        return time.monotonic_ns() // 1_000 + self.ahead

    def advance(self, at: int) -> None:
        """Ignore the log's time."""


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


@pytest.fixture(autouse=True)
def shelves() -> Iterator[dict[str, Shelf]]:
    SHELVES.clear()
    SHELVES.update(alma=Shelf(), bela=Shelf())
    yield SHELVES
    SHELVES.clear()


async def laid(table: Table, clock: Clock, followers: int = 0, **floods: int) -> Listing:
    await table.lay(followers=followers, source='plugin = "shelf"\nshelf = "alma"', floods=floods)
    if followers:
        with_source(table, 0.1)
    await table.up("alma", clock)
    if followers:
        await table.up("bela", clock)
    return lister_of(table)


def lister_of(table: Table) -> Listing:
    lister = table.services["alma"][0].games[0]
    assert isinstance(lister, Listing)
    return lister


async def of(table: Table, author: str) -> list[str]:
    return [
        each["uri"].rpartition("/")[2]
        for each in await table.log()
        if each.get("author") == author and "uri" in each
    ]


async def floods(table: Table) -> list[tuple[str | None, int]]:
    return [(each.get("author"), each["count"]) for each in await table.log() if each["op"] == "flood"]


async def test_what_a_source_found_on_a_full_day_is_listed_the_next_days_in_its_order_and_nobody_is_accused(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    clock, repo = Clock(), Repo()
    lister = await laid(table, clock, followers=1, author=2)
    told = [repo.tell(f"{NOTES}/n{number}", said("hello")) for number in range(5)]
    shelves["alma"].put(*told)
    shelves["bela"].put(*told)
    await until(lambda: lister.health()["flooded_waiting"] == 3)
    await settled(follower_of(table), 5)
    for left in (1, 0):
        clock.ahead += DAY
        await until(lambda left=left: lister.health()["flooded_waiting"] == left)  # type: ignore[misc]
    await until_async(lambda: _are(table, ALICE, ["n0", "n1", "n2", "n3", "n4"]))
    # Of each day the entry says how many records its log left out, also where a later day lists them.
    assert await floods(table) == [(ALICE, 3), (ALICE, 1)]
    follower = follower_of(table)
    await until(lambda: follower.setting.store.size == lister.health()["size"])
    assert follower.health()["withheld"] == 0
    assert lister.health()["flooded_lost"] == 0


async def _are(table: Table, author: str, rkeys: list[str]) -> bool:
    return await of(table, author) == rkeys


async def test_what_waits_outlives_a_restart_and_is_counted_once_however_often_its_source_gives_it(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    clock, who = Clock(), player(1)
    lister = await laid(table, clock, author=1)
    told = [data_of(note(who, rkey)) for rkey in "abc"]
    shelves["alma"].put(*told, *told)
    await until(lambda: lister.driver is not None and lister.driver.read == 6)
    await table.down("alma")
    clock.ahead += DAY
    await table.up("alma", clock)
    await until(lambda: lister_of(table).health()["flooded_waiting"] == 1)
    assert await of(table, who.did) == ["a", "b"]
    assert await floods(table) == [(who.did, 2)]


async def test_a_version_that_was_overtaken_by_a_later_one_is_not_listed_after_it(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    clock, who = Clock(), player(1)
    lister = await laid(table, clock, author=1)
    shelves["alma"].put(data_of(note(who, "a")), data_of(note(who, "b", "old")))
    await until(lambda: lister.health()["flooded_waiting"] == 1)
    more = data_of(root(lister=table.lister.did, floods={"author": 2}))
    answers = await table.submit(more, data_of(note(who, "b", "new")))
    assert all("listed" in each for each in answers)
    clock.ahead += DAY
    await until(lambda: lister.health()["flooded_waiting"] == 0)
    await until_async(lambda: _has_ticked(table))
    assert await of(table, who.did) == ["a", "b"]


async def _has_ticked(table: Table) -> bool:
    return any(each["op"] == "tick" for each in await table.log())


async def test_what_is_handed_in_by_people_is_theirs_to_hand_in_again(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    lister = await laid(table, Clock(), author=1)
    answers = await table.submit(*(data_of(note(player(1), rkey)) for rkey in "ab"))
    assert sorted(each.get("rejected", "listed") for each in answers) == ["flooded", "listed"]
    assert lister.health()["flooded_waiting"] == 0


async def test_what_finds_no_room_is_counted_and_one_author_leaves_the_others_theirs(
    table: Table, shelves: dict[str, Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "OF_STRANGER", 2)
    lister = await laid(table, Clock(), author=1)
    shelves["alma"].put(*(data_of(note(player(n), f"n{m}")) for n in (1, 2) for m in range(5)))
    await until(lambda: lister.driver is not None and lister.driver.read == 10)
    assert lister.health()["flooded_waiting"] == 4
    assert lister.health()["flooded_lost"] == 4


async def test_an_operators_evidence_waits_too_and_what_others_wrote_does_not_by_being_published_as_such(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    clock = Clock()
    lister = await laid(table, clock, followers=1, author=1)
    node, stranger = table.nodes[1], player(1)
    value = {"game": GAME, "subject": {"uri": GAME, "cid": "x"}, "verdict": "ok"}
    traces = [sign_record(node.keys.records, GAME, TRACE, f"t{number}", value) for number in range(258)]
    # The follower's own operator record is one of the 256 that the day holds of its evidence.
    for each in (*(note(stranger, rkey) for rkey in "ab"), *traces):
        data = data_of(each)
        await table.bus(1).publish_once(node.subjects(GAME).trace(str(Cid.of(data))), data)
    await until(lambda: lister.health()["flooded_waiting"] == 3)
    await until(lambda: lister.health()["rejected"].get("flooded") == 4)
    clock.ahead += DAY
    await until(lambda: lister.health()["flooded_waiting"] == 0)
    await until_async(lambda: _holds(table, node.did, [f"t{number}" for number in range(258)]))
    assert await of(table, stranger.did) == ["a"]
    assert sorted(await floods(table)) == sorted([(node.did, 3), (stranger.did, 1)])


async def _holds(table: Table, author: str, rkeys: list[str]) -> bool:
    return set(await of(table, author)) >= set(rkeys)
