"""Looking on as a node's log grows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.log.entries import Listed, read_listed

from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, Incoming

PATIENCE: Final = 1.0
LAST: Final = 10
"""Entries that are shown of what is there already."""


class NoGame(Refused):
    """The node has no such game, or has several and none was named."""

    code: ClassVar[str] = "no-such-game"


async def tail_of(folder: Path, game: str | None, start: int | None) -> AsyncGenerator[Listed]:
    """Yield the entries of a node's own log, from `start` on (None: the last ten), and then as they come.

    Raises NoGame, and what opening a node and reaching its broker raises.
    """
    node = Node.open(folder)
    subjects = node.subjects(_game(node, game))
    bus = Bus.connect(node, "tail")
    await bus.start(PATIENCE)
    try:
        last = await bus.last(subjects.stream("LOG"), subjects.log)
        held = last.sequence if last is not None else 0
        wanted = max(0, held - LAST if start is None else start)
        first = (
            min(wanted, held) + 1
        )  # a stream that ends before the place where reading begins is one that began anew
        found: asyncio.Queue[Listed] = asyncio.Queue(maxsize=1_000)

        async def take(messages: Sequence[Incoming]) -> None:
            for message in messages:
                await found.put(_entry(message.data))

        bus.follow(subjects.stream("LOG"), subjects.log, lambda: first, take)
        while True:
            entry = await _next(bus, found)
            if entry.entry.seq >= wanted:
                yield entry
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await bus.stop()


async def _next(bus: Bus, found: asyncio.Queue[Listed]) -> Listed:
    """Return the next entry. Raises what stopped the reading."""
    tasks = [asyncio.create_task(found.get()), asyncio.create_task(bus.failed.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            return tasks[0].result()  # type: ignore[return-value]
        raise bus.failure or RuntimeError("the reading failed and did not say why")
    finally:
        for task in tasks:
            task.cancel()


def _entry(data: bytes) -> Listed:
    value: Any = codec.decode(data)
    return read_listed(value["entry"], value["record"])


def _game(node: Node, asked: str | None) -> str:
    games = [game.uri for game in node.games]
    if asked is None and len(games) == 1:
        return games[0]
    if asked is not None and asked in games:
        return asked
    raise NoGame(f"name one of this node's games: {', '.join(games) or 'it has none'}")
