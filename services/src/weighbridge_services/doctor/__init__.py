"""Looking for what is wrong with a node, or soon will be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from weighbridge.errors import WeighbridgeError

from weighbridge_services.config import BadConfig
from weighbridge_services.doctor.broker import broker
from weighbridge_services.doctor.clock import clock
from weighbridge_services.doctor.findings import BAD, OK, WARN, Finding
from weighbridge_services.doctor.machine import disk, key_modes, ledgers, ports, syncs, versions
from weighbridge_services.doctor.plugins import plugins
from weighbridge_services.doctor.sources import sources
from weighbridge_services.node import Node

__all__ = ["BAD", "OK", "WARN", "Finding", "examine"]

Check = Callable[[Node], Awaitable[list[Finding]]]


async def examine(folder: Path) -> list[Finding]:
    """Return everything that was looked at, the good too. What keeps a node from opening comes alone."""
    found = [*key_modes(folder), *versions()]
    try:
        node = Node.open(folder)
    except BadConfig as error:
        problems = error.detail.get("problems", [])
        told = (
            [Finding("config", BAD, f"{path} {says}") for path, says in problems]
            if isinstance(problems, list)
            else []
        )
        return [*found, *(told or [Finding("config", BAD, error.message)])]
    except WeighbridgeError as error:
        return [*found, Finding("node", BAD, f"{error.code}: {error.message}")]
    checks: list[Check] = [ledgers, ports, disk, syncs, plugins, sources, clock, broker]
    for check in checks:
        try:
            found += await check(node)
        except WeighbridgeError as error:
            found.append(Finding(check.__name__, BAD, f"{error.code}: {error.message}"))
    return found
