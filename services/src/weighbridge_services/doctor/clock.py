"""A node's clock against the newest beacon: whose clock is off by more than a second lists and signs nothing."""

from __future__ import annotations

from typing import Any

from weighbridge.chain import QUICKNET, SECOND, round_time
from weighbridge.errors import Unavailable, WeighbridgeError

from weighbridge_services.doctor.findings import BAD, OK, WARN, Finding
from weighbridge_services.node import Node

GROUP = "weighbridge.beacons"
TOLERANCE = SECOND
"""µs that a clock may be off."""
DELIVERY = 2 * SECOND
"""µs that a beacon may take from its round's time until it is read here."""


async def clock(node: Node) -> list[Finding]:
    """Compare the clock with each configured source's newest beacon."""
    if node.config.node.clock == "recorded":
        return [Finding("clock", OK, "this node takes the time from its log")]
    if not node.config.beacons:
        return [Finding("clock", WARN, "no [[beacons]] source is configured to check it by")]
    return [await _against(node, each.source, dict(each.settings)) for each in node.config.beacons]


async def _against(node: Node, name: str, settings: dict[str, Any]) -> Finding:
    try:
        source = node.plugins.load(GROUP, name)(settings, node.clock().now, None)
        try:
            newest = await source.latest(QUICKNET)
        finally:
            await source.close()
    except WeighbridgeError as error:
        level = WARN if isinstance(error, Unavailable) else BAD
        return Finding("clock", level, f"{name}: {error.code}: {error.message}")
    return compared(name, node.clock().now() - round_time(QUICKNET, newest.round), QUICKNET.period * SECOND)


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
