"""The processes of the demo's nodes: one for each node, none left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weighbridge_services.broker.folder import folder_of
from weighbridge_services.broker.server import die_with_parent
from weighbridge_services.demo.errors import DemoStuck
from weighbridge_services.demo.nodes import LISTER
from weighbridge_services.node import Node

LOG: Final = "node.log"
"""The file in a node's folder with what it says."""
START_WITHIN: Final = 30.0
STOP_WITHIN: Final = 8.0
"""Seconds that the nodes have to stop in good order."""


class Processes:
    """The processes of the nodes. Whatever happens, `stop` leaves none of them running."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, node: Node, environment: dict[str, str] | None = None) -> None:
        """Run a node in a process of its own; what it says goes to a file in its folder."""
        with (node.folder / LOG).open("ab") as output:
            self._running[node.name] = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "weighbridge_services", "node", "up", "--node", str(node.folder),
                stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
                start_new_session=True,  # Ctrl-C is the demo's to hear; it tells the nodes
                preexec_fn=die_with_parent,
            )  # fmt: skip

    def refuse_ended(self, folder: Path) -> None:
        """Raise DemoStuck if a node has ended by itself."""
        for name, process in self._running.items():
            if process.returncode is not None:
                said = last_line(folder / name / LOG)
                raise DemoStuck(f"the node {name} ended with exit code {process.returncode}: {said}")

    async def stop(self) -> None:
        """Stop all nodes: asked first, followers before the lister who has the broker, then for certain."""
        running = {name: process for name, process in self._running.items() if process.returncode is None}
        others = [process for name, process in running.items() if name != LISTER]
        await _end(others)
        await _end([process for name, process in running.items() if name == LISTER])
        self._running.clear()


async def _end(processes: Sequence[asyncio.subprocess.Process]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    try:
        async with asyncio.timeout(STOP_WITHIN):
            await asyncio.gather(*(process.wait() for process in processes))
    except TimeoutError:
        pass
    finally:
        for process in processes:
            if process.returncode is None:
                # Its session is its own: whatever it started and did not leave goes with it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def last_line(path: Path) -> str:
    """Return the last line that a node said."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return "it said nothing"
    said = [line for line in lines if line.strip()]
    return said[-1] if said else "it said nothing"


async def broker_of(node: Node, processes: Processes) -> None:
    """Wait for the broker that a node brings along. Raises DemoStuck."""
    deadline = time.monotonic() + START_WITHIN
    while not folder_of(node).port.exists():
        processes.refuse_ended(node.folder.parent)
        if time.monotonic() > deadline:
            raise DemoStuck(f"the broker of {node.name} is not there after {START_WITHIN:.0f} s")
        await asyncio.sleep(0.05)
