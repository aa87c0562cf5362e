"""A game whose lister is gone goes on under another: handed over by the GM and the quorum, on live nodes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from ingest_games import GAME, Table, data_of, note, player, root
from nodes import World, until_async
from running import Folding, environment, install_coin
from weighbridge import codec
from weighbridge.identity import envelope_to_json, open_envelope
from weighbridge_services.cross_check.app import Service as CrossCheck
from weighbridge_services.ingest.errors import HandoverElsewhere
from weighbridge_services.node import Node

pytestmark = pytest.mark.anyio


class Handing(Table):
    """Three operators of whom two are a quorum, and the command by which they hand over."""

    async def begin(self, site: Path) -> None:
        self.site = site
        await self.lay(2)
        operators = {"dids": [node.did for node in self.nodes], "quorum": 2}
        first = root(lister=self.lister.did, policy=operators)
        (self.lister.folder / "root.json").write_text(json.dumps(envelope_to_json(first)))
        self.gm_key = self.lister.folder.parent / "gm.key"
        self.gm_key.write_text((b"g" * 32).hex())
        self.gm_key.chmod(0o600)

    async def signed(self, number: int, to: Node, *more: object) -> tuple[int, str]:
        """Run the command at a node; return its exit code and what it prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services", "handover", "--node", str(self.nodes[number].folder),
            "--to", to.did, *map(str, more), env=environment(self.site),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, told = await process.communicate()
        return process.returncode or 0, (out or told).decode()

    def follows(self, number: int, lister: Node) -> None:
        """Have a node follow another lister from its next start on."""
        self._replace(number, f'lister = "{self.lister.did}"', f'lister = "{lister.did}"')

    def lists(self, number: int, lines: list[str]) -> None:
        """Have a node take over, from its next start on, with these records."""
        old = f'role = "follower"\nlister = "{self.lister.did}"'
        self._replace(number, old, 'role = "lister"')
        node = self.nodes[number]
        (node.folder / "handover.jsonl").write_text("".join(lines))
        path = node.folder / "weighbridge.toml"
        others = "".join(f'[[games.peers]]\ndid = "{each.did}"\n' for each in self.nodes if each is not node)
        settings = f'{others}[games.source]\nhandover = "handover.jsonl"\n[test]'
        path.write_text(path.read_text().replace("[test]", settings))
        self.nodes[number] = Node.open(node.folder)

    def _replace(self, number: int, old: str, new: str) -> None:
        self.nodes[number] = self.world.rewrite(self.nodes[number], old, new)


@pytest.fixture
async def table(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Handing]:
    site = install_coin(tmp_path)
    monkeypatch.syspath_prepend(str(site))
    made = Handing(world)
    await made.begin(site)
    yield made
    await made.clear()


async def played_and_left(table: Handing) -> int:
    """Have a game listed and followed, and its lister gone; return how many entries both followers hold."""
    services = [await table.up(name) for name in ("alma", "bela", "cora")]
    await table.submit(data_of(note(player(1), "a")))

    async def at_rest() -> bool:
        healths = [each.games[0].health() for each in services]
        log = await table.log()
        operators = [uri for each in log if "network.weighbridge.operator" in (uri := each["uri"] or "")]
        return len(operators) == 3 and len({(each["size"], each["checkpoint"]) for each in healths}) == 1

    await until_async(at_rest)
    for name in ("alma", "bela", "cora"):
        await table.down(name)
    sizes = {len(await table.log(number)) for number in (1, 2)}
    (size,) = sizes
    return size


async def handed_over(table: Handing, size: int) -> None:
    bela = table.nodes[1]
    said = [
        await table.signed(1, bela, "--key", table.gm_key),
        await table.signed(1, bela),
        await table.signed(2, bela, "--size", size),
    ]
    assert [code for code, _ in said] == [0, 0, 0], said
    table.lists(1, [line for _, line in said])
    table.follows(2, bela)
    await table.up("bela")
    await table.up("cora")


