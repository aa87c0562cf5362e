"""The commands, run as a person runs them, against hosts and a relay in a thread of their own."""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atproto_network import Pds, Relay, network
from weighbridge_atproto_tools import register_game, register_move, register_sheet

GM = "did:plc:" + "g" * 24
ROOT, SHEET, MOVE = "town.delve.root", "town.delve.sheet", "town.delve.move"
GAME = f"at://{GM}/{ROOT}/one"
LISTER = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
DOTS = {"fetch": 2, "reckon": 2, "audit": 1, "mend": 1, "vouch": 1}
FITS = {"name": "N", "look": "grey coat", "drive": "finish it", "dots": DOTS, "abilities": []}
ROOT_FITS = {"gm": GM, "lister": LISTER, "policy": {"dids": [LISTER], "quorum": 1}}


class Outside:
    """Hosts and a relay over them, and a way to do something where they run."""

    def __init__(self, relay: Relay, hosts: list[Pds], loop: asyncio.AbstractEventLoop) -> None:
        self.relay, self.hosts = relay, hosts
        self._loop = loop

    def commit(self, number: int, made: Any, changes: dict[str, Any]) -> None:
        work = self.hosts[number].commit(made, changes)
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


@contextmanager
def outside(count: int = 2) -> Iterator[Outside]:
    """Run them in a thread: a command has an event loop of its own."""
    ready, found = threading.Event(), list[Outside]()
    done: list[Callable[[], None]] = []

    async def serve() -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        async with network(count) as (relay, hosts):
            found.append(Outside(relay, hosts, loop))
            done.append(lambda: loop.call_soon_threadsafe(ended.set))  # type: ignore[arg-type,return-value]
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(60)
    try:
        yield found[0]
    finally:
        done[0]()
        thread.join(60)


class Shell:
    """The commands with what a development network needs."""

    def __init__(self, at: Outside, folder: Path) -> None:
        self.at, self.folder = at, folder
        self.password = self.secret("password", "secret\n")

    def secret(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def record(self, **fields: object) -> str:
        path = self.folder / "record.json"
        path.write_text(json.dumps(fields))
        return str(path)

    def run(self, *arguments: object, account: str | None = None, host: int = 0) -> int:
        parser = argparse.ArgumentParser()
        subparsers = parser.add_subparsers()
        for register in (register_game, register_move, register_sheet):
            register(subparsers)
        more = ["--directory", self.at.relay.url, "--development"]
        if account:
            more += ["--host", self.at.hosts[host].url, "--account", account]
            more += ["--password-file", str(self.password)]
        parsed = parser.parse_args([*map(str, arguments), *more])
        code: int = parsed.run(parsed)
        return code
