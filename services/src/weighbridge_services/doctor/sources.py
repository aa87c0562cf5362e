"""Whether this node would miss a record that its lister does not list."""

from __future__ import annotations

from weighbridge_services.config import GameTable
from weighbridge_services.doctor.findings import OK, WARN, Finding
from weighbridge_services.node import Node

NOTE = (
    "follows {uri} without a source of its own: a player whom the lister never lists is missed here only where "
    "the record is handed in here. Where players keep their records in repositories, set [games.source]"
)


async def sources(node: Node) -> list[Finding]:
    """Look which games this node follows without reading anything but the lister's log."""
    return [_of(game) for game in node.games if game.role == "follower"]


def _of(game: GameTable) -> Finding:
    plugin = game.source.get("plugin", "jsonl" if "file" in game.source else None)
    if plugin is None:
        return Finding("source", WARN, NOTE.format(uri=game.uri))
    return Finding("source", OK, f"{plugin} is the source of this follower of {game.uri} itself")
