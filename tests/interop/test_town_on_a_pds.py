"""A small game of Delvetown, played by two accounts and a GM on a real PDS, listed by one node and followed by two.

One of the two reads the PDS itself, and misses what the lister does not list.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pds_running import Account, Pds

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "network"))

import town
from nodes import World, until_async
from weighbridge.chain import chain_value
from weighbridge.identity import open_envelope
from weighbridge.ports import Given, Source
from weighbridge.repos import open_carried
from weighbridge_services.ingest.app import Service as Ingest
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.subjects import token
from weighbridge_services.supervise.supervisor import Supervisor
from weighbridge_services.wire import AnswerRefused

pytestmark = pytest.mark.interop

NAMES = ("alma", "bela", "cora")
ELSEWHERE = town.GAME
WITHHELD_AFTER = 5.0


class Deaf:
    """A source that passes over whatever one player writes."""

    def __init__(self, source: Source, did: str) -> None:
        self.name, self._source, self._did = source.name, source, did

    async def read(self, position: int) -> AsyncIterator[tuple[int, Any]]:
        """Yield everything else."""
        async for number, item in self._source.read(position):
            if isinstance(item, Given) and open_carried(item.envelope).uri.authority == self._did:
                continue
            yield number, item

    async def close(self) -> None:
        """Close the source."""
        await self._source.close()


class Censoring:
    """The plugins of a lister who does not want a player in the game."""

    def __init__(self, plugins: Any, did: str) -> None:
        self._plugins, self._did = plugins, did

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugins, name)

    def load(self, group: str, name: str) -> Callable[..., Any]:
        """Load a plugin; a source, so that it passes over the player."""
        opener = self._plugins.load(group, name)
        if group != "weighbridge.sources":
            return opener  # type: ignore[no-any-return]
        return lambda settings, folder: Deaf(opener(settings, folder), self._did)


class PdsTown(town.Town):
    """The town, with everybody's records on a PDS."""

    def __init__(self, world: World, pds: Pds) -> None:
        super().__init__(world)
        self.pds = pds
        self.gm, self.ann, self.bob = (pds.account(name) for name in ("gamemaster7", "annabel7", "robert7"))
        self.game = f"at://{self.gm.did}/town.delve.root/one"

    async def open_nodes(self, censored: str | None = None) -> None:
        """Make three nodes, publish the root, and start them. `censored`: whom the lister leaves out."""
        config = town.CONFIG.replace(ELSEWHERE, self.game).replace(
            'tracers = ["form"]', 'tracers = ["form"]\nsources = ["firehose", "keys"]'
        )
        lister = self.world.make_node("alma", config=config.format(name="alma", role='role = "lister"'))
        role = (
            f'role = "follower"\nlister = "{lister.did}"\nwithheld-after = {WITHHELD_AFTER}\n'
            f'[[games.peers]]\ndid = "{lister.did}"'
        )
        asked = f'directory = "{self.pds.directory}"\ndevelopment = true\n'
        guests = [
            self.world.make_node(name, config=config.format(name=name, role=role)) for name in NAMES[1:]
        ]
        peers = "".join(f'[[games.peers]]\ndid = "{guest.did}"\n' for guest in guests)
        source = (
            f'[games.source]\nplugin = "firehose"\nhost = "{self.pds.url}"\n{asked}'
            'collections = ["town.delve.*"]\n'
        )
        # The other follower only finds out whose the keys are that the lister's log names.
        keys = f'[games.source]\nplugin = "keys"\n{asked}'
        for node, more in ((lister, peers + source), (guests[0], source), (guests[1], keys)):
            path = node.folder / "weighbridge.toml"
            path.write_text(f"{path.read_text()}\n{more}")
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
        if censored is not None:
            host.__dict__["plugins"] = Censoring(host.plugins, censored)
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

    def watching(self) -> Follower:
        """Return the follower that reads the PDS itself."""
        (ingest,) = (service for service, _ in self._running[1].running if isinstance(service, Ingest))
        assert isinstance(ingest.games[0], Follower)
        return ingest.games[0]

    async def withheld(self) -> set[str]:
        """Return the at-uris that this follower says are withheld."""
        subjects, bus = self.nodes[1].subjects(self.game), self.world.buses[1]
        info = await bus.js.stream_info(subjects.stream("RECORDS"))
        found: set[str] = set()
        for seq in range(1, info.state.last_seq + 1):
            message = await bus.js.get_msg(subjects.stream("RECORDS"), seq)
            if f".finding.{token('ingest')}." in (message.subject or ""):
                value = open_envelope(message.data or b"").value
                found |= {value["about"]} if value["code"] == "withheld" else set()
        return found

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
    await in_town(tmp_path, monkeypatch, honest)


