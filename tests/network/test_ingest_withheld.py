"""A follower reads a source of its own: a player whom the lister never lists is missed by somebody, and no other is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from ingest_games import GAME, Table, data_of, note, player
from nodes import World, until, until_async
from repo_making import ALICE
from shelf import SHELVES, Repo, Shelf
from test_ingest_following import NOW, Crooked, finding, own_record
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Unavailable
from weighbridge.log.entries import make_entry
from weighbridge.repos import open_carried
from weighbridge_services.ingest import withholding
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.ingest.opening import log_message
from weighbridge_services.node import Node

NOTES = "example.coin.note"
OTHER = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaab/example.coin.root/one"


def said(text: str, game: str = GAME) -> dict[str, Any]:
    return {"$type": NOTES, "game": game, "text": text}


def uri(rkey: str) -> str:
    return f"at://{ALICE}/{NOTES}/{rkey}"


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


def with_source(table: Table, after: float, settings: str = 'plugin = "shelf"\nshelf = "bela"') -> Node:
    """Give the follower a source of its own, and so many seconds to its lister."""
    path = table.nodes[1].folder / "weighbridge.toml"
    text = path.read_text()
    line = next(each for each in text.splitlines() if each.startswith("ruleset"))
    (settings_before, rest) = text.split(line, 1)
    kept = rest.split("\n[games.source]")[0].replace("\n[test]\ncrash = true", "")
    kept = "\n".join(each for each in kept.splitlines() if not each.startswith("withheld-after"))
    path.write_text(f"{settings_before}{line}\nwithheld-after = {after}{kept}\n[games.source]\n{settings}\n")
    table.nodes[1] = Node.open(table.nodes[1].folder)
    return table.nodes[1]


async def laid(table: Table, after: float, **fields: Any) -> Follower:
    """A lister and a follower, each with a source of its own."""
    await table.lay(followers=1, source='plugin = "shelf"\nshelf = "alma"', **fields)
    with_source(table, after)
    await table.up("alma")
    await table.up("bela")
    return follower_of(table)


def follower_of(table: Table) -> Follower:
    follower = table.services["bela"][0].games[0]
    assert isinstance(follower, Follower)
    return follower


def found(follower: Follower) -> int:
    assert follower.finder is not None
    return follower.finder.found


async def settled(follower: Follower, count: int) -> None:
    """Wait until the follower's source has found so many, and nothing is awaited."""
    await until(lambda: found(follower) >= count and follower.withholding.waiting == 0, 30)


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
    await until(lambda: service.games[0].health()["size"] >= 300, 30)
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
    async with asyncio.timeout(30):
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


# --- records that were of the game ------------------------------------------------------------------------------


async def test_an_edit_that_names_another_game_is_listed_followed_and_missed_where_it_is_left_out(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.3), Repo()
    first = repo.tell(f"{NOTES}/a", said("hello"))
    edit = repo.tell(f"{NOTES}/a", said("elsewhere", OTHER))
    another = repo.tell(f"{NOTES}/a", said("elsewhere still", OTHER))
    shelves["alma"].put(first, edit)
    shelves["bela"].put(first, edit)
    await settled(follower, 2)
    assert [each["op"] for each in await table.log(1) if each.get("uri") == uri("a")] == ["create", "update"]
    assert follower.fault is None
    shelves["bela"].put(another)
    assert (await finding(table, "withheld", uri("a")))["cid"] == str(open_carried(another).cid)


async def test_a_log_that_lists_a_record_of_another_game_is_followed_no_more(table: Table) -> None:
    crooked, follower = await crooked_with_source(table)
    data = Repo().tell(f"{NOTES}/a", said("hello", OTHER))
    found = open_carried(data)
    listed = make_entry(
        crooked.last,
        game=GAME,
        at=NOW,
        op="create",
        uri=uri("a"),
        author=ALICE,
        record=found.record,
        prov=found.prov,
    )
    await crooked.list(listed, log_message(listed))
    value = await finding(table, "malformed-log", uri("a"))
    assert "lists no version of it before" in value["says"]
    assert follower.setting.store.size == 2


# --- rejections -------------------------------------------------------------------------------------------------


