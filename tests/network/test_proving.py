"""Followers find out themselves whose the keys are that a lister's log names, and say in their receipts where not."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ingest_games import GAME, CoinPlugins, Table
from nodes import World, until
from proving_games import (
    FIRST,
    LISTERS_OWN,
    SECOND,
    SETTLES,
    STRONG,
    Keys,
    by_directory,
    cosigned,
    kept,
    laid,
    unproved_at,
    until_it_is,
    until_settled,
    up,
    write,
)
from repo_making import ALICE, BOB
from test_ingest_following import NOW, finding
from weighbridge import codec
from weighbridge.fold import grades
from weighbridge.ports import KeyAsked, Vouched
from weighbridge_atproto import open_keys
from weighbridge_services.ingest import proving
from weighbridge_services.ingest.proved import CONFIRMED

sys.path.append(str(Path(__file__).resolve().parents[2] / "plugins" / "atproto" / "tests"))

from atproto_host import hosting
from plc_making import BEGIN, HOUR, Directory, Plc


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Keys:
    made = Keys()
    monkeypatch.setitem(CoinPlugins.sources, "keys", made)
    monkeypatch.setattr(proving, "PATIENCE", 0.2)
    return made


@pytest.fixture
async def directory(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Directory]:
    monkeypatch.setitem(CoinPlugins.sources, "keys", open_keys)
    monkeypatch.setattr(proving, "patience", lambda margin: 60.0)  # it answers, on a busy machine too
    async with hosting(Directory()) as made:
        yield made


@pytest.fixture(autouse=True)
def asks_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LOOK": 0.02, "RETRY": 0.01, "RETRY_MOST": 0.05}.items():
        monkeypatch.setattr(proving, name, value)


async def test_a_lister_that_says_its_own_key_is_a_players_is_found_out_by_every_follower(
    table: Table, directory: Directory
) -> None:
    alice = Plc([STRONG], FIRST)
    directory.has(alice)
    crooked = await laid(table, 2, by_directory(directory))
    games = [await up(table, name) for name in ("bela", "cora")]
    await write(crooked, alice.did, FIRST)
    assert [await unproved_at(table, 3, number) for number in (1, 2)] == [[], []]
    forged = await write(crooked, alice.did, LISTERS_OWN, "b")
    await until(lambda: [game.proving.doubted() for game in games] == [3, 3])
    since = await until_settled(crooked, *games)
    assert "key is in doubt" in games[0].health()["unhealthy"][0]
    assert [game.fault for game in games] == [None, None]
    await until_it_is(crooked, since + CONFIRMED)
    value = await finding(table, "bad-proof")
    assert (value["about"], value["seq"], value["entry"]) == (forged.entry.uri, 3, forged.data)
    assert (value["key"], value["doc"]) == (LISTERS_OWN.public.did_key, alice.entries[0]["cid"])
    await until(lambda: all(game.fault is not None for game in games))
    await write(crooked, alice.did, FIRST, "c", at=since + CONFIRMED)
    sizes = range(4, 8)
    assert [size for size in sizes for number in (1, 2) if await cosigned(table, size, number)] == []


async def test_a_directory_that_lags_behind_has_no_honest_lister_accused(
    table: Table, directory: Directory
) -> None:
    alice = Plc([STRONG], FIRST, at=BEGIN - 100 * HOUR)
    directory.has(alice)
    crooked = await laid(table, 1, by_directory(directory))
    follower = await up(table)
    alice.change(SECOND, STRONG, NOW - HOUR, rotation=[STRONG])
    await write(crooked, alice.did, SECOND)
    await until(lambda: follower.proving.doubted() == 2)
    await until_it_is(crooked, SETTLES - 2_000_000)
    await until_settled(crooked, follower)
    directory.has(alice)
    await until(lambda: follower.health()["grades"]["lister-says"] == 0)
    assert follower.proving.doubted() is None
    await until_it_is(crooked, SETTLES + 10 * CONFIRMED)
    assert await unproved_at(table, 6) == []
    assert follower.fault is None


async def test_who_goes_on_listing_under_a_made_up_key_puts_nothing_off(
    table: Table, directory: Directory
) -> None:
    alice = Plc([STRONG], FIRST)
    directory.has(alice)
    crooked = await laid(table, 1, by_directory(directory))
    follower = await up(table)
    forged = await write(crooked, alice.did, LISTERS_OWN)
    await until(lambda: follower.proving.doubted() == 2)
    await write(crooked, alice.did, LISTERS_OWN, "b", at=SETTLES)
    since = await until_settled(crooked, follower)
    await write(crooked, alice.did, LISTERS_OWN, "c", at=since + CONFIRMED)
    value = await finding(table, "bad-proof")
    assert (value["about"], value["seq"]) == (forged.entry.uri, 2)


async def test_a_follower_that_restarts_in_between_finds_a_made_up_key_out_all_the_same(
    table: Table, directory: Directory
) -> None:
    alice = Plc([STRONG], FIRST)
    directory.has(alice)
    crooked = await laid(table, 1, by_directory(directory))
    follower = await up(table)
    await write(crooked, alice.did, LISTERS_OWN)
    since = await until_settled(crooked, follower)
    await table.down("bela")
    follower = await up(table)
    assert (follower.fault, follower.proving.doubted()) == (None, 2)
    await until_it_is(crooked, since + CONFIRMED)
    assert (await finding(table, "bad-proof"))["seq"] == 2
    await until(lambda: follower.fault is not None)


async def test_entries_wait_a_part_of_the_margin_and_not_again_while_who_was_waited_for_is_dark(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    margins: list[int | None] = []
    monkeypatch.setattr(proving, "patience", lambda margin: margins.append(margin) or 0.0)
    monkeypatch.setattr(proving, "IMPATIENCE", 0.0)
    crooked = await laid(table, beacon={"margin": 3})
    follower = await up(table)
    assert await unproved_at(table, 2) == []
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]
    await write(crooked, BOB, SECOND)
    assert await unproved_at(table, 4) == [[2, 4]]
    assert margins == [3]
    keys.say(ALICE, "vouched")
    await until(lambda: follower.health()["grades"]["lister-says"] == 1)
    await write(crooked, "did:web:cora.test", SECOND)
    assert await unproved_at(table, 5) == [[3, 5]]
    await table.down("bela")
    await up(table)
    assert margins == [3, 3]
    await write(crooked, "did:web:dina.test", SECOND)
    assert await unproved_at(table, 6) == [[3, 6]]
    assert margins == [3, 3, 3]


async def test_a_dark_host_eats_no_short_margin(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "PATIENCE", 10_000.0)
    crooked = await laid(table, beacon={"margin": 3})
    await up(table)
    assert await unproved_at(table, 2) == []
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]


async def test_a_key_that_is_changed_later_unmakes_nothing_neither_here_nor_for_who_joins_late(
    table: Table, directory: Directory
) -> None:
    alice = Plc([STRONG], FIRST, at=BEGIN - 100 * HOUR)
    directory.has(alice)
    crooked = await laid(table, 2, by_directory(directory))
    bela = await up(table)
    await write(crooked, alice.did, FIRST)
    assert await unproved_at(table, 3) == []
    assert kept(bela, alice.did, FIRST)["grade"] == "proved-now"
    alice.change(SECOND, STRONG, NOW + HOUR, rotation=[STRONG])
    directory.has(alice)
    await table.down("bela")
    assert (await up(table)).health()["grades"] == {"proved-now": 3, "seen-by-quorum": 0, "lister-says": 0}
    cora = await up(table, "cora")
    assert await unproved_at(table, 3, 2) == []
    found = kept(cora, alice.did, FIRST)
    assert (found["grade"], found["how"], found["doc"]) == ("proved-now", "plc-log", alice.entries[0]["cid"])
    assert found["good_to"] == NOW + HOUR


async def test_one_dark_host_holds_up_nobody_and_the_receipts_say_what_is_unproved(
    table: Table, keys: Keys
) -> None:
    crooked = await laid(table)
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]
    assert follower.health()["grades"] == {"proved-now": 2, "seen-by-quorum": 0, "lister-says": 1}
    await crooked.introduce()
    await crooked.sign()
    assert await unproved_at(table, 4) == [[2, 3]]
    keys.say(ALICE, "vouched")
    await until(lambda: follower.health()["grades"]["lister-says"] == 0)
    assert kept(follower, ALICE, FIRST)["grade"] == "proved-now"
    await write(crooked, ALICE, FIRST, "b")
    assert await unproved_at(table, 5) == []
    assert len(keys.asked) == 1


async def test_who_has_long_been_dark_takes_no_turn_from_who_is_new(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"AT_ONCE": 1, "DARK_AT_ONCE": 1, "DARK_AFTER": 1, "LONGEST": 10_000.0}
    for name, value in made.items():
        monkeypatch.setattr(proving, name, value)
    keys.say(ALICE, "unavailable")
    crooked = await laid(table)
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    await until(lambda: keys.asked != [])
    answered = len(keys.asked)
    del keys.answers[ALICE]
    await until(lambda: len(keys.asked) > answered)  # now she is being asked, and does not answer
    await write(crooked, BOB, SECOND)
    await until(lambda: keys.asked[-1].did == BOB)
    keys.say(BOB, "vouched")
    await until(lambda: follower.health()["grades"]["lister-says"] == 1)


async def test_who_has_long_been_dark_puts_off_no_answer_about_a_key_in_doubt(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"DARK_AT_ONCE": 1, "DARK_AFTER": 1, "LONGEST": 10_000.0}.items():
        monkeypatch.setattr(proving, name, value)
    keys.say(ALICE, "unavailable")
    keys.say(BOB, "contradicted")
    crooked = await laid(table)
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    await until(lambda: keys.asked != [])
    answered = len(keys.asked)
    del keys.answers[ALICE]
    await until(lambda: len(keys.asked) > answered)  # now she has the only turn of those who are dark
    await write(crooked, BOB, LISTERS_OWN)
    await until_it_is(crooked, await until_settled(crooked, follower) + CONFIRMED)
    assert (await finding(table, "bad-proof"))["seq"] == 3


async def test_who_is_dark_hides_no_end_of_another_s_record_from_the_receipts(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt names only so many spans: what lies between unproved entries is named with them, and an end last."""
    monkeypatch.setattr(grades, "MOST_SPANS", 2)
    keys.say(BOB, "vouched")
    crooked = await laid(table)
    await up(table)
    await write(crooked, ALICE, FIRST, "a")
    for rkey in "wxyz":
        await write(crooked, BOB, SECOND, rkey)
    await write(crooked, ALICE, FIRST, "b")
    await write(crooked, BOB, SECOND, "z", end=True)
    await write(crooked, ALICE, FIRST, "c")
    assert [each.entry.op for each in crooked.entries[2:]] == [*["create"] * 6, "delete", "create"]
    assert await unproved_at(table, 10) == [[2, 8], [9, 10]]
    await table.down("bela")
    await up(table)
    await write(crooked, ALICE, FIRST, "d")
    assert await unproved_at(table, 11) == [[2, 8], [9, 11]]


