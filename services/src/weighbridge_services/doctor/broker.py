"""The broker: whether it is there, takes what a node sends, and keeps streams as they are to be kept."""

from __future__ import annotations

from weighbridge.errors import Unavailable

from weighbridge_services.broker.configuring import MAX_PAYLOAD
from weighbridge_services.broker.server import binary
from weighbridge_services.doctor.findings import BAD, OK, WARN, Finding
from weighbridge_services.inspecting import PATIENCE, running
from weighbridge_services.node import Node
from weighbridge_services.streams import all_wanted, differences, info_of
from weighbridge_services.wire import Bus


async def broker(node: Node) -> list[Finding]:
    """Look at the broker, if it runs."""
    found: list[Finding] = []
    table = node.config.broker
    if table.kind == "embedded":
        found.append(Finding("broker", OK, f"embedded: {binary()}, synced every {table.sync_interval}"))
        if "node" not in running(node):
            return [*found, Finding("broker", OK, "it does not run; `weighbridge node up` starts it")]
    bus = Bus.connect(node, "doctor")
    try:
        await bus.start(PATIENCE)
    except Unavailable as error:
        return [*found, Finding("broker", BAD, f"{error.code}: {error.message}")]
    try:
        return [*found, *_limits(bus), *(await _streams(bus, node))]
    finally:
        await bus.stop()


def _limits(bus: Bus) -> list[Finding]:
    size, version = bus.nc.max_payload, bus.nc.connected_server_version
    if size < MAX_PAYLOAD:
        return [
            Finding(
                "broker", BAD, f"it takes {size:,} bytes a message; set its max_payload to {MAX_PAYLOAD:,}"
            )
        ]
    return [
        Finding(
            "broker",
            OK,
            f"nats-server {version.major}.{version.minor}.{version.patch} takes {size:,} bytes a message",
        )
    ]


async def _streams(bus: Bus, node: Node) -> list[Finding]:
    found: list[Finding] = []
    for wanted in all_wanted(node):
        name = str(wanted.name)
        there = await info_of(bus.js, name)
        if there is None:
            found.append(Finding("streams", BAD, f"{name} is not declared; run `weighbridge node streams`"))
            continue
        differing = differences(there, wanted)
        if "persist_mode" in differing:
            found.append(
                Finding(
                    "streams",
                    BAD,
                    f"{name} is written asynchronously whatever the server's sync_interval says",
                )
            )
        elif differing:
            says = f"{name} differs in {', '.join(differing)}; run `weighbridge node streams`"
            found.append(Finding("streams", WARN, says))
    return found or [Finding("streams", OK, "all are there and as they should be")]