@pytest.mark.anyio
async def test_a_player_whom_the_lister_censors_is_reported_by_the_follower_that_reads_the_pds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_town(tmp_path, monkeypatch, censoring)


async def in_town(
    folder: Path, monkeypatch: pytest.MonkeyPatch, play: Callable[[PdsTown], Awaitable[None]]
) -> None:
    (folder / "pds").mkdir()
    pds, world = await asyncio.to_thread(Pds, folder / "pds"), World(folder)
    try:
        at = PdsTown(world, pds)
        monkeypatch.setattr(town, "GAME", at.game)
        try:
            async with asyncio.timeout(300):
                await play(at)
        finally:
            await at.close()
    finally:
        await world.stop()
        pds.stop()


async def honest(at: PdsTown) -> None:
    await at.open_nodes()
    await played(at)
    follower = at.watching()
    # Both sheets, the crew, two joins, the prompt, two asks, the end of one: and the root.
    await until_async(lambda: seen(follower, 10), what="all that is on the PDS")
    assert await at.withheld() == set()


async def seen(follower: Follower, count: int) -> bool:
    """Whether a follower's own source has found so many, and all of it is listed."""
    return (
        follower.finder is not None and follower.finder.found >= count and follower.withholding.waiting == 0
    )


async def censoring(at: PdsTown) -> None:
    await at.open_nodes(censored=at.bob.did)
    sheet = {"name": "N", "look": "grey coat", "drive": "finish it", "dots": town.DOTS, "abilities": []}
    anns, bobs = [await at.write(who, "sheet", "self", **sheet) for who in (at.ann, at.bob)]
    lamps = await at.write(at.ann, "crew", "lamps", name="Lamps", sheets=[at.ann.did, at.bob.did])
    joins = [await at.write(who, "move", "join", kind="join", crew=lamps) for who in (at.ann, at.bob)]

    async def reported() -> bool:
        return await at.withheld() == {bobs, joins[1]}

    await until_async(reported, what="what the lister leaves out reported, and nothing else")
    assert await at.shown(f"sheet/{at.ann.did}")
    assert anns not in await at.withheld()


async def played(at: PdsTown) -> None:
    sheet = {"name": "N", "look": "grey coat", "drive": "finish it", "dots": town.DOTS, "abilities": []}
    for who in (at.ann, at.bob):
        await at.write(who, "sheet", "self", **sheet)
    # Between repositories the protocol knows no order: as players do, each waits to see what the next rests on.
    await until_async(lambda: at.shown(f"sheet/{at.ann.did}", f"sheet/{at.bob.did}"), what="both sheets")
    lamps = await at.write(at.ann, "crew", "lamps", name="Lamps", sheets=[at.ann.did, at.bob.did])
    for who in (at.ann, at.bob):
        await at.write(who, "move", "join", kind="join", crew=lamps)
    day = town.TODAY.isoformat()
    until = (town.TODAY + town.timedelta(days=1)).isoformat()
    prompt = await at.write(at.gm, "move", "p1", kind="prompt", **{"from": day, "to": until})
    await until_async(lambda: at.shown(f"prompt/{at.gm.did}:p1"), what="the prompt")
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

    await until_async(rolled, what="both asks rolled on every node")
    await asyncio.to_thread(at.bob.delete, "town.delve.move", "b1")
    gone = f"at://{at.bob.did}/town.delve.move/b1"

    async def reported() -> bool:
        return "deleted" in await at.reports(gone)

    await until_async(reported, what="the deletion reported, which only a quorum that has seen it lets count")

    async def seen() -> bool:
        size = (await at.rpc("status", 1))["size"]
        grades = (await at.rpc("grades", 1, seqs=list(range(size))))["grades"]
        # Root, sheets, crew, joins, prompt, asks and the deletion, of three repositories.
        return bool(grades.count("seen-by-quorum") == 10)

    await until_async(seen, what="everything of repositories seen by a quorum")

    async def agreed() -> bool:
        said = [
            {(each.size, each.root) for each in await at.statements(n) if each.verdict == "ok"}
            for n in range(3)
        ]
        size = (await at.rpc("status"))["size"]
        return any(number >= size - 6 for number, _ in set.intersection(*said))

    await until_async(agreed, what="statements of all three at one size and root")
