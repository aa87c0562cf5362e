"""The plugins a node is configured to load, and the pins of its games' rule sets."""

from __future__ import annotations

from weighbridge.errors import WeighbridgeError

from weighbridge_services.doctor.findings import BAD, OK, Finding
from weighbridge_services.node import Node


async def plugins(node: Node) -> list[Finding]:
    """Look whether every configured plugin is there once, and name the pin of each rule set."""
    try:
        node.plugins.check()
    except WeighbridgeError as error:
        return [Finding("plugins", BAD, f"{error.code}: {error.message}")]
    found = [_pin(node, name) for name in node.config.plugins.rulesets]
    needed = {game.ruleset for game in node.games} - set(node.config.plugins.rulesets)
    found += [
        Finding("plugins", BAD, f"a game needs the rule set {name!r}: add it to plugins.rulesets")
        for name in sorted(needed)
    ]
    return found or [Finding("plugins", OK, "none is configured")]


def _pin(node: Node, name: str) -> Finding:
    try:
        return Finding("plugins", OK, f"{name} has the pin {node.plugins.pin(name)} (without attachments)")
    except WeighbridgeError as error:
        return Finding("plugins", BAD, f"{name}: {error.code}: {error.message}")
