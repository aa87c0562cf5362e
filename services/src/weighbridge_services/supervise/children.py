"""A node's services as processes of their own: started, restarted when they die, stopped with the node."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from typing import Any

import structlog

from weighbridge_services import metrics
from weighbridge_services.broker.server import die_with_parent, end
from weighbridge_services.node import Node
from weighbridge_services.service import ServiceStopped

FINAL = {2, 4}
"""Exit codes after which starting again is of no use: refused input, broken state."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
LONG_LIFE = 60.0
"""Seconds of life after which a death counts as the first again."""

log = structlog.get_logger()


class Children:
    """One process per service."""

    def __init__(self, node: Node, services: list[str]) -> None:
        self._node = node
        self._services = services
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.crashes: dict[str, int] = dict.fromkeys(services, 0)
        self.failure: BaseException | None = None
        self.failed = asyncio.Event()

    def start(self) -> None:
        """Start all of them."""
        self._tasks = [
            asyncio.create_task(self._keep_up(name), name=f"child {name}") for name in self._services
        ]

    async def stop(self) -> None:
        """Stop all of them, in good order if they let themselves."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(end(each) for each in self._processes.values() if each.returncode is None))

    def healths(self) -> dict[str, dict[str, Any]]:
        """Return which run, and how often each died."""
        found: dict[str, dict[str, Any]] = {}
        for name in self._services:
            process = self._processes.get(name)
            up = process is not None and process.returncode is None
            found[name] = {
                "crashes": self.crashes[name],
                **({} if up else {"unhealthy": ["it does not run"]}),
            }
            metrics.CRASHES.labels(name).set(self.crashes[name])
        return found

    async def _keep_up(self, name: str) -> None:
        wait = FIRST_WAIT
        while True:
            born = time.monotonic()
            process = await self._spawn(name)
            code = await process.wait()
            if code in FINAL:
                self.failure = ServiceStopped(
                    f"the service {name} ended with exit code {code}; its own line says why"
                )
                self.failed.set()
                return
            self.crashes[name] += 1
            wait = FIRST_WAIT if time.monotonic() - born > LONG_LIFE else min(wait * 2, LONGEST_WAIT)
            log.error("a service died and is started again", service=name, exit=code, after=wait)
            await asyncio.sleep(wait)

    async def _spawn(self, name: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services", "run", name, "--node", str(self._node.folder),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is the node's to hear; it tells the services
            preexec_fn=die_with_parent,
        )  # fmt: skip
        self._processes[name] = process
        return process

    def kill(self, name: str) -> None:
        """Kill one, for tests."""
        with contextlib.suppress(ProcessLookupError):
            self._processes[name].send_signal(signal.SIGKILL)
