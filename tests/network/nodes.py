"""Nodes for tests: folders made as `weighbridge node init` makes them, on one real broker."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

import nats.errors
from free_ports import free_port
from weighbridge.errors import Unavailable
from weighbridge_services.broker import Server
from weighbridge_services.creating import create_node
from weighbridge_services.node import Node
from weighbridge_services.streams import declare_all
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus, Incoming

GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/network.weighbridge.game/one"
LISTER_CONFIG = """
[node]
name = "{name}"
[broker]
port = 0
[[games]]
uri = "{game}"
role = "lister"
ruleset = "coin"
[test]
crash = true
"""
PATIENCE = 60.0
"""Seconds after which what a test waits for counts as not coming: a busy machine may stand still for many."""
NOT_NOW = (Unavailable, nats.errors.Error)
T = TypeVar("T")


class World:
    """A broker in one node's folder, and as many nodes as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: list[Node] = []
        self.buses: list[Bus] = []
        self.servers: list[Server] = []
        self.server: Server | None = None

    def make_node(self, name: str, *, game: str = GAME, config: str | None = None) -> Node:
        """Make a node; the first one brings the broker, the others use it."""
        node = create_node(self.folder / name, config or LISTER_CONFIG.format(name=name, game=game))
        self.nodes.append(node)
        return node

    def use_broker_of(self, host: Node, guests: Iterable[Node]) -> list[Node]:
        """Have guests log in at a host's broker (before it starts); return them with their configuration anew."""
        lines = [(host.folder / "weighbridge.toml").read_text()]
        for guest in guests:
            password = guest.folder / "keys" / "broker.password"
            lines += ["[[broker.operators]]", f'did = "{guest.did}"', f'password-file = "{password}"']
            games = ", ".join(f'"{game.uri}"' for game in guest.games)
            lines += [f"games = [{games}]"]
        (host.folder / "weighbridge.toml").write_text("\n".join(lines))
        return [Node.open(host.folder), *guests]

    async def start(self, host: Node) -> Server:
        """Start a host's broker."""
        self.server = Server(host)
        self.servers.append(self.server)
        await self.server.start()
        return self.server

    def rewrite(self, node: Node, old: str, new: str) -> Node:
        """Change a node's configuration; return the node with it."""
        path = node.folder / "weighbridge.toml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        return Node.open(node.folder)

    def free_port(self) -> int:
        """Return a port that nobody listens on now."""
        return free_port()

    def point_to_broker(self, guest: Node) -> Node:
        """Write the broker's URL into a guest's configuration."""
        assert self.server is not None
        path = guest.folder / "weighbridge.toml"
        text = path.read_text().replace(
            "[broker]\nport = 0",
            f'[broker]\nkind = "url"\nurl = "{self.server.url}"\npassword-file = "keys/broker.password"',
        )
        path.write_text(text)
        return Node.open(guest.folder)

    async def bus(self, node: Node, service: str = "test", *, declare: bool = True) -> Bus:
        """Return a started bus of a node whose streams are declared; the world stops it."""
        bus = Bus.connect(node, service)
        await bus.start()
        self.buses.append(bus)
        if declare:
            await declare_all(bus.js, node)
        return bus

    def kill_broker(self) -> None:
        """Kill the broker as a crash would; its node starts it again."""
        assert self.server is not None
        assert self.server.pid is not None
        os.kill(self.server.pid, signal.SIGKILL)

    async def until_back(self, restarts: int = 1) -> None:
        """Wait until a broker that was killed has been started again, and its node knows."""
        server = self.server
        assert server is not None
        await until(lambda: server.restarts >= restarts, what="the broker is back")

    async def wipe_broker(self) -> None:
        """Stop the broker, lose its disk, and start it again at the same port."""
        assert self.server is not None
        await self.server.stop()
        shutil.rmtree(self.nodes[0].folder / "broker" / "data")
        await self.server.start()
        await until(
            lambda: all(bus.connected or bus.stopping for bus in self.buses), what="every bus is back"
        )

    async def stop(self) -> None:
        """Stop all of it."""
        try:
            for bus in self.buses:
                await bus.stop()
        finally:
            for server in self.servers:
                await server.stop()


class Sink:
    """A handler that keeps what it got."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []

    @property
    def got(self) -> list[bytes]:
        return [data for batch in self.batches for data in batch]

    async def __call__(self, messages: list[Incoming]) -> None:
        self.batches.append([message.data for message in messages])


async def send(bus: Bus, subjects: Subjects, *payloads: bytes) -> None:
    """Append to a log, whatever its last message is."""
    last = await bus.last(subjects.stream("LOG"), subjects.log)
    await bus.append_many(subjects.log, payloads, last.sequence if last else 0)


async def until(holds: Callable[[], T], within: float = PATIENCE, what: str = "") -> T:
    """Wait until a condition holds and return its value; fail after `within` seconds."""

    async def asked() -> T:
        return holds()

    return await until_async(asked, within, what or f"{holds}")


async def until_async(holds: Callable[[], Awaitable[T]], within: float = PATIENCE, what: str = "") -> T:
    """Like `until`, for a condition that has to ask: who is not there now is asked again."""
    deadline = time.monotonic() + within
    away: BaseException | None = None
    while True:
        try:
            found = await holds()
            away = None
        except NOT_NOW as error:
            found, away = None, error
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what or holds}") from away
        await asyncio.sleep(0.005)
