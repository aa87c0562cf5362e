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
from weighbridge_services.ending import end_tasks
from weighbridge_services.health import asked
from weighbridge_services.node import Node
from weighbridge_services.service import ServiceStopped, port_of

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
        self._told: dict[str, dict[str, Any] | None] = {}
        self.failure: BaseException | None = None
        self.failed = asyncio.Event()

    def start(self) -> None:
        """Start all of them."""
        self._tasks = [
            asyncio.create_task(self._keep_up(name), name=f"child {name}") for name in self._services
        ]

    async def stop(self) -> None:
        """Stop all of them, in good order if they let themselves."""
        await end_tasks(self._tasks)
        await asyncio.gather(*(end(each) for each in self._processes.values() if each.returncode is None))

    async def ask(self) -> None:
        """Ask each how it is, at its own port."""
        http = self._node.config.http
        said = await asyncio.gather(*(asked(http.host, port_of(n, http.port)) for n in self._services))
        self._told = dict(zip(self._services, said, strict=True))

    @property
    def all_answer(self) -> bool:
        """Whether each was up when it was asked last."""
        return all(self._told.get(name) is not None for name in self._services)

    def healths(self) -> dict[str, dict[str, Any]]:
        """Return what each said of itself when it was asked last, and how often it died."""
        for name, count in self.crashes.items():
            metrics.CRASHES.labels(name).set(count)
        return {name: {**self._health(name), "crashes": self.crashes[name]} for name in self._services}

    def _health(self, name: str) -> dict[str, Any]:
        process, told = self._processes.get(name), self._told.get(name)
        if process is None or process.returncode is not None:
            return {"unhealthy": ["it does not run"]}
        if told is None:
            return {"unhealthy": ["it does not answer; it may be starting"]}
        return dict(told.get("services", {}).get(name, {}))

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
