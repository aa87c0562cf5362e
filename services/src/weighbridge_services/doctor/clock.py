"""A node's clock against the newest beacon: whose clock is off by more than a second lists and signs nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from weighbridge.chain import QUICKNET, SECOND, Chain, round_time
from weighbridge.errors import Unavailable, WeighbridgeError
from weighbridge.ports import Beacon, BeaconSource

from weighbridge_services.doctor.findings import BAD, OK, WARN, Finding
from weighbridge_services.folding.chains import chain_at
from weighbridge_services.node import Node

GROUP = "weighbridge.beacons"
TOLERANCE = SECOND
"""µs that a clock may be off."""
DELIVERY = 2 * SECOND
"""µs that a beacon may take from its round's time until it is read here."""


async def clock(node: Node) -> list[Finding]:
    """Compare the clock with each configured source's newest beacon, of the chains that the node's games roll on."""
    if node.config.node.clock == "recorded":
        return [Finding("clock", OK, "this node takes the time from its log")]
    if not node.config.beacons:
        return [Finding("clock", WARN, "no [[beacons]] source is configured to check it by")]
    chains = await asyncio.to_thread(chains_of, node)
    found = [await _against(node, each.source, dict(each.settings), chains) for each in node.config.beacons]
    return [finding for several in found for finding in several]


def chains_of(node: Node) -> list[Chain]:
    """Return the chains that the node's games roll on, as its fold knows them; before any has opened, quicknet."""
    found = [chain_at(node.folder, game.uri) for game in node.games]
    return list(dict.fromkeys(each for each in found if each is not None)) or [QUICKNET]


async def _against(node: Node, name: str, settings: dict[str, Any], chains: list[Chain]) -> list[Finding]:
    try:
        source: BeaconSource = node.plugins.load(GROUP, name)(settings, node.clock().now, None)
    except WeighbridgeError as error:
        return [Finding("clock", BAD, f"{name}: {error.code}: {error.message}")]
    try:
        found = [await _newest(source, chain) for chain in chains]
    finally:
        await source.close()
    had = [(chain, each) for chain, each in zip(chains, found, strict=True) if isinstance(each, Beacon)]
    if had:  # of another game's chain a source needs to know nothing
        return [_compared(node, name, chain, beacon) for chain, beacon in had]
    return [_without(name, each) for each in found if isinstance(each, WeighbridgeError)]


async def _newest(source: BeaconSource, chain: Chain) -> Beacon | WeighbridgeError:
    try:
        return await source.latest(chain)
    except WeighbridgeError as error:
        return error


def _without(name: str, error: WeighbridgeError) -> Finding:
    level = WARN if isinstance(error, Unavailable) else BAD
    return Finding("clock", level, f"{name}: {error.code}: {error.message}")


def _compared(node: Node, name: str, chain: Chain, beacon: Beacon) -> Finding:
    since = node.clock().now() - round_time(chain, beacon.round) * SECOND
    return compared(f"{name} ({chain.label})", since, chain.period * SECOND)


def compared(name: str, since: int, period: int) -> Finding:
    """Say what it means that the newest round was `since` µs ago by our clock, with one every `period` µs."""
    if since < -TOLERANCE:
        return Finding(
            "clock", BAD, f"it is {-since / SECOND:.1f} s behind {name}'s newest beacon; set the clock (NTP)"
        )
    if since > period + DELIVERY + TOLERANCE:
        return Finding(
            "clock",
            BAD,
            f"{name}'s newest beacon is {since / SECOND:.1f} s old: the clock is fast, or the source is stale",
        )
    return Finding("clock", OK, f"{name}'s newest beacon is {since / SECOND:.1f} s old")
