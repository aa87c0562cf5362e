"""Looking at a node from beside it, running or not."""

from __future__ import annotations

from typing import Any

import nats.errors
from nats.js.errors import NotFoundError
from weighbridge.errors import WeighbridgeError

from weighbridge_services.folding.chains import label_at
from weighbridge_services.locks import Lock
from weighbridge_services.node import Node
from weighbridge_services.streams import Declared, declare_all
from weighbridge_services.subjects import STREAM_KINDS
from weighbridge_services.wire import Bus
from weighbridge_services.wire.login import Login

PATIENCE = 1.0
"""Seconds to wait for a broker that is only to be looked at."""


async def status_of(node: Node) -> dict[str, Any]:
    """Return what a node is, which of its services run, and how full its streams are."""
    found: dict[str, Any] = {
        "name": node.name,
        "did": node.did,
        "folder": str(node.folder),
        "running": running(node),
        "broker": {"kind": node.config.broker.kind, "url": Login.of(node).url, "state": "up"},
        "games": [
            {
                "uri": game.uri,
                "role": game.role,
                "ruleset": game.ruleset,
                "chain": label_at(node.folder, game.uri),
                "streams": [],
            }
            for game in node.games
        ],
    }
    bus = Bus.connect(node, "status")
    try:
        await bus.start(PATIENCE)
    except WeighbridgeError as error:
        found["broker"]["state"] = error.message
        return found
    try:
        for game in found["games"]:
            game["streams"] = await _streams_of(bus, node, game["uri"])
    finally:
        await bus.stop()
    return found


async def _streams_of(bus: Bus, node: Node, game: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for kind in STREAM_KINDS:
        try:
            state = (await bus.js.stream_info(node.subjects(game).stream(kind))).state
        except NotFoundError:
            continue
        except (TimeoutError, nats.errors.Error, OSError):
            break
        found.append({"kind": kind, "messages": state.messages, "bytes": state.bytes, "last": state.last_seq})
    return found


def running(node: Node) -> dict[str, int]:
    """Return the processes that run a node's services, by name."""
    names = sorted(path.stem for path in (node.folder / "run").glob("*.lock"))
    holders = {name: Lock(node.folder, name).holder for name in names}
    return {name: pid for name, pid in holders.items() if pid is not None}


async def declared(node: Node) -> list[Declared]:
    """Declare a node's streams; return what became of each. Raises what `Bus.start` and `declare_all` raise."""
    bus = Bus.connect(node, "streams")
    await bus.start(PATIENCE)
    try:
        return await declare_all(bus.js, node)
    finally:
        await bus.stop()