async def test_what_a_quorum_has_seen_of_what_is_unproved_here_is_counted_as_the_fold_tells_it(
    table: Table, keys: Keys
) -> None:
    """Of a DID that is dark to who joins late, others' receipts are all there is."""
    crooked = await laid(table)
    asked: list[Any] = []

    async def answer(message: Any) -> None:
        asked.append(codec.decode(message.data))
        await message.respond(codec.encode({"grades": ["seen-by-quorum"], "size": 3}))

    await table.bus(1).nc.subscribe(table.nodes[1].subjects(GAME).rpc("grades"), cb=answer)
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    wanted = {"proved-now": 2, "seen-by-quorum": 1, "lister-says": 0}
    await until(lambda: follower.health()["grades"] == wanted)
    assert asked[0] == {"seqs": [2]}


async def test_what_was_unproved_before_a_restart_is_asked_about_after_it(table: Table, keys: Keys) -> None:
    crooked = await laid(table)
    await up(table)
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]
    await table.down("bela")
    keys.say(ALICE, "vouched")
    follower = await up(table)
    await until(lambda: follower.health()["grades"]["lister-says"] == 0)
    await crooked.introduce()
    await crooked.sign()
    assert await unproved_at(table, 4) == []


async def test_a_false_key_that_is_found_out_after_its_receipt_ends_the_following_for_good(
    table: Table, keys: Keys
) -> None:
    crooked = await laid(table)
    follower = await up(table)
    await write(crooked, ALICE, LISTERS_OWN)
    assert await unproved_at(table, 3) == [[2, 3]]
    keys.say(ALICE, "contradicted")
    await until_it_is(crooked, await until_settled(crooked, follower) + CONFIRMED)
    assert (await finding(table, "bad-proof"))["seq"] == 2
    await until(lambda: follower.fault is not None)
    await table.down("bela")
    follower = await up(table)
    await until(lambda: follower.fault is not None)
    await until_it_is(crooked, SETTLES + HOUR)
    await until(lambda: follower.health()["unhealthy"] != [])
    assert not await cosigned(table, 6)


