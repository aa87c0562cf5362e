"""A follower reads a source of its own: a player whom the lister never lists is missed by somebody, and no other is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from ingest_games import GAME, Table, data_of, note, player
from nodes import World, until, until_async
from repo_making import ALICE
from shelf import SHELVES, Repo, Shelf
from test_ingest_following import finding, own_record
from watched_games import NOTES, follower_of, found, laid, said, settled, uri, with_source
from weighbridge.repos import open_carried
from weighbridge_services.ingest import withholding


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


# --- withheld ---------------------------------------------------------------------------------------------------


async def test_a_player_whom_the_lister_never_lists_is_missed_by_a_follower(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower = await laid(table, 0.3)
    data = Repo().tell(f"{NOTES}/a", said("hello"))
    shelves["bela"].put(data)
    value = await finding(table, "withheld", uri("a"))
    assert value["cid"] == str(open_carried(data).cid)
    assert open_carried(value["proof"]).uri.authority == ALICE  # whoever reads it can verify it
    await settled(follower, 1)
    assert follower.health()["withheld"] == 1


async def test_an_honest_lister_is_accused_of_nothing(table: Table, shelves: dict[str, Shelf]) -> None:
    follower, repo = await laid(table, 0.05), Repo()
    for number in range(8):
        for value in (said("hello"), said("again"), None):
            data = repo.tell(f"{NOTES}/{number}", value)
            shelves["alma"].put(data)
            shelves["bela"].put(data)
    await settled(follower, 24)
    assert follower.health()["withheld"] == 0


async def test_a_later_version_and_an_end_that_the_lister_leaves_out_are_missed_too(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.3), Repo()
    for rkey in ("a", "b"):
        data = repo.tell(f"{NOTES}/{rkey}", said("hello"))
        shelves["alma"].put(data)
        shelves["bela"].put(data)
    await settled(follower, 2)
    shelves["bela"].put(repo.tell(f"{NOTES}/a", said("changed")))
    assert "cid" in await finding(table, "withheld", uri("a"))
    shelves["bela"].put(repo.tell(f"{NOTES}/b", None))
    value = await finding(table, "withheld", uri("b"))
    assert "cid" not in value
    assert value["says"].startswith("The end of this record")


async def test_an_author_with_very_much_awaited_hides_nobody_else(
    table: Table, shelves: dict[str, Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(withholding, "MAX_AWAITED_OF_AUTHOR", 2)
    monkeypatch.setattr(withholding, "MAX_AWAITED", 4)
    follower = await laid(table, 0.3)
    for number in range(9):
        shelves["bela"].put(data_of(note(player(1), f"n{number}")))
    missed = Repo().tell(f"{NOTES}/a", said("hello"))
    shelves["bela"].put(missed)
    await finding(table, "withheld", uri("a"))
    await settled(follower, 10)
    assert follower.health()["withheld"] == 3
    assert follower.withholding.left_out == 7


async def test_more_than_is_watched_at_a_time_is_read_when_there_is_room(
    table: Table, shelves: dict[str, Shelf], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(withholding, "MAX_AWAITED", 3)
    follower = await laid(table, 0.3)
    for number in range(1, 9):
        shelves["bela"].put(data_of(note(player(number), "a")))
    await settled(follower, 8)
    assert follower.health()["withheld"] == 8
    assert follower.withholding.left_out == 0


# --- no false accusation ----------------------------------------------------------------------------------------


async def test_a_record_that_is_listed_later_than_it_was_found_is_settled(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower = await laid(table, 600)
    data = Repo().tell(f"{NOTES}/a", said("hello"))
    shelves["bela"].put(data)
    await until(lambda: follower.withholding.waiting == 1)
    shelves["alma"].put(data)
    await settled(follower, 1)
    assert follower.health()["withheld"] == 0


async def test_a_late_joiner_with_a_backfilled_source_accuses_nobody(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    await table.lay(
        followers=1, source='plugin = "shelf"\nshelf = "alma"', floods={"author": 500, "strangers": 500}
    )
    with_source(table, 0.01)
    repo = Repo()
    told = [repo.tell(f"{NOTES}/{number}", said("hello")) for number in range(300)]
    shelves["alma"].put(*told)
    shelves["bela"].put(*told)
    service = await table.up("alma")
    await until(lambda: service.games[0].health()["size"] >= 300)
    await table.up("bela")
    follower = follower_of(table)
    await settled(follower, 300)
    assert follower.health()["withheld"] == 0
    assert follower.withholding.left_out == 0  # it read on only when its log had caught up


async def test_a_lister_that_is_away_is_accused_of_nothing_and_lists_when_it_is_back(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.3), Repo()
    await until_async(lambda: lists(table, own_record(table)))
    await until(lambda: follower.withholding.waiting == 0)
    await table.down("alma")
    data = repo.tell(f"{NOTES}/a", said("hello"))
    shelves["bela"].put(data)
    before = await submitted(table)
    await until_probed(table, before + 2)
    assert follower.withholding.waiting == 1
    assert follower.health()["withheld"] == 0
    shelves["alma"].put(data)
    await table.up("alma")
    await settled(follower, 1)
    assert follower.health()["withheld"] == 0


async def test_a_record_that_came_and_went_while_the_lister_was_away_is_not_held_against_it(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 600), Repo()
    shelves["bela"].put(repo.tell(f"{NOTES}/a", said("hello")))
    await until(lambda: found(follower) == 1)
    assert follower.withholding.waiting == 1
    shelves["bela"].put(repo.tell(f"{NOTES}/a", None))
    await settled(follower, 2)


async def lists(table: Table, record: str) -> bool:
    return any(each.get("uri") == record for each in await table.log(1))


async def submitted(table: Table) -> int:
    """How often something was handed in at the follower."""
    stream = table.nodes[1].subjects(GAME).stream("INBOX")
    info = await table.bus(1).js.stream_info(stream)
    return int(info.state.last_seq)


async def until_probed(table: Table, count: int) -> None:
    async with asyncio.timeout(60):
        while await submitted(table) < count:
            await asyncio.sleep(0.05)


async def test_what_a_full_day_has_no_room_for_is_not_withheld(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.1, floods={"author": 2}), Repo()
    told = [repo.tell(f"{NOTES}/{number}", said("hello")) for number in range(5)]
    shelves["alma"].put(*told)
    shelves["bela"].put(*told)
    await settled(follower, 5)
    assert follower.health()["withheld"] == 0
    assert sum(each.get("author") == ALICE for each in await table.log()) == 2


async def test_records_of_strangers_on_a_day_full_of_strangers_are_not_withheld(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower = await laid(table, 0.1, floods={"strangers": 2})
    told = [data_of(note(player(number), "a")) for number in range(1, 6)]
    shelves["alma"].put(*told)
    shelves["bela"].put(*told)
    await settled(follower, 5)
    assert follower.health()["withheld"] == 0


async def test_who_shows_a_follower_alone_what_they_write_has_a_lister_accused_of_no_more_than_a_day_holds(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.1, floods={"author": 2}), Repo()
    for number in range(5):
        shelves["bela"].put(repo.tell(f"{NOTES}/{number}", said("hello")))
        await settled(follower, number + 1)
    assert follower.health()["withheld"] == 2


async def test_strangers_together_have_a_lister_accused_of_no_more_than_a_day_holds_of_them(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower = await laid(table, 0.1, floods={"strangers": 2})
    for number in range(1, 6):
        shelves["bela"].put(data_of(note(player(number), "a")))
        await settled(follower, number)
    assert follower.health()["withheld"] == 2
