"""One audit over one game: its process fed with folded entries, its findings signed and published."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any, Final, NamedTuple

import structlog
from weighbridge import codec
from weighbridge.contract import Finding
from weighbridge.errors import Refused, Unavailable

from weighbridge_services import metrics
from weighbridge_services.audit_host.child import BROKEN
from weighbridge_services.audit_host.decide import findings, frame, frame_length, seq_of
from weighbridge_services.audit_host.store import Store
from weighbridge_services.broker.server import die_with_parent, end
from weighbridge_services.ending import end_tasks
from weighbridge_services.folding.letters import Letters, Run
from weighbridge_services.folding.statements import sign_finding
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus, crash_point

PAGE: Final = 64
"""Entries that are asked of the fold at a time: what waits for an audit is never more."""
POLL: Final = 1.0
"""Seconds between two looks for new entries."""
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 30.0
LONG_LIFE: Final = 60.0
"""Seconds of life after which a death counts as the first again."""
PASSED_ON: Final = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
"""What an audit's process gets of the environment: enough to run Python, nothing that may be a secret."""

log = structlog.get_logger()


class Died(Exception):
    """The audit's process has ended."""


class Means(NamedTuple):
    """What the watching over one audit works with: `run` has the ledger's thread do some work."""

    node: Node
    bus: Bus
    game: str
    audit: str
    store: Store
    run: Run
    letters: Letters

    def crash(self, point: str) -> None:
        """Die here if a test wants it: `audit-host.<point>`."""
        crash_point(self.node, f"audit-host.{point}")


class Watching:
    """Keeps one audit's process running."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._subjects = means.node.subjects(means.game)
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self.crashes = 0
        self.seen = 0
        self.broken = ""
        self._stopping = False

    @property
    def name(self) -> str:
        """The audit's name."""
        return self._means.audit

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._watched(), name=f"audit {self.name}")

    async def stop(self) -> None:
        """End the process."""
        self._stopping = True
        if self._task is not None:
            await end_tasks([self._task])
        if self._process is not None and self._process.returncode is None:
            await end(self._process)

    async def _watched(self) -> None:
        try:
            await self._keep_up()
        except Exception as error:
            log.error("the audit host stopped", audit=self.name, error=str(error))
            self._means.bus.fail(error)

    async def _keep_up(self) -> None:
        wait = FIRST_WAIT
        while not self._stopping:
            born = time.monotonic()
            process = self._process = await self._spawn()
            try:
                await self._feed(process)
            except (Died, Refused, OSError) as error:
                log.error(
                    "an audit failed", audit=self.name, at=self.seen, error=str(error) or type(error).__name__
                )
            await end(process)
            if process.returncode == BROKEN:
                self.broken = f"the audit {self.name} cannot be loaded; its own line says why"
                return
            self.crashes += 1
            metrics.CRASHES.labels(f"audit-{self.name}").set(self.crashes)
            wait = FIRST_WAIT if time.monotonic() - born > LONG_LIFE else min(wait * 2, LONGEST_WAIT)
            log.warning("the audit is started again", audit=self.name, after=wait, crashes=self.crashes)
            await asyncio.sleep(wait)

    async def _spawn(self) -> asyncio.subprocess.Process:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services.audit_host.child", self.name,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment, close_fds=True,
            start_new_session=True, preexec_fn=die_with_parent,
        )  # fmt: skip

    async def _feed(self, process: asyncio.subprocess.Process) -> None:
        """Show every entry from the first on: what an audit remembers it must have seen itself."""
        self.seen = 0
        while True:
            page = await self._page(self.seen)
            for sent in page:
                found = await self._ask(process, sent)
                if found:
                    await self._keep(found, seq_of(sent))
                    await self._send()
                self.seen += 1
            if not page:
                await self._send()
                if process.returncode is not None:
                    raise Died(f"exit code {process.returncode}")
                await asyncio.sleep(POLL)

    async def _page(self, start: int) -> list[dict[str, Any]]:
        asked = codec.encode({"start": start, "count": PAGE})
        try:
            answer: Any = codec.decode(await self._means.bus.ask(self._subjects.rpc("entries"), asked))
        except (Unavailable, Refused):
            return []  # the fold is not there yet, or not that far
        found: list[dict[str, Any]] = answer["entries"]
        return found

    async def _ask(self, process: asyncio.subprocess.Process, sent: dict[str, Any]) -> list[Finding]:
        if process.stdin is None or process.stdout is None:
            raise Died("it has no pipes")
        try:
            process.stdin.write(frame(sent))
            await process.stdin.drain()
            length = frame_length(await process.stdout.readexactly(4))
            return findings(await process.stdout.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Died(f"exit code {await process.wait()} while it was shown entry {seq_of(sent)}") from error

    async def _keep(self, found: list[Finding], seq: int) -> None:
        """Sign and keep what was found about an entry, before the next is shown: the audit may die of that one."""
        means = self._means
        # A crash here loses what was found: after the start the audit is shown every entry again, and finds it.
        means.crash("after-find")
        records, audit = means.node.keys.records, self.name
        envelopes = [
            sign_finding(records, means.game, audit, each.code, each.about, each.says, seq=seq)
            for each in found
        ]
        await means.run(means.store.keep, envelopes)
        # A crash here leaves findings that only the ledger knows: the start publishes them.
        means.crash("after-persist")

    async def _send(self) -> None:
        try:
            await self._means.letters.send()
        except Unavailable as error:
            log.info("publishing findings later", audit=self.name, says=error.message)
