"""A small game of Delvetown, played by two accounts and a GM on a real PDS, listed by one node and followed by two."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pds_running import Account, Pds

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "network"))

import town
from nodes import World, until_async
from weighbridge.chain import chain_value
from weighbridge_services.supervise.supervisor import Supervisor
from weighbridge_services.wire import AnswerRefused

pytestmark = pytest.mark.interop

NAMES = ("alma", "bela", "cora")
ELSEWHERE = town.GAME


class PdsTown(town.Town):
    """The town, with everybody's records on a PDS."""

    def __init__(self, world: World, pds: Pds) -> None:
        super().__init__(world)
        self.pds = pds
        self.gm, self.ann, self.bob = (pds.account(name) for name in ("gamemaster7", "annabel7", "robert7"))
        self.game = f"at://{self.gm.did}/town.delve.root/one"

    async def open_nodes(self) -> None:
        """Make three nodes, publish the root that names them, and start them."""
        config = town.CONFIG.replace(ELSEWHERE, self.game)
        lister = self.world.make_node(
            "alma",
            config=config.format(name="alma", role='role = "lister"').replace(
                'tracers = ["form"]', 'tracers = ["form"]\nsources = ["firehose"]'
            ),
        )
        role = f'role = "follower"\nlister = "{lister.did}"\n[[games.peers]]\ndid = "{lister.did}"'
        guests = [
            self.world.make_node(name, config=config.format(name=name, role=role)) for name in NAMES[1:]
        ]
        peers = "".join(f'[[games.peers]]\ndid = "{guest.did}"\n' for guest in guests)
        source = (
            f'[games.source]\nplugin = "firehose"\nhost = "{self.pds.url}"\ndirectory = "{self.pds.directory}"\n'
            'collections = ["town.delve.*"]\ndevelopment = true\n'
        )
        path = lister.folder / "weighbridge.toml"
        path.write_text(f"{path.read_text()}\n{peers}{source}")
        dids = [lister.did, *(guest.did for guest in guests)]
        beacon = {"chain": json.loads(json.dumps(chain_value(town.LOCAL.chain))), "margin": town.MARGIN}
        root = {
            "gm": self.gm.did,
            "lister": lister.did,
            "policy": {"dids": dids, "quorum": 3},
            "beacon": beacon,
        }
        await self.write(self.gm, "root", "one", **root)
        (host,) = self.world.use_broker_of(lister, guests)[:1]
        await self.world.start(host)
        self.nodes = [host, *(self.world.point_to_broker(guest) for guest in guests)]
        for node in self.nodes:
            await self.world.bus(node, "looking-on")
        for node in self.nodes:
            supervisor = Supervisor(node, town.SERVICES, whole=False)
            self._running.append(supervisor)
            await supervisor.start()

    async def write(self, who: Account, of: str, rkey: str, **fields: Any) -> str:
        """Create a record; return its at-uri."""
        collection = f"town.delve.{of}"
        named = {} if of == "root" else {"game": self.game}
        await asyncio.to_thread(who.create, collection, rkey, {"$type": collection, **named, **fields})
        return f"at://{who.did}/{collection}/{rkey}"

    async def shown(self, *keys: str) -> bool:
        """Say whether every node has these cells."""
        found = [await self.cell(key) for key in keys]
        return all(found)

    async def rpc(self, name: str, number: int = 0, **asked: Any) -> Any:
        """Ask a node's service; one that is folding says to ask again in a moment."""
        while True:
            try:
                return await super().rpc(name, number, **asked)
            except AnswerRefused:
                await asyncio.sleep(0.1)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_game_on_a_pds_is_listed_followed_rolled_and_cosigned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pds").mkdir()
    pds, world = await asyncio.to_thread(Pds, tmp_path / "pds"), World(tmp_path)
    try:
        at = PdsTown(world, pds)
        monkeypatch.setattr(town, "GAME", at.game)
        try:
            async with asyncio.timeout(150):
                await at.open_nodes()
                await played(at)
        finally:
            await at.close()
    finally:
        await world.stop()
        pds.stop()


async def played(at: PdsTown) -> None:
    sheet = {"name": "N", "look": "grey coat", "drive": "finish it", "dots": town.DOTS, "abilities": []}
    for who in (at.ann, at.bob):
        await at.write(who, "sheet", "self", **sheet)
    # Between repositories the protocol knows no order: as players do, each waits to see what the next rests on.
    await until_async(lambda: at.shown(f"sheet/{at.ann.did}", f"sheet/{at.bob.did}"), 30, "both sheets")
    lamps = await at.write(at.ann, "crew", "lamps", name="Lamps", sheets=[at.ann.did, at.bob.did])
    for who in (at.ann, at.bob):
        await at.write(who, "move", "join", kind="join", crew=lamps)
    day = town.TODAY.isoformat()
    until = (town.TODAY + town.timedelta(days=1)).isoformat()
    prompt = await at.write(at.gm, "move", "p1", kind="prompt", **{"from": day, "to": until})
    await until_async(lambda: at.shown(f"prompt/{at.gm.did}:p1"), 30, "the prompt")
    asked = {"kind": "ask", "action": "fetch", "prompt": prompt}
    for who, rkey in ((at.ann, "a1"), (at.bob, "b1")):
        trace = {"url": f"https://delve.example/{rkey}", "quote": "the ferry runs at dawn"}
        await at.write(who, "move", rkey, **asked, trace=trace)

    async def rolled() -> bool:
        for who, rkey in ((at.ann, "a1"), (at.bob, "b1")):
            found = await at.cell(f"ask/{who.did}:{rkey}")
            if not found or "result" not in found:
                return False
        return True

    await until_async(rolled, 60, "both asks rolled on every node")
    await asyncio.to_thread(at.bob.delete, "town.delve.move", "b1")
    gone = f"at://{at.bob.did}/town.delve.move/b1"

    async def reported() -> bool:
        return "deleted" in await at.reports(gone)

    await until_async(reported, 20, "the deletion reported")

    async def agreed() -> bool:
        said = [
            {(each.size, each.root) for each in await at.statements(n) if each.verdict == "ok"}
            for n in range(3)
        ]
        size = (await at.rpc("status"))["size"]
        return any(number >= size - 6 for number, _ in set.intersection(*said))

    await until_async(agreed, 40, "statements of all three at one size and root")
