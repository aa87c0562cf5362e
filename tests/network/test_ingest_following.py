"""A lister at fault: its followers say so, signed and with the evidence, and cosign no more."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from ingest_games import GAME, Table, data_of, flip, note, player, root
from nodes import World, until, until_async
from weighbridge import codec
from weighbridge.identity import open_envelope
from weighbridge.log import MerkleLog
from weighbridge.log.entries import Listed, make_entry
from weighbridge_services.ingest.errors import AnotherLister
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.ingest.lister import operator_envelope
from weighbridge_services.ingest.notes import checkpoint_message, sign_checkpoint
from weighbridge_services.ingest.opening import log_message
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.subjects import token

NOW = 1_700_000_000_000_000


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


class Crooked:
    """A lister in the hands of a test, which signs and publishes whatever it is told to."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.node = table.lister
        self.subjects = self.node.subjects(GAME)
        self.entries: list[Listed] = []
        self.tree = MerkleLog()

    async def open(self) -> None:
        """List what every log begins with."""
        await self.record(data_of(root(lister=self.node.did)))
        await self.introduce()
        await self.sign()

    async def introduce(self, at: int = NOW) -> None:
        """List the lister's operator record."""
        setting = Setting(self.node, self.node.games[0], None, None, None, None)  # type: ignore[arg-type]
        await self.record(operator_envelope(setting), at)

    async def record(self, data: bytes, at: int = NOW, **changes: Any) -> Listed:
        envelope = open_envelope(data)
        fields: dict[str, Any] = {
            "game": GAME, "at": at, "op": "create", "uri": envelope.uri, "author": envelope.author,
            "record": envelope.record, "prov": {"sig": envelope.sig},
        }  # fmt: skip
        return await self.list(make_entry(self.last, **{**fields, **changes}))

    @property
    def last(self) -> Listed | None:
        return self.entries[-1] if self.entries else None

    async def list(self, listed: Listed, payload: bytes | None = None) -> Listed:
        self.entries.append(listed)
        self.tree.append(listed.data)
        await self.table.bus().append(
            self.subjects.log, payload or log_message(listed), len(self.entries) - 1
        )
        return listed

    async def sign(self, root_hash: bytes | None = None, size: int | None = None) -> bytes:
        size = size or len(self.entries)
        note = sign_checkpoint(
            self.node.keys.log, self.node.name, GAME, size, root_hash or self.tree.root(size)
        )
        await self.table.bus().put(self.subjects.checkpoint(size), checkpoint_message(note))
        return note


async def finding(table: Table, code: str, about: str | None = None) -> dict[str, Any]:
    """Wait for a follower's finding and return its value, the signature checked."""
    follower = table.nodes[1]
    subjects = follower.subjects(GAME)

    async def found() -> dict[str, Any] | None:
        info = await table.bus(1).js.stream_info(subjects.stream("RECORDS"))
        for seq in range(1, info.state.last_seq + 1):
            message = await table.bus(1).js.get_msg(subjects.stream("RECORDS"), seq)
            if f".finding.{token('ingest')}." in (message.subject or ""):
                envelope = open_envelope(message.data or b"")
                if envelope.value["code"] == code and about in (None, envelope.value["about"]):
                    assert envelope.author == follower.did
                    return envelope.value
        return None

    value = await until_async(found)
    assert value is not None
    return value


async def laid(table: Table) -> tuple[Crooked, Follower]:
    """A crooked lister whose log was good so far, and a follower that has cosigned it."""
    await table.lay(followers=1, recorded=True)
    crooked = Crooked(table)
    await crooked.open()
    await table.up("bela")
    follower = table.services["bela"][0].games[0]
    assert isinstance(follower, Follower)
    await until(lambda: follower.health()["checkpoint"] == 2)
    return crooked, follower


async def cosigned(table: Table, size: int) -> bool:
    subjects = table.nodes[1].subjects(GAME)
    return await table.bus(1).last(subjects.stream("RECORDS"), subjects.checkpoint(size)) is not None


