"""Operators under test: nodes with fold and cross-check on one broker, and a game that is theirs."""

from __future__ import annotations

from typing import Any

import coin
from games import GAME, Season, config, cosign, publish
from nodes import World, until_async
from running import Folding, records
from weighbridge import codec
from weighbridge.contract import Table
from weighbridge.identity import open_envelope
from weighbridge.plugins import pin
from weighbridge_services.cross_check.app import Service as CrossCheck
from weighbridge_services.folding.rulesets import Running
from weighbridge_services.folding.statements import Statement, open_statement
from weighbridge_services.node import Node


class Generous(coin.Coin):
    """The coin game with one constant changed: a won flip counts two."""

    def _score(self, table: Table, who: str, points: int) -> None:
        super()._score(table, who, 2 * points)


class Other:
    """Rule sets that say they are the game's own, by its very pin, and are not."""

    def first(self, root: Any) -> Running:
        return Running(Generous(), str(pin(coin.RULES)))

    def named(self, root: Any, name: str | None, wanted: str | None) -> Running:
        return self.first(root)

    def attachments(self, root: Any) -> dict[str, Any]:
        return {}


class Operator:
    """One operator: a node with fold and cross-check."""

    def __init__(self, world: World, node: Node) -> None:
        self.world, self.node = world, node
        self.folding = Folding(world, node)
        self.published = 0

    async def start(self, **options: Any) -> None:
        await self.folding.start(**options)
        await self.start_check()

    async def start_check(self) -> None:
        self.bus = await self.world.bus(self.node, "cross-check")
        self.check = CrossCheck(self.node, self.bus, self.node.clock())
        await self.check.start()

    async def stop(self) -> None:
        await self.bus.quiet()
        await self.check.stop()
        await self.folding.stop()

    async def take(self, season: Season) -> None:
        self.published = await publish(self.folding.bus, self.node, season, self.published)

    async def agreed(self) -> Any:
        return codec.decode(await self.bus.ask(self.node.subjects(GAME).rpc("agreed"), codec.encode({})))

    async def verdicts(self) -> list[tuple[str, str | None]]:
        return [(each.verdict, each.reason) for each in await self.statements() if each.verdict != "ok"]

    async def statements(self) -> list[Statement]:
        found = await records(self.bus, self.node, "statement")
        return [open_statement(data, GAME, self.node.operator_record(GAME)).statement for data in found]

    async def findings(self) -> list[dict[str, Any]]:
        return [open_envelope(data).value for data in await records(self.bus, self.node, "finding")]

    async def until_found(self, code: str) -> dict[str, Any]:
        async def there() -> list[dict[str, Any]]:
            return [each for each in await self.findings() if each["code"] == code]

        return (await until_async(there, what=f"a finding {code}"))[0]

    async def until_said(self, verdict: str) -> str | None:
        async def there() -> list[Any]:
            return [reason for said, reason in await self.verdicts() if said == verdict]

        return (await until_async(there, what=f"a statement {verdict}"))[0]


def season_of(operators: list[Operator], quorum: int = 2) -> Season:
    """A game whose policy is some of these operators, with their keys listed."""
    nodes = [each.node for each in operators]
    season = Season(policy={"dids": [node.did for node in nodes], "quorum": quorum}, lister=nodes[0])
    for node in nodes:
        season.operator(node)
    season.witnesses = nodes[1:]
    return season


async def everyone_takes(operators: list[Operator], season: Season) -> None:
    for each in operators:
        await each.take(season)
    await cosign(operators[0].folding.bus, operators[0].node, season)


async def three_operators(world: World) -> list[Operator]:
    """A lister and two followers on one broker, nothing started."""
    names = ("alma", "bela", "cleo")
    nodes = [world.make_node(name, config=config(name)) for name in names]
    for node in nodes:
        others = [each for each in nodes if each is not node]
        lister = None if node is nodes[0] else nodes[0]
        (node.folder / "weighbridge.toml").write_text(config(node.name, lister=lister, peers=others))
    nodes = world.use_broker_of(Node.open(nodes[0].folder), [Node.open(node.folder) for node in nodes[1:]])
    await world.start(nodes[0])
    return [Operator(world, node) for node in [nodes[0], *map(world.point_to_broker, nodes[1:])]]
