"""What else a follower's own source shows: edits that name other games, wrong rejections, and its own failures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from ingest_games import GAME, Table, data_of, note, player
from nodes import World, until
from repo_making import ALICE
from shelf import SHELVES, Repo, Shelf
from test_ingest_following import NOW, Crooked, finding, own_record
from watched_games import NOTES, OTHER, follower_of, found, laid, said, settled, uri, with_source
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Unavailable
from weighbridge.log.entries import make_entry
from weighbridge.repos import open_carried
from weighbridge_services.ingest import withholding
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.ingest.opening import log_message


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