async def test_a_forged_checkpoint_is_shown_and_never_cosigned(table: Table) -> None:
    crooked, follower = await laid(table)
    await crooked.record(data_of(note(player(1), "a")))
    note_text = await crooked.sign(root_hash=b"f" * 32)
    value = await finding(table, "forged-checkpoint")
    assert value["note"] == note_text.decode()
    assert value["size"] == 3
    await crooked.record(data_of(note(player(1), "b")))
    await crooked.sign()
    await until(lambda: follower.health()["unhealthy"] != [])
    assert not await cosigned(table, 3)
    assert not await cosigned(table, 4)


async def test_two_checkpoints_of_one_size_are_published_as_proof(table: Table) -> None:
    crooked, _ = await laid(table)
    first = await crooked.sign(size=1)
    second = await crooked.sign(root_hash=b"f" * 32, size=2)
    value = await finding(table, "forged-checkpoint")
    assert {value["note"], value["other"]} == {second.decode(), (await crooked_note(table, 2)).decode()}
    assert first != second


async def crooked_note(table: Table, size: int) -> bytes:
    """Return the lister's first note of a size, as the follower's receipt carries it."""
    subjects = table.nodes[1].subjects(GAME)
    found = await table.bus(1).last(subjects.stream("RECORDS"), subjects.checkpoint(size))
    assert found is not None
    message: Any = codec.decode(found.data)
    text = open_envelope(message["envelope"]).value["checkpoint"]
    lines = text.split("\n")
    return ("\n".join(lines[:-2]) + "\n").encode()


async def test_a_record_that_its_author_did_not_sign_ends_the_following(table: Table) -> None:
    crooked, follower = await laid(table)
    await crooked.record(data_of(note(player(1), "a")), prov={"sig": bytes(64)})
    value = await finding(table, "bad-proof")
    assert value["about"].endswith("/a")
    assert value["seq"] == 2
    assert follower.setting.store.size == 2


async def test_a_backward_time_ends_the_following(table: Table) -> None:
    crooked, follower = await laid(table)
    await crooked.record(data_of(note(player(1), "a")), at=NOW - 1)
    value = await finding(table, "malformed-log")
    assert "log-time-decreases" in value["says"] or "before" in value["says"]
    assert follower.setting.store.size == 2


async def test_bytes_that_are_no_entry_end_the_following_and_not_the_node(table: Table) -> None:
    crooked, follower = await laid(table)
    await table.bus().append(crooked.subjects.log, b"\xff\xff", 2)
    await finding(table, "malformed-log")
    assert table.services["bela"][1].failure is None
    assert "follows no more" in follower.health()["unhealthy"][0]


async def test_a_rewritten_log_is_found_out_after_the_wipe_that_made_room_for_it(table: Table) -> None:
    crooked, _ = await laid(table)
    await table.down("bela")
    await table.world.wipe_broker()
    for node in table.nodes:
        await table.declare(node)
    other = Crooked(table)
    await other.record(data_of(root(lister=crooked.node.did)), at=NOW + 1)
    await other.introduce(at=NOW + 1)
    await other.sign()
    await table.up("bela")
    value = await finding(table, "forked-log")
    assert value["held"] in [each.data for each in crooked.entries]
    assert value["entry"] in [each.data for each in other.entries]


async def test_a_fault_is_remembered_over_a_restart_by_reading_it_again(table: Table) -> None:
    crooked, _ = await laid(table)
    await crooked.record(data_of(note(player(1), "a")), prov={"sig": bytes(64)})
    first = await finding(table, "bad-proof")
    await table.down("bela")
    await table.up("bela")
    follower = table.services["bela"][0].games[0]
    await until(lambda: follower.health()["unhealthy"] != [])
    assert await finding(table, "bad-proof") == first


async def test_a_record_that_the_lister_does_not_list_is_withheld(table: Table) -> None:
    crooked, follower = await laid(table)
    follower.withholding.after = 0.01
    handed = flip(player(1), "a")
    await table.bus(1).put(table.nodes[1].subjects(GAME).submit("x"), data_of(handed))
    await until(lambda: follower.withholding.waiting == 2)  # and the follower's own operator record
    assert follower.health()["withheld"] == 0  # the lister may be away: its log stands still
    await crooked.record(data_of(note(player(2), "b")), at=NOW + 60_000_000)
    values = [await finding(table, "withheld", about) for about in (handed.uri, own_record(table))]
    assert values[0]["cid"] == str(handed.cid)
    assert values[0]["proof"] == data_of(handed)
    await until(lambda: follower.withholding.waiting == 0)