async def test_a_voucher_that_fails_leaves_the_entry_unproved_and_the_follower_whole(
    table: Table, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(asked: KeyAsked) -> Vouched:
        raise ZeroDivisionError("a fault of the plugin's")

    monkeypatch.setattr(keys, "vouch", fail)
    crooked = await laid(table)
    await up(table)
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]
    assert table.services["bela"][1].failure is None


async def test_a_follower_without_a_source_that_knows_dids_says_that_it_has_proved_none(
    table: Table, tmp_path: Path
) -> None:
    lines = tmp_path / "none.jsonl"
    lines.write_text("")
    crooked = await laid(table, source=f'plugin = "jsonl"\nfile = "{lines}"')
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    assert await unproved_at(table, 3) == [[2, 3]]
    assert follower.health()["vouches"] is False


async def test_what_was_in_doubt_is_unproved_once_there_is_nobody_to_ask(
    table: Table, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "patience", lambda margin: 60.0)
    keys.say(ALICE, "contradicted")
    crooked = await laid(table)
    follower = await up(table)
    await write(crooked, ALICE, FIRST)
    await until(lambda: follower.proving.doubted() == 2)
    await table.down("bela")
    assert not await cosigned(table, 3)
    (tmp_path / "none.jsonl").write_text("")
    lines = f'plugin = "jsonl"\nfile = "{tmp_path / "none.jsonl"}"'
    table.nodes[1] = table.world.rewrite(table.nodes[1], 'plugin = "keys"', lines)
    await up(table)
    assert await unproved_at(table, 3) == [[2, 3]]