async def test_a_game_whose_lister_is_gone_goes_on_under_another(table: Handing) -> None:
    size = await played_and_left(table)
    before = await table.log(1)
    await handed_over(table, size)
    answer = await answered(table, "after")
    assert answer["listed"] >= size + 3
    log = await table.log(1)
    assert log[:size] == before
    assert ["handover" in (each["uri"] or "") for each in log[size : size + 3]] == [True] * 3

    async def followed() -> bool:
        theirs = await table.log(2)
        return theirs == (await table.log(1))[: len(theirs)] and any(
            "after" in (e["uri"] or "") for e in theirs
        )

    await until_async(followed)

    async def receipted() -> bool:  # by the follower, of the new lister's checkpoints
        receipts = [open_envelope(each) for each in await receipts_of(table, 2)]
        return any(table.nodes[1].name in each.value["checkpoint"] for each in receipts)

    await until_async(receipted)
    await table.down("bela")
    await table.up("bela")  # once more, with the same file: nothing is listed twice
    again = await answered(table, "again")
    assert again["listed"] > answer["listed"]
    assert sum("handover" in (each["uri"] or "") for each in await table.log(1)) == 3


async def answered(table: Handing, rkey: str) -> Any:
    (answer,) = await table.submit(data_of(note(player(2), rkey)), at=1)
    return answer


async def receipts_of(table: Handing, number: int) -> list[bytes]:
    values: list[Any] = [codec.decode(each) for each in await records_of(table, number, "checkpoint")]
    return [each["envelope"] for each in values if "envelope" in each]


async def records_of(table: Handing, number: int, kind: str) -> list[bytes]:
    bus, subjects = table.bus(number), table.nodes[number].subjects(GAME)
    stream = subjects.stream("RECORDS")
    last = (await bus.js.stream_info(stream)).state.last_seq
    found = [await bus.js.get_msg(stream, seq) for seq in range(1, last + 1)]
    return [each.data or b"" for each in found if f".{kind}." in (each.subject or "")]


async def test_what_the_old_lister_signs_beyond_is_published_as_its_equivocation(table: Handing) -> None:
    size = await played_and_left(table)
    await handed_over(table, size)
    cora = table.world.rewrite(table.nodes[2], "[test]", '[plugins]\nrulesets = ["coin"]\n[test]')
    subjects = cora.subjects(GAME)
    folding = await Folding(table.world, cora).start()
    bus = await table.world.bus(cora, "cross-check")
    check = CrossCheck(cora, bus, cora.clock())
    await check.start()

    async def handed() -> bool:
        status: Any = codec.decode(await bus.ask(subjects.rpc("status"), codec.encode({})))
        return bool(status["lister"] == table.nodes[1].did and status["handed"][0]["size"] == size)

    await until_async(handed)
    await table.up("alma")  # she has not heard of it, or does as if
    (answer,) = await table.submit(data_of(note(player(3), "alone")))
    assert answer["listed"] >= size

    async def accused() -> list[dict[str, Any]]:
        found = [open_envelope(each).value for each in await records_of(table, 2, "finding")]
        return [each for each in found if each["code"] == "equivocation"]

    (finding, *more) = await until_async(accused)
    assert (finding["about"], finding["end"], more) == (table.nodes[0].did, size, [])
    assert finding["size"] > size
    await bus.quiet()
    await check.stop()
    await folding.stop()


async def test_a_log_that_is_handed_over_elsewhere_is_not_gone_on_with(table: Handing) -> None:
    """Its records would count for nothing, and the log could never be handed over at this place again."""
    size = await played_and_left(table)
    bela, cora = table.nodes[1], table.nodes[2]
    code, line = await table.signed(1, bela, "--size", size - 1)
    assert code == 0
    table.lists(1, [line])
    with pytest.raises(HandoverElsewhere, match=f"after {size - 1} entries, and this node holds {size}"):
        await table.up("bela")
    await table.down("bela")
    assert len(await table.log(1)) == size
    code, said = await table.signed(2, cora, "--size", size + 1)
    assert (code, "holds-less" in said) == (2, True)
    _, foreign = await table.signed(2, cora)
    (bela.folder / "handover.jsonl").write_text(foreign)
    with pytest.raises(HandoverElsewhere, match="and this node is"):
        await table.up("bela")
    await table.down("bela")
