"""Crashes at every named point, brokers that go away or lose their disk: nothing is lost or listed twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ingest_games import GAME, LISTER, Table, coin_on_path, data_of, flip, note, player
from nodes import PATIENCE, World, until_async
from weighbridge.identity import envelope_to_json
from weighbridge_services.ingest.errors import CannotRestore
from weighbridge_services.wire.crashing import EXIT, VARIABLE

CRASH_POINTS = ("after-verify", "after-persist", "after-append", "after-checkpoint", "after-answer")
assert "crash = true" in LISTER


@pytest.fixture
async def table(world: World) -> AsyncIterator[Table]:
    made = Table(world)
    try:
        yield made
    finally:
        await made.clear()


class Process:
    """A node's ingest in a process of its own."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder, self.path = folder, path
        self.process: asyncio.subprocess.Process | None = None

    async def start(self, crash_at: str | None = None) -> None:
        env = {**os.environ, "PYTHONPATH": str(self.path)}
        if crash_at is not None:
            env[VARIABLE] = f"ingest.{crash_at}"
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services", "run", "ingest", "--node", str(self.folder),
            env=env, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

    async def wait(self) -> int:
        assert self.process is not None
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def stop(self) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.terminate()
        return await self.wait()


def configured(table: Table) -> None:
    """Let every node load the toy, which is on the path of its processes."""
    for node in table.nodes:
        config = node.folder / "weighbridge.toml"
        config.write_text(config.read_text() + '\n[plugins]\nrulesets = ["coin"]\n')


def records(log: list[dict[str, Any]]) -> list[str]:
    return [
        entry["uri"].rpartition("/")[2]
        for entry in log
        if "/example.coin.root/" not in entry.get("uri", "") and "/example.coin." in entry.get("uri", "")
    ]


async def holds(table: Table, wanted: set[str], number: int = 0) -> bool:
    return wanted <= set(records(await table.log(number)))


@pytest.mark.parametrize("point", CRASH_POINTS)
async def test_a_lister_killed_loses_nothing_and_lists_nothing_twice(
    table: Table, tmp_path: Path, point: str
) -> None:
    await table.lay(followers=0)
    configured(table)
    process = Process(table.lister.folder, coin_on_path(tmp_path / "site"))
    await process.start()
    await table.submit(data_of(note(player(1), "before")))
    assert await process.stop() == 0
    await process.start(crash_at=point)
    submitted = asyncio.create_task(
        table.submit(data_of(flip(player(1), "a")), data_of(note(player(2), "b")))
    )
    assert await process.wait() == EXIT
    held = await table.log()
    await process.start()
    answers = await submitted
    log = await table.log()
    assert records(log).count("a") == records(log).count("b") == records(log).count("before") == 1
    assert log[: len(held)] == held
    assert all("listed" in each for each in answers)
    assert await process.stop() == 0


@pytest.mark.parametrize("point", CRASH_POINTS[:-1])
async def test_a_follower_killed_goes_on_where_it_was(table: Table, tmp_path: Path, point: str) -> None:
    await table.lay(followers=1)
    configured(table)
    path = coin_on_path(tmp_path / "site")
    lister, follower = (Process(node.folder, path) for node in table.nodes)
    await lister.start()
    await table.submit(data_of(note(player(1), "before")))
    await follower.start(crash_at=point)
    assert await follower.wait() == EXIT
    await follower.start()
    (answer,) = await table.submit(data_of(note(player(2), "after")))
    await until_async(lambda: holds(table, {"before", "after"}, 1))
    own = await table.log(1)
    assert own == (await table.log())[: len(own)]

    async def receipted() -> bool:
        mine = f"{table.nodes[1].did}/network.weighbridge.receipt/"
        found = [e["value"]["checkpoint"] for e in await table.log() if mine in e.get("uri", "")]
        return any(int(text.split("\n")[1]) > answer["listed"] for text in found)

    await until_async(receipted)
    for process in (lister, follower):
        assert await process.stop() == 0


async def test_a_broker_that_restarts_costs_nothing(table: Table) -> None:
    await table.lay(followers=1)
    await table.up("alma")
    await table.up("bela")
    await table.submit(data_of(note(player(1), "a")))
    table.world.kill_broker()
    (answer,) = await table.submit_patiently(data_of(note(player(1), "b")))
    assert "listed" in answer
    await until_async(lambda: holds(table, {"a", "b"}, 1))
    assert records(await table.log()) == ["a", "b"]


async def test_a_broker_that_lost_its_disk_gets_every_stream_again_as_it_was(table: Table) -> None:
    await table.lay(followers=1)
    await table.up("alma")
    await table.up("bela")
    for name in ("a", "b", "c"):
        (answer,) = await table.submit(data_of(flip(player(1), name)))
    await until_async(lambda: holds(table, {"a", "b", "c"}, 1))
    follower = table.services["bela"][0].games[0]
    await until_async(lambda: _at_least(follower.health()["checkpoint"], answer["listed"] + 1))
    before = await table.log()
    receipts = await checkpoints(table, 1)
    await table.world.wipe_broker()
    for node in table.nodes:
        await table.declare(node)
    (answer,) = await table.submit_patiently(data_of(flip(player(1), "d")))
    after = await table.log()
    assert after[: len(before)] == before
    await until_async(lambda: holds(table, {"a", "b", "c", "d"}, 1))
    own = await table.log(1)
    assert own == (await table.log())[: len(own)]
    await until_async(lambda: _at_least(follower.health()["checkpoint"], answer["listed"] + 1))
    assert receipts.items() <= (await checkpoints(table, 1)).items()


async def _at_least(size: int, wanted: int) -> bool:
    return size >= wanted


