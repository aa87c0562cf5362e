"""Handing in, listing and answering, between nodes on a real broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from ingest_games import GAME, Table, data_of, flip, note, player, root, with_coin
from nodes import PATIENCE, World, until_async
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import (
    COSIGNATURE,
    SIGNATURE,
    envelope_to_json,
    open_note,
    sign_record,
    verifier_key,
)
from weighbridge.log import Checkpoint
from weighbridge_services.ingest.app import Service
from weighbridge_services.ingest.arrivals import ANSWER
from weighbridge_services.ingest.errors import AnotherLister
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


def uris(log: list[dict[str, Any]]) -> list[str]:
    return [entry.get("uri", entry["op"]).rpartition("/")[2] for entry in log]


def flips(log: list[dict[str, Any]]) -> list[str]:
    return [entry["uri"].rpartition("/")[2] for entry in log if "/example.coin.flip/" in entry.get("uri", "")]


async def receipts(table: Table, number: int) -> list[str]:
    """Return the receipts of a follower that are listed."""
    own = f"{table.nodes[number].did}/network.weighbridge.receipt/"
    return [entry["value"]["checkpoint"] for entry in await table.log() if own in entry.get("uri", "")]


async def held_by(table: Table, number: int, seq: int) -> bool:
    """Whether a receipt of a follower that holds an entry is listed."""
    return any(int(text.split("\n")[1]) > seq for text in await receipts(table, number))


async def test_a_submission_is_listed_answered_and_receipted_by_every_follower(table: Table) -> None:
    await table.lay(followers=2)
    for name in ("alma", "bela", "cora"):
        await table.up(name)
    (answer,) = await table.submit(data_of(flip(player(1), "a")))
    seq = answer["listed"]
    for number in (1, 2):
        await until_async(lambda number=number: held_by(table, number, seq))  # type: ignore[misc]
    log = await table.log()
    assert uris(log)[0] == "one"
    assert log[seq]["uri"].endswith("/example.coin.flip/a")
    assert log[seq]["at"] == answer["at"]


async def test_the_answer_is_a_checkpoint_that_holds_the_record_and_the_receipt_cosigns_it(
    table: Table,
) -> None:
    await table.lay()
    await table.up("alma")
    await table.up("bela")
    (answer,) = await table.submit(data_of(flip(player(1), "a")))
    lister, follower = table.nodes
    key = verifier_key("alma", SIGNATURE, lister.keys.log.public)
    checkpoint = Checkpoint.parse(open_note(answer["receipt"].encode(), [key]).text)
    assert (checkpoint.origin, checkpoint.size > answer["listed"]) == (f"{GAME}/log", True)
    await until_async(lambda: held_by(table, 1, answer["listed"]))
    cosigner = verifier_key("bela", COSIGNATURE, follower.keys.log.public)
    opened = open_note((await receipts(table, 1))[-1].encode(), [key, cosigner])
    assert opened.keys == {key, cosigner}


async def test_the_log_comes_to_rest_when_nobody_hands_anything_in(table: Table) -> None:
    await table.lay(followers=2)
    for name in ("alma", "bela", "cora"):
        await table.up(name)
    (answer,) = await table.submit(data_of(note(player(1), "a")))
    for number in (1, 2):
        await until_async(lambda number=number: held_by(table, number, answer["listed"]))  # type: ignore[misc]
    size = await until_async(lambda: _at_rest(table))
    for _ in range(3):
        assert await _at_rest(table) == size


async def _is(held: bool) -> bool:
    return held


async def _at_rest(table: Table) -> int | None:
    """Return the size of the log once every follower has receipted all of it, and the lister has read that.

    Were such receipts listed, there would always be a newer checkpoint to receipt, or a receipt to read.
    """
    lister = table.services["alma"][0].games[0]
    size = lister.health()["size"]
    if not await _newest_receipts(table, size):
        return None
    for number in (1, 2):
        stream = table.nodes[number].subjects(GAME).stream("RECORDS")
        readers = await table.bus(number).js.consumers_info(stream)
        if any(each.num_pending or each.num_ack_pending for each in readers):
            return None
    return size if lister.health()["size"] == lister.health()["checkpoint"] == size else None


async def _newest_receipts(table: Table, size: int) -> bool:
    found = []
    for number in (1, 2):
        subjects = table.nodes[number].subjects(GAME)
        found.append(await table.bus(number).last(subjects.stream("RECORDS"), subjects.checkpoint(size)))
    return all(each is not None for each in found)


async def test_a_record_handed_in_at_a_follower_is_listed_by_the_lister(table: Table) -> None:
    await table.lay()
    await table.up("alma")
    await table.up("bela")
    (answer,) = await table.submit(data_of(note(player(1), "a")), at=1)
    assert (await table.log())[answer["listed"]]["uri"].endswith("/a")


async def test_duplicates_and_redeliveries_are_listed_once_and_answered_alike(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    data = data_of(flip(player(1), "a"))
    answers = await table.submit(*[data] * 5)
    (again,) = await table.submit(data)
    assert {(each["listed"], each["at"], each["round"]) for each in [*answers, again]} == {
        (answers[0]["listed"], answers[0]["at"], answers[0]["round"])
    }
    assert flips(await table.log()) == ["a"]


async def test_a_rejection_is_answered_and_published_and_the_senders_good_records_count(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    good, bad = data_of(note(player(1), "a")), bytearray(data_of(note(player(1), "b")))
    bad[20] ^= 1  # within the signature
    answers = await table.submit(bytes(bad), good)
    assert {each.get("rejected", "listed") for each in answers} == {"bad-signature", "listed"}
    subjects = table.lister.subjects(GAME)
    found = await table.bus().last(subjects.stream("INBOX"), subjects.rejected)
    assert found is not None
    rejection: Any = codec.decode(found.data)
    assert rejection == {
        "cid": str(Cid.of(bytes(bad))),
        "code": "bad-signature",
        "says": rejection["says"],
        "from": table.lister.did,
    }
    assert table.services["alma"][0].games[0].health()["rejected"] == {"bad-signature": 1}


POISON = [
    b"",
    b"\x00",
    b"{}",
    b"\xff" * 900,
    b"\xa0",
    b"\x9f" * 5_000,
    bytes(300_000),
    b"\xd8\x2a\x58\x25\x00" + bytes(36),
]


async def test_poison_is_rejected_and_what_comes_after_it_is_listed(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    answers = await table.submit(*POISON, data_of(note(player(1), "a")))
    assert sum("rejected" in each for each in answers) == len(POISON)
    assert sum("listed" in each for each in answers) == 1


async def test_a_flood_is_answered_and_counted_and_costs_nobody_else(table: Table) -> None:
    await table.lay(followers=0, floods={"author": 2})
    await table.up("alma")
    answers = await table.submit(*(data_of(note(player(1), f"n{n}")) for n in range(4)))
    assert [each.get("rejected", "listed") for each in answers].count("flooded") == 2
    assert "listed" in (await table.submit(data_of(note(player(2), "a"))))[0]
    await table.down("alma")
    await table.up("alma")
    (again,) = await table.submit(data_of(note(player(1), "n9")))
    assert again["rejected"] == "flooded"


async def test_another_games_root_is_rejected(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    other = sign_record(player(1), None, "example.coin.root", "one", {"gm": player(1).did})
    (answer,) = await table.submit(data_of(other))
    assert answer["rejected"] == "other-game"


async def test_nothing_is_listed_before_the_root_and_everything_after_it(table: Table) -> None:
    await table.lay(followers=0)
    config = table.lister.folder / "weighbridge.toml"
    config.write_text(config.read_text().replace('root = "root.json"', ""))
    table.nodes[0] = type(table.lister).open(table.lister.folder)
    await table.up("alma")
    first = asyncio.create_task(table.submit(data_of(note(player(1), "a"))))
    await until_async(lambda: _is(table.services["alma"][0].health()["games"][GAME]["size"] == 0))
    (answer,) = await table.submit(data_of(root(lister=table.lister.did)))
    assert answer["listed"] == 0
    (later,) = await first
    assert later.get("unavailable", "listed") in ("no-root-yet", "listed")
    await until_async(lambda: _listed(table, "/a"))


async def _listed(table: Table, ending: str) -> bool:
    return any(entry.get("uri", "").endswith(ending) for entry in await table.log())


async def test_many_records_at_once_are_all_listed_in_order(table: Table) -> None:
    await table.lay(followers=1, floods={"author": 10_000, "strangers": 10_000})
    await table.up("alma")
    await table.up("bela")
    records = [data_of(note(player(n % 7 + 1), f"n{n}")) for n in range(600)]
    answers = await table.submit(*records)
    assert all("listed" in each for each in answers)
    listed = [uri for uri in uris(await table.log()) if uri.startswith("n")]
    assert listed == [f"n{n}" for n in range(600)]
    await until_async(lambda: held_by(table, 1, max(each["listed"] for each in answers)))
    own = await table.log(1)
    assert own == (await table.log())[: len(own)]


async def test_what_operators_publish_is_listed_whoever_publishes_it(table: Table) -> None:
    await table.lay()
    await table.up("alma")
    await table.up("bela")
    follower = table.nodes[1]
    value = {"game": GAME, "subject": {"uri": GAME, "cid": "x"}, "verdict": "ok"}
    report = data_of(sign_record(follower.keys.records, GAME, "network.weighbridge.trace", "t", value))
    await table.bus(1).publish_once(follower.subjects(GAME).trace(str(Cid.of(report))), report)
    await until_async(lambda: _listed(table, "/network.weighbridge.trace/t"))


async def test_of_two_listers_with_one_key_one_loses_loudly(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    await table.submit(data_of(note(player(1), "a")))
    await table.down("alma")
    ledger = table.lister.folder / "ledger"
    aside = table.lister.folder / "aside"
    ledger.rename(aside)
    bus = Bus.connect(table.lister, "ingest")
    await bus.start()
    second = Service(with_coin(table.lister), bus, table.lister.clock())
    with pytest.raises(AnotherLister):
        await second.start()
    await second.stop()
    await bus.stop()


async def test_a_lister_that_finds_somebody_elses_entry_in_its_stream_stops(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    await table.submit(data_of(note(player(1), "a")))
    subjects = table.lister.subjects(GAME)
    last = await table.bus().last(subjects.stream("LOG"), subjects.log)
    assert last is not None
    await table.bus().append(subjects.log, b"somebody else's", last.sequence)
    submitted = asyncio.create_task(table.submit(data_of(note(player(1), "b"))))
    bus = table.services["alma"][1]
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert bus.failure is not None
    assert getattr(bus.failure, "code", "") == "another-lister"
    submitted.cancel()
    await asyncio.gather(submitted, return_exceptions=True)


async def test_a_node_whose_root_names_another_lister_refuses_to_list(table: Table) -> None:
    await table.lay(followers=0)
    (table.lister.folder / "root.json").write_text(json.dumps(envelope_to_json(root(lister=player(9).did))))
    await table.up("alma")
    bus = table.services["alma"][1]
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert getattr(bus.failure, "code", "") == "not-the-lister"
    assert await table.log() == []


async def test_a_root_of_another_lister_that_is_handed_in_is_refused_and_stops_nobody(table: Table) -> None:
    await table.lay(followers=0)
    toml = table.lister.folder / "weighbridge.toml"
    toml.write_text(toml.read_text().replace('[games.source]\nroot = "root.json"\n', ""))
    table.nodes[0] = Node.open(table.lister.folder)
    await table.up("alma")
    (answer,) = await table.submit(data_of(root(lister=player(9).did)))
    assert answer["rejected"] == "other-lister"
    (listed,) = await table.submit(data_of(root(lister=table.lister.did)))
    assert listed["listed"] == 0
    assert not table.services["alma"][1].failed.is_set()


@pytest.mark.parametrize("where", ["log", "", "_INBOX.a b", "_INBOX.>", "_INBOX"])
async def test_an_answer_goes_nowhere_but_to_an_inbox(table: Table, where: str) -> None:
    """It is sent with the lister's rights: in its log it would look like another writer's, and stop the lister."""
    await table.lay(followers=0)
    await table.up("alma")
    own, bus = table.lister.subjects(GAME), table.bus()
    wanted = own.log if where == "log" else where
    await bus.put(own.submit("x"), data_of(flip(player(1), "odd")), {ANSWER: wanted})
    (answer,) = await table.submit(data_of(flip(player(2), "fine")))
    assert "receipt" in answer

    async def both() -> bool:
        return sorted(flips(await table.log())) == ["fine", "odd"]

    await until_async(both)
    await table.down("alma")
    await table.up("alma")
    assert sorted(flips(await table.log())) == ["fine", "odd"]
