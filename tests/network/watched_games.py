"""Coin games whose follower reads a source of its own."""

from __future__ import annotations

from typing import Any

from ingest_games import GAME, Table
from nodes import until
from repo_making import ALICE
from weighbridge_services.ingest.follower import Follower
from weighbridge_services.node import Node

NOTES = "example.coin.note"
OTHER = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaab/example.coin.root/one"


def said(text: str, game: str = GAME) -> dict[str, Any]:
    return {"$type": NOTES, "game": game, "text": text}


def uri(rkey: str) -> str:
    return f"at://{ALICE}/{NOTES}/{rkey}"


def with_source(table: Table, after: float, settings: str = 'plugin = "shelf"\nshelf = "bela"') -> Node:
    """Give the follower a source of its own, and so many seconds to its lister."""
    path = table.nodes[1].folder / "weighbridge.toml"
    text = path.read_text()
    line = next(each for each in text.splitlines() if each.startswith("ruleset"))
    (settings_before, rest) = text.split(line, 1)
    kept = rest.split("\n[games.source]")[0].replace("\n[test]\ncrash = true", "")
    kept = "\n".join(each for each in kept.splitlines() if not each.startswith("withheld-after"))
    path.write_text(f"{settings_before}{line}\nwithheld-after = {after}{kept}\n[games.source]\n{settings}\n")
    table.nodes[1] = Node.open(table.nodes[1].folder)
    return table.nodes[1]


async def laid(table: Table, after: float, **fields: Any) -> Follower:
    """A lister and a follower, each with a source of its own."""
    await table.lay(followers=1, source='plugin = "shelf"\nshelf = "alma"', **fields)
    with_source(table, after)
    await table.up("alma")
    await table.up("bela")
    return follower_of(table)


def follower_of(table: Table) -> Follower:
    follower = table.services["bela"][0].games[0]
    assert isinstance(follower, Follower)
    return follower


def found(follower: Follower) -> int:
    assert follower.finder is not None
    return follower.finder.found


async def settled(follower: Follower, count: int) -> None:
    """Wait until the follower's source has found so many, and nothing is awaited."""
    await until(lambda: found(follower) >= count and follower.withholding.waiting == 0)