async def checkpoints(table: Table, number: int) -> dict[str, bytes]:
    """Return what a node published under its checkpoint subjects."""
    subjects = table.nodes[number].subjects(GAME)
    found: dict[str, bytes] = {}
    info = await table.bus(number).js.stream_info(subjects.stream("RECORDS"))
    for seq in range(1, info.state.last_seq + 1):
        message = await table.bus(number).js.get_msg(subjects.stream("RECORDS"), seq)
        if message.subject and ".checkpoint." in message.subject:
            found[message.subject] = message.data or b""
    return found


async def test_a_lister_started_on_a_wiped_broker_publishes_its_ledger(table: Table) -> None:
    await table.lay(followers=0)
    await table.up("alma")
    await table.submit(data_of(note(player(1), "a")))
    before, notes = await table.log(), await checkpoints(table, 0)
    await table.down("alma")
    await table.world.wipe_broker()
    await table.declare(table.lister)
    await table.up("alma")
    assert await table.log() == before
    assert notes.items() <= (await checkpoints(table, 0)).items()


async def test_a_source_goes_on_where_it_was(table: Table) -> None:
    await table.lay(followers=0, source='file = "season.jsonl"')
    lines = [json.dumps(envelope_to_json(note(player(1), f"n{n}"))) for n in range(4)]
    path = table.lister.folder / "season.jsonl"
    path.write_text("\n".join(lines[:2]) + "\n")
    await table.up("alma")
    await until_async(lambda: holds(table, {"n0", "n1"}))
    await table.down("alma")
    path.write_text("\n".join(lines) + "\n")
    service = await table.up("alma")
    await until_async(lambda: holds(table, {"n0", "n1", "n2", "n3"}))
    assert records(await table.log()) == ["n0", "n1", "n2", "n3"]
    await until_async(lambda: _at_least(service.health()["games"][GAME]["source_read"], 2))


async def test_a_source_that_cannot_be_read_stops_the_node_with_its_line(table: Table) -> None:
    await table.lay(followers=0, source='file = "season.jsonl"')
    (table.lister.folder / "season.jsonl").write_text("no JSON\n")
    await table.up("alma")
    bus = table.services["alma"][1]
    await asyncio.wait_for(bus.failed.wait(), PATIENCE)
    assert getattr(bus.failure, "code", "") == "bad-source"
    assert "season.jsonl, line 1" in str(bus.failure)


async def lose_the_listers_ledger(table: Table) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """List and receipt some records, then stop the lister and take its ledger away."""
    await table.lay(followers=1)
    await table.up("alma")
    await table.up("bela")
    for name in ("a", "b", "c"):
        (answer,) = await table.submit(data_of(flip(player(1), name)))
    lister, follower = (table.services[name][0].games[0] for name in ("alma", "bela"))
    await until_async(lambda: _at_least(follower.health()["checkpoint"], answer["listed"] + 1))
    await until_async(lambda: _equal(lister, follower))
    log, receipts = await table.log(), await checkpoints(table, 1)
    await table.down("alma")
    (table.lister.folder / "ledger").rename(table.lister.folder / "aside")
    return log, receipts


async def _equal(lister: Any, follower: Any) -> bool:
    size = lister.health()["size"]
    return bool(size == lister.health()["checkpoint"] == follower.health()["checkpoint"])


async def test_a_lister_that_lost_its_ledger_takes_up_what_its_followers_hold(table: Table) -> None:
    before, _ = await lose_the_listers_ledger(table)
    await table.world.wipe_broker()
    for node in table.nodes:
        await table.declare(node)
    await until_async(lambda: holds(table, {"a", "b", "c"}, 1))
    subjects = table.nodes[1].subjects(GAME)
    size = table.services["bela"][0].games[0].health()["checkpoint"]
    await until_async(lambda: _there(table, subjects.stream("RECORDS"), subjects.checkpoint(size)))
    await table.up("alma")
    (answer,) = await table.submit(data_of(flip(player(1), "d")))
    after = await table.log()
    assert answer["listed"] >= size
    assert after[:size] == before[:size]
    assert records(after) == ["a", "b", "c", "d"]
    await until_async(lambda: holds(table, {"d"}, 1))
    assert table.services["bela"][0].games[0].health()["unhealthy"] == []


async def test_a_lister_with_an_older_ledger_takes_up_what_its_own_stream_holds_while_all_others_are_away(
    table: Table,
) -> None:
    await table.lay(followers=1)
    await table.up("alma")
    await table.submit(data_of(flip(player(1), "a")))
    await table.down("alma")
    ledger = table.lister.folder / "ledger"
    shutil.copytree(ledger, ledger.with_name("copy"))
    await table.up("alma")
    await table.submit(data_of(flip(player(1), "b")), data_of(flip(player(1), "c")))
    await table.down("alma")
    before = await table.log()
    shutil.rmtree(ledger)
    ledger.with_name("copy").rename(ledger)
    await table.up("alma")
    (answer,) = await table.submit(data_of(flip(player(1), "d")))
    after = await table.log()
    assert answer["listed"] >= len(before)
    assert after[: len(before)] == before
    assert records(after) == ["a", "b", "c", "d"]


async def _there(table: Table, stream: str, subject: str) -> bool:
    return await table.bus(1).last(stream, subject) is not None


async def test_a_lister_lists_nothing_when_what_it_signed_is_nowhere(table: Table) -> None:
    _, receipts = await lose_the_listers_ledger(table)
    await table.down("bela")
    await table.world.wipe_broker()
    for node in table.nodes:
        await table.declare(node)
    subject, newest = max(receipts.items(), key=lambda each: int(each[0].rpartition(".")[2]))
    await table.bus(1).publish_once(subject, newest)
    with pytest.raises(CannotRestore, match="does not hold all of them"):
        await table.up("alma")
    assert await table.log() == []