def own_record(table: Table) -> str:
    return f"at://{table.nodes[1].did}/network.weighbridge.operator/self"


async def test_what_is_listed_or_rejected_is_not_withheld(table: Table) -> None:
    await table.lay(followers=1, floods={"author": 1})
    await table.up("alma")
    await table.up("bela")
    follower = table.services["bela"][0].games[0]
    assert isinstance(follower, Follower)
    answers = await table.submit(data_of(note(player(1), "a")), data_of(note(player(1), "b")), at=1)
    assert sorted(each.get("rejected", "listed") for each in answers) == ["flooded", "listed"]
    await until(lambda: follower.withholding.waiting == 0)
    assert follower.health()["withheld"] == 0


async def test_checkpoints_of_strangers_are_not_heard(table: Table) -> None:
    crooked, follower = await laid(table)
    await crooked.record(data_of(note(player(1), "a")))
    forged = sign_checkpoint(player(5), crooked.node.name, GAME, 3, b"f" * 32)
    for payload in (checkpoint_message(forged), b"\xff", codec.encode({"note": 3}), codec.encode({})):
        await table.bus().put(crooked.subjects.checkpoint(3), payload)
    await crooked.sign()
    await until_async(lambda: cosigned(table, 3))
    assert follower.health()["unhealthy"] == []


async def test_nothing_is_cosigned_while_the_listers_keys_are_unknown(table: Table) -> None:
    await table.lay(followers=1, recorded=True)
    crooked = Crooked(table)
    await crooked.record(data_of(root(lister=crooked.node.did)))
    await crooked.sign()
    service = await table.up("bela")
    follower = service.games[0]
    await until(lambda: any("lister-unknown" in said for said in follower.health()["unhealthy"]))
    await crooked.introduce()
    await crooked.sign()
    await until_async(lambda: cosigned(table, 2))
    assert follower.health()["unhealthy"] == []


async def test_a_follower_catches_up_with_a_long_log_and_its_own_stream_is_the_same(table: Table) -> None:
    await table.lay(followers=1, recorded=True)
    crooked = Crooked(table)
    await crooked.open()
    for number in range(400):
        await crooked.record(data_of(note(player(number % 9 + 1), f"n{number}")), at=NOW + number)
    await crooked.sign()
    await table.up("bela")
    await until_async(lambda: cosigned(table, 402))
    assert await table.log(1) == await table.log(0)


@pytest.mark.parametrize("kept", [False, True])
async def test_a_follower_whose_ledger_is_lost_or_an_older_copy_takes_back_what_it_published(
    table: Table, kept: bool
) -> None:
    crooked, _ = await laid(table)
    ledger = table.nodes[1].folder / "ledger"
    await table.down("bela")
    copy = ledger.rename(ledger.with_name("copy"))
    if kept:
        shutil.copytree(copy, ledger)
    await table.up("bela")
    for number in range(300):
        await crooked.record(data_of(note(player(number % 9 + 1), f"n{number}")), at=NOW + number)
    await crooked.sign()
    await until_async(lambda: cosigned(table, 302))
    await table.down("bela")
    shutil.rmtree(ledger)
    if kept:
        copy.rename(ledger)
    service = await table.up("bela")
    follower = service.games[0]
    assert isinstance(follower, Follower)
    assert follower.health()["size"] == 302
    await crooked.record(data_of(note(player(1), "afterwards")), at=NOW + 300)
    await crooked.sign()
    await until_async(lambda: cosigned(table, 303))
    assert await table.log(1) == await table.log(0)
    assert (follower.health()["unhealthy"], follower.fault) == ([], None)


async def test_a_follower_whose_own_stream_holds_what_nobody_signed_does_not_start_on_it(
    table: Table,
) -> None:
    _, follower = await laid(table)
    subjects = table.nodes[1].subjects(GAME)
    await table.down("bela")
    await table.bus(1).append(subjects.log, b"somebody else's", 2)
    with pytest.raises(AnotherLister):
        await table.up("bela")
    assert follower.fault is None