async def crooked_with_source(table: Table) -> tuple[Crooked, Follower]:
    await table.lay(followers=1, recorded=True)
    with_source(table, 0.01)
    crooked = Crooked(table)
    await crooked.open()
    await table.up("bela")
    follower = follower_of(table)
    await until(lambda: follower.health()["checkpoint"] == 2)
    return crooked, follower


@pytest.mark.parametrize(
    ("rejected", "code"),
    [
        pytest.param("bad-signature", "wrong-rejection", id="of a record that verifies"),
        pytest.param("other-game", "wrong-rejection", id="of a record of the game"),
        pytest.param("flooded", "withheld", id="as too many on a day with room"),
    ],
)
async def test_a_rejection_that_the_follower_sees_to_be_wrong_is_reported(
    table: Table, shelves: dict[str, Shelf], rejected: str, code: str
) -> None:
    crooked, follower = await crooked_with_source(table)
    data = Repo().tell(f"{NOTES}/a", said("hello"))
    message = {"cid": str(Cid.of(data)), "code": rejected, "says": "It is not.", "from": "shelf"}
    await table.bus().put(crooked.subjects.rejected, codec.encode(message))
    shelves["bela"].put(data)
    await until(lambda: follower.withholding.waiting == 2)
    await until(lambda: follower.withholding.rejections == 1)
    await crooked.record(data_of(note(player(2), "b")), at=NOW + 60_000_000)
    value = await finding(table, code, uri("a"))
    assert value.get("rejected") == (rejected if code == "wrong-rejection" else None)
    await finding(table, "withheld", own_record(table))


# --- the source -------------------------------------------------------------------------------------------------


async def test_what_was_found_before_a_restart_is_missed_after_it(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 600), Repo()
    shelves["bela"].put(repo.tell(f"{NOTES}/a", said("hello")), repo.tell(f"{NOTES}/b", said("hello")))
    await until(lambda: found(follower) == 2)
    assert follower.withholding.waiting == 2
    await table.down("bela")
    with_source(table, 0.3)
    await table.up("bela")
    await finding(table, "withheld", uri("a"))
    await finding(table, "withheld", uri("b"))
    assert shelves["bela"].asked == [0, 2]  # it was not read anew


async def test_what_is_no_record_of_the_game_is_counted_by_its_code(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    follower, repo = await laid(table, 0.1), Repo()
    other = repo.tell(f"{NOTES}/a", said("hello", OTHER))
    good = repo.tell(f"{NOTES}/b", said("hello"))
    shelves["bela"].put(other, good[:-1] + b"!", b"\xff", good)
    shelves["alma"].put(good)
    await settled(follower, 1)
    health = follower.health()
    assert health["withheld"] == 0
    assert health["refused"]["other-game"] == 1
    assert sum(health["refused"].values()) == 3
    assert (health["source"], health["source_found"], health["source_read"]) == ("shelf", 1, 4)


async def test_a_source_that_is_away_for_a_while_is_opened_and_read_again(
    table: Table, shelves: dict[str, Shelf]
) -> None:
    shelves["bela"].away = 2
    follower = await laid(table, 0.3)
    await until(lambda: any("shelf-away" in each for each in follower.health()["unhealthy"]))
    shelves["bela"].put(Repo().tell(f"{NOTES}/a", said("hello")))
    await finding(table, "withheld", uri("a"))
    assert shelves["bela"].closed == 2
    assert follower.health()["unhealthy"] == []


async def test_a_source_that_cannot_be_read_costs_the_watch_and_not_the_following(table: Table) -> None:
    await table.lay(followers=1)
    with_source(table, 0.3, 'file = "lost.jsonl"')
    await table.up("alma")
    await table.up("bela")
    follower = follower_of(table)
    await until(lambda: any("bad-source" in each for each in follower.health()["unhealthy"]))
    await table.submit(data_of(note(player(1), "a")))
    await until(lambda: follower.health()["size"] >= 4)
    assert table.services["bela"][1].failure is None


async def test_too_much_that_is_handed_in_comes_again_when_there_is_room(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(withholding, "MAX_AWAITED", 0)
    await table.lay(followers=1)
    await table.up("bela")
    follower = follower_of(table)
    with pytest.raises(Unavailable) as raised:
        await follower.withholding._take([_Message(data_of(note(player(1), "a")))])  # type: ignore[list-item]
    assert raised.value.code == "too-much-awaited"


class _Message:
    def __init__(self, data: bytes) -> None:
        self.data = data
