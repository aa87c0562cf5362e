"""A game as it stands on a node: asked of its fold where that runs, else folded from its ledger."""

from __future__ import annotations

import asyncio
from typing import Any

from weighbridge import codec
from weighbridge.errors import Unavailable
from weighbridge.fold import Fold

from weighbridge_services.config import GameTable
from weighbridge_services.folding.players import me
from weighbridge_services.folding.reading import read_ledger
from weighbridge_services.folding.replaying import Moving, from_snapshot
from weighbridge_services.folding.rulesets import Configured
from weighbridge_services.folding.store import LEDGER, FoldStore
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus

PATIENCE = 1.0
"""Seconds for the broker to answer, before the ledger is read instead."""


def of_player(node: Node, game: GameTable, did: str) -> dict[str, Any]:
    """Return what concerns a player. Raises LedgerMissing, and what asking and folding raise."""
    try:
        return asyncio.run(_asked(node, game, did))
    except Unavailable:
        return _from_ledger(node, game, did)


async def _asked(node: Node, game: GameTable, did: str) -> dict[str, Any]:
    bus = Bus.connect(node, "me")
    await bus.start(PATIENCE)
    try:
        answer: Any = codec.decode(
            await bus.ask(node.subjects(game.uri).rpc("me"), codec.encode({"did": did}))
        )
        return dict(answer)
    finally:
        await bus.stop()


def _from_ledger(node: Node, game: GameTable, did: str) -> dict[str, Any]:
    rulesets = Configured(node.config.plugins.rulesets, game.ruleset)
    with read_ledger(node.folder / "ledger" / f"{LEDGER}.db") as ledger:
        store = FoldStore(ledger, game.uri)
        moving = Moving(from_snapshot(store, rulesets, store.folded))
        return me(_upto(moving, store), did)


def _upto(moving: Moving, store: FoldStore) -> Fold:
    entries = list(store.log.entries(moving.fold.size)) if moving.fold.size < store.log.size else []
    moving.fold.prepare(entries)
    for listed in entries:
        moving.step(listed)
    return moving.fold
