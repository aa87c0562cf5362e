"""Coin games on real nodes: players who sign, nodes that list and follow, and what they come to."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, ClassVar

import coin
from nodes import PATIENCE, World, until_async
from shelf import open_shelf
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.contract import RuleSet
from weighbridge.identity import Envelope, Signer, encode_envelope, envelope_to_json, sign_record
from weighbridge_services.clock import Clock
from weighbridge_services.ingest.app import Service
from weighbridge_services.ingest.arrivals import ANSWER
from weighbridge_services.ingest.sources.lines import open_lines
from weighbridge_services.ingest.sources.logs import open_log_file
from weighbridge_services.node import Node
from weighbridge_services.streams import declare_all
from weighbridge_services.wire import Bus

ROOT = "example.coin.root"
GM = Signer(b"g" * 32)
GAME = f"at://{GM.did}/{ROOT}/one"


class CoinPlugins:
    """The plugins of a test's node: the toy, which nothing installs, and the sources that come along."""

    sources: ClassVar[dict[str, Any]] = {"jsonl": open_lines, "logfile": open_log_file, "shelf": open_shelf}

    def ruleset(self, name: str) -> RuleSet:
        assert name == "coin"
        return coin.RULES

    def load(self, group: str, name: str) -> Any:
        return self.sources[name]


def player(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def root(**fields: Any) -> Envelope:
    return sign_record(GM, None, ROOT, "one", {"gm": GM.did, "rules": {"perDay": 100}, **fields})


def flip(who: Signer, rkey: str, **fields: Any) -> Envelope:
    value = {"game": GAME, "call": "heads", **fields}
    return sign_record(who, GAME, "example.coin.flip", rkey, value)


def note(who: Signer, rkey: str, text: str = "hello") -> Envelope:
    return sign_record(who, GAME, "example.coin.note", rkey, {"game": GAME, "text": text})


def data_of(envelope: Envelope) -> bytes:
    return encode_envelope(envelope)


def with_coin(node: Node) -> Node:
    node.__dict__["plugins"] = CoinPlugins()
    return node


def coin_on_path(folder: Path) -> Path:
    """Make the toy look installed, for nodes in processes of their own: put the folder on PYTHONPATH."""
    info = folder / "coin_toy-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[weighbridge.rulesets]\ncoin = coin:RULES\n")
    (folder / "coin.py").write_text(Path(coin.__file__).read_text())
    return folder


async def run_ingest(node: Node, bus: Bus) -> Service:
    service = Service(with_coin(node), bus, node.clock())
    await service.start()
    return service


def entries_in(messages: list[bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for data in messages:
        message: Any = codec.decode(data)
        entry: Any = codec.decode(message["entry"])
        found.append(
            {**entry, "value": None if message["record"] is None else codec.decode(message["record"])}
        )
    return found


FOLLOWER = """
[node]
name = "{name}"
[broker]
port = 0
[[games]]
uri = "{game}"
role = "follower"
lister = "{lister}"
ruleset = "coin"
[test]
crash = true
"""
LISTER = """
[node]
name = "{name}"
{clock}
[broker]
port = 0
[test]
crash = true
[[games]]
uri = "{game}"
role = "lister"
ruleset = "coin"
"""


class Table:
    """A lister and followers on one broker, in this process, with the services that a test starts."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.nodes: list[Node] = []
        self.services: dict[str, tuple[Service, Bus]] = {}

    async def lay(
        self, followers: int = 1, recorded: bool = False, source: str | None = None, **fields: Any
    ) -> None:
        """Make the nodes, with the game's root in the lister's folder, and start the broker."""
        names = ("alma", "bela", "cora", "dina")[: followers + 1]
        clock = 'clock = "recorded"' if recorded else ""
        lister = self.world.make_node("alma", config=LISTER.format(name="alma", game=GAME, clock=clock))
        guests = [
            self.world.make_node(
                name, config=FOLLOWER.format(name=name, game=GAME, lister=lister.did).replace(
                    "[broker]", f"{clock}\n[broker]"
                )
            )
            for name in names[1:]
        ]  # fmt: skip
        peers = "".join(f'[[games.peers]]\ndid = "{guest.did}"\n' for guest in guests)
        settings = f'[games.source]\nroot = "root.json"\n{source or ""}\n'
        path = lister.folder / "weighbridge.toml"
        path.write_text(path.read_text() + peers + settings)
        operators = [node.did for node in (lister, *guests)]
        first = root(lister=lister.did, policy={"dids": operators, "quorum": len(operators)}, **fields)
        (lister.folder / "root.json").write_text(json.dumps(envelope_to_json(first)))
        hosts = self.world.use_broker_of(lister, guests)
        await self.world.start(hosts[0])
        self.nodes = [hosts[0], *(self.world.point_to_broker(guest) for guest in guests)]
        for node in self.nodes:
            await self.world.bus(node, "declare")

    @property
    def lister(self) -> Node:
        return self.nodes[0]

    async def up(self, name: str, clock: Clock | None = None) -> Service:
        """Start a node's ingest in this process, by its own clock or another."""
        (node,) = [each for each in self.nodes if each.name == name]
        bus = Bus.connect(node, "ingest")
        await bus.start()
        service = Service(with_coin(node), bus, clock or node.clock())
        self.services[name] = service, bus
        await service.start()
        return service

    async def down(self, name: str) -> None:
        """Stop it as the node would."""
        service, bus = self.services.pop(name)
        await bus.quiet()
        await service.stop()
        await bus.stop()

    async def clear(self) -> None:
        for name in list(self.services):
            await self.down(name)

    def bus(self, number: int = 0) -> Bus:
        """Return a bus that looks on, as a node's."""
        return self.world.buses[number]

    async def log(self, number: int = 0) -> list[dict[str, Any]]:
        """Return a node's log as its stream holds it."""
        subjects = self.nodes[number].subjects(GAME)
        found: list[bytes] = []
        last = await self.bus(number).last(subjects.stream("LOG"), subjects.log)
        for seq in range(1, last.sequence + 1 if last else 1):
            message = await self.bus(number).js.get_msg(subjects.stream("LOG"), seq)
            found.append(message.data or b"")
        return entries_in(found)

    async def submit(self, *data: bytes, at: int = 0, within: float = PATIENCE) -> list[dict[str, Any]]:
        """Hand records in at a node, and return the answers in the order in which they come."""
        bus, answers = self.bus(at), asyncio.Queue[bytes]()
        inbox = bus.nc.new_inbox()

        async def take(message: Any) -> None:
            answers.put_nowait(message.data)

        subscription = await bus.nc.subscribe(inbox, cb=take)
        for each in data:
            await bus.put(self.nodes[at].subjects(GAME).submit(str(Cid.of(each))), each, {ANSWER: inbox})
        found = [codec.decode(await asyncio.wait_for(answers.get(), within)) for _ in data]
        await subscription.unsubscribe()
        return found  # type: ignore[return-value]

    async def submit_patiently(self, data: bytes) -> list[dict[str, Any]]:
        """Hand a record in as a player would whose broker is away: again and again."""

        async def answered() -> list[dict[str, Any]]:
            try:
                return await self.submit(data, within=5)
            except TimeoutError:
                return []  # the answer went down with the broker, which keeps none

        return await until_async(answered, what="the broker is back")

    async def declare(self, node: Node) -> None:
        """Declare a node's streams, as its start or its broker's restart does."""
        await until_async(lambda: declare_all(self.bus(self.nodes.index(node)).js, node))
