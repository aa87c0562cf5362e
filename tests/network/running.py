"""Fold services under test: in this process, or in one of their own that is made to die at a named place."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import coin
from games import GAME, Season, install
from nodes import PATIENCE, World, until_async
from weighbridge import codec
from weighbridge.fold import Fold
from weighbridge.plugins import pin
from weighbridge_services.fold.app import Service
from weighbridge_services.folding.statements import Said, open_statement
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus
from weighbridge_services.wire.crashing import EXIT, VARIABLE

TOYS = Path(coin.__file__).resolve().parent


def install_coin(folder: Path) -> Path:
    """Lay out the coin game as an installed plugin; return what is to be on the path."""
    return install(folder / "site", "weighbridge.rulesets", "coin", "coin:RULES")


def environment(site: Path, **more: str) -> dict[str, str]:
    """The environment of a process that has the coin game installed."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(TOYS)]), **more}


class Folding:
    """A fold service that runs."""

    def __init__(self, world: World, node: Node) -> None:
        self.world, self.node = world, node
        self.subjects = node.subjects(GAME)

    async def start(self, **options: Any) -> Folding:
        self.bus = await self.world.bus(self.node, "fold")
        self.service = Service(self.node, self.bus, self.node.clock(), **options)
        await self.service.start()
        return self

    async def stop(self) -> None:
        await self.bus.quiet()
        await self.service.stop()

    async def ask(self, name: str, **fields: Any) -> Any:
        return codec.decode(await self.bus.ask(self.subjects.rpc(name), codec.encode(fields)))

    async def statements(self) -> list[Said]:
        found = await records(self.bus, self.node, "statement")
        return [open_statement(data, GAME, self.node.operator_record(GAME)) for data in found]

    async def verdict(self) -> tuple[str, str | None, str, int]:
        """What the first statement says: verdict, reason, origin and size."""
        said = (await until_async(self.statements))[0].statement
        return said.verdict, said.reason, said.origin, said.size

    async def statement(self, size: int) -> Said:
        async def there() -> list[Said]:
            return [said for said in await self.statements() if said.statement.size == size]

        return (await until_async(there, what=f"a statement at {size}"))[0]


async def records(bus: Bus, node: Node, kind: str) -> list[bytes]:
    """All messages of a kind in a node's stream of records."""
    subjects = node.subjects(GAME)
    stream = subjects.stream("RECORDS")
    state = (await bus.js.stream_info(stream)).state
    found = [await bus.js.get_msg(stream, seq) for seq in range(max(1, state.first_seq), state.last_seq + 1)]
    return [
        each.data or b"" for each in found if (each.subject or "").startswith(f"{subjects.prefix}.{kind}.")
    ]


async def transcript(bus: Bus, node: Node) -> list[Any]:
    """All messages of a node's transcript stream."""
    stream = node.subjects(GAME).stream("TRANSCRIPT")
    last = (await bus.js.stream_info(stream)).state.last_seq
    return [codec.decode((await bus.js.get_msg(stream, seq)).data or b"") for seq in range(1, last + 1)]


def folded(season: Season) -> Fold:
    fold = Fold(GAME, coin.RULES, pin=str(pin(coin.RULES)))
    for listed in season.entries:
        fold.fold(listed)
    return fold


async def die_at(node: Node, site: Path, point: str) -> None:
    """Run a service, the fold or another, in a process of its own until it dies at a named place of its own."""
    service, _, _ = point.partition(".")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weighbridge_services", "run", service, "--node", str(node.folder),
        env=environment(site, **{VARIABLE: point}), stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, told = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == EXIT, told.decode()
