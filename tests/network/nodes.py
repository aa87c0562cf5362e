"""Nodes for tests: folders made as `weighbridge node init` makes them, on one real broker."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

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
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

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

    async def wipe_broker(self) -> None:
        """Stop the broker, lose its disk, and start it again at the same port."""
        assert self.server is not None
        await self.server.stop()
        shutil.rmtree(self.nodes[0].folder / "broker" / "data")
        await self.server.start()

    async def stop(self) -> None:
        """Stop all of it."""
        for bus in self.buses:
            await bus.stop()
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


async def until(holds: Callable[[], T], within: float = 10.0, what: str = "") -> T:
    """Wait until a condition holds and return its value; fail after `within` seconds."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        found = holds()
        if found:
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(f"not within {within} s: {what or holds}")


async def until_async(holds: Callable[[], Awaitable[T]], within: float = 10.0, what: str = "") -> T:
    """Like `until`, for a condition that has to ask."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        found = await holds()
        if found:
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(f"not within {within} s: {what or holds}")
