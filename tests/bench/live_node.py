"""Nodes as an operator runs them: `weighbridge node up` in a process of its own, and a look at it from outside."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from weighbridge.identity import Envelope, Signer, encode_envelope, envelope_to_json, sign_record
from weighbridge_services.creating import create_node
from weighbridge_services.node import Node

TOYS = Path(__file__).resolve().parents[1] / "toys"
GM = Signer(b"\x07" * 32)
GAME = f"at://{GM.did}/example.coin.root/bench"
PLAYERS = [Signer(number.to_bytes(32, "big")) for number in range(2_000, 2_100)]
SERVICES = 12
"""Ports that are to be free in a row: a node's own, and one for each service."""
MANY = 1_000_000
"""The most that a root may let one author, or all strangers, list in a day."""
CONFIG = """
[node]
name = "{name}"
[broker]
{broker}
[http]
port = {http}
[plugins]
rulesets = ["coin"]
[[games]]
uri = "{game}"
ruleset = "coin"
{role}
"""


def free_port(row: int = 1) -> int:
    """Return a port that nobody listens on now, nor on the ones after it: services apart have one each."""
    while True:
        # Below those that a system gives to whoever connects: one of these may be taken at any moment.
        port = random.randrange(20_000, 32_000)
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            for number in range(row):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port + number))
            return port


def notes(count: int, first: int = 0) -> list[bytes]:
    """Return signed notes of many players, as they are handed in."""
    found = []
    for number in range(first, first + count):
        player = PLAYERS[number % len(PLAYERS)]
        value = {"game": GAME, "text": f"note {number} about the ferry that runs at dawn"}
        found.append(encode_envelope(sign_record(player, GAME, "example.coin.note", f"n{number}", value)))
    return found


def root(lister: str) -> Envelope:
    """Return the game's root, which lets everybody list as much as they like."""
    floods = {"author": MANY, "strangers": MANY}
    return sign_record(
        GM, None, "example.coin.root", "bench", {"gm": GM.did, "lister": lister, "floods": floods}
    )


class Pair:
    """A lister with the broker, and a follower that logs in there, in folders of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.broker = free_port()
        http = [free_port(SERVICES), free_port(SERVICES)]
        own = f"port = {self.broker}"
        lister = create_node(
            folder / "lister",
            CONFIG.format(name="alma", broker=own, http=http[0], game=GAME, role='role = "lister"'),
        )
        url = f'kind = "url"\nurl = "nats://127.0.0.1:{self.broker}"\npassword-file = "keys/broker.password"'
        role = f'role = "follower"\nlister = "{lister.did}"'
        follower = create_node(
            folder / "follower", CONFIG.format(name="bela", broker=url, http=http[1], game=GAME, role=role)
        )
        (lister.folder / "root.json").write_text(json.dumps(envelope_to_json(root(lister.did))))
        path = lister.folder / "weighbridge.toml"
        guest = f'did = "{follower.did}"\npassword-file = "{follower.folder}/keys/broker.password"'
        text = f'{path.read_text()}[games.source]\nroot = "root.json"\n'
        path.write_text(f'{text}[[broker.operators]]\n{guest}\ngames = ["{GAME}"]\n')
        self.lister = Up(Node.open(lister.folder), http[0], self._site())
        self.follower = Up(Node.open(follower.folder), http[1], self._site())

    def _site(self) -> str:
        """Lay out what an installer would leave of the toy game, and return what is to be on the path."""
        info = self._folder / "site" / "coin_toy-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-toy\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[weighbridge.rulesets]\ncoin = coin:RULES\n")
        return os.pathsep.join([str(info.parent), str(TOYS)])


class Up:
    """A node that runs, or is about to."""

    def __init__(self, node: Node, http: int, path: str) -> None:
        self.node = node
        self._url = f"http://127.0.0.1:{http}"
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None

    def declare(self) -> None:
        """Declare its streams at a broker that is not its own."""
        command = [sys.executable, "-m", "weighbridge_services", "node", "streams"]
        subprocess.run(
            [*command, "--node", str(self.node.folder)],
            env={**os.environ, "PYTHONPATH": self._path}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self, *options: str) -> float:
        """Start it, and return the seconds until it says it is ready."""
        begun = time.monotonic()
        command = [sys.executable, "-m", "weighbridge_services", "node", "up", *options]
        told = (self.node.folder / "bench.log").open("wb")
        with told:
            self._process = subprocess.Popen(
                [*command, "--node", str(self.node.folder)],
                env={**os.environ, "PYTHONPATH": self._path}, stdout=told, stderr=told,
            )  # fmt: skip
        while time.monotonic() < begun + 60:
            if self._get("/ready") is not None:
                return time.monotonic() - begun
            if self._process.poll() is not None:
                break
            time.sleep(0.01)
        raise RuntimeError(f"the node does not run: {(self.node.folder / 'bench.log').read_text()[-2_000:]}")

    def stop(self) -> None:
        """Stop it as an operator would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(60)
            self._process = None

    def service(self, name: str) -> dict[str, Any]:
        """Return what one of its services says of itself."""
        found = self._get("/health") or {}
        health: dict[str, Any] = found.get("services", {}).get(name, {})
        return health

    def _get(self, path: str) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(self._url + path, timeout=5) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except (urllib.error.URLError, OSError, ValueError):
            return None

    # --- what it takes ---------------------------------------------------------------------------------------

    def memory(self) -> float:
        """Return the MB that its processes hold, the broker's apart."""
        return sum(_status(pid, "VmRSS") / 1_024 for pid in self._pids() if not _is_broker(pid))

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds that its processes have taken: the node's, and the broker's."""
        found = {"node": 0.0, "broker": 0.0}
        for pid in self._pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            found["broker" if _is_broker(pid) else "node"] += ticks / os.sysconf("SC_CLK_TCK")
        return found

    def _pids(self) -> list[int]:
        if self._process is None:
            return []
        found = [self._process.pid]
        for pid in found:
            children = Path(f"/proc/{pid}/task/{pid}/children")
            found += [int(child) for child in children.read_text().split()] if children.exists() else []
        return found


def _is_broker(pid: int) -> bool:
    return "nats-server" in Path(f"/proc/{pid}/comm").read_text()


def _status(pid: int, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0
