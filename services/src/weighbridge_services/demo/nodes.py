"""The five nodes of the demo: their folders, and the processes that run them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.identity import OPERATOR, Envelope, safe_quorum, sign_record

from weighbridge_services.broker.server import die_with_parent
from weighbridge_services.config import FILE
from weighbridge_services.creating import create_node
from weighbridge_services.demo.errors import DemoStuck
from weighbridge_services.demo.season import GAME, beacons
from weighbridge_services.node import PASSWORD, Node

LISTER: Final = "alma"
FOLLOWERS: Final = ("bela", "cleo", "dora")
CROOK: Final = "egon"
NAMES: Final = (LISTER, *FOLLOWERS, CROOK)
RULESET: Final = "delvetown"
SEASON: Final = "season.jsonl"
BEACONS: Final = "beacons.jsonl"
LOG: Final = "node.log"
STOP_WITHIN: Final = 8.0
"""Seconds that the nodes have to stop in good order."""
EMPTY: Final = '[node]\nname = "{name}"\n'


class Operators(NamedTuple):
    """The nodes of the demo, by name; `nodes[LISTER]` brings the broker along."""

    folder: Path
    nodes: dict[str, Node]

    @property
    def lister(self) -> Node:
        """The node that writes the log."""
        return self.nodes[LISTER]

    @property
    def named(self) -> tuple[str, ...]:
        """The DIDs of the operators that the root names: all but the crooked one."""
        return tuple(self.nodes[name].did for name in (LISTER, *FOLLOWERS))

    def name_of(self, did: str) -> str:
        """Return the name of an operator."""
        found = [name for name, node in self.nodes.items() if node.did == did]
        return found[0] if found else did

    def record_of(self, name: str) -> Envelope:
        """Return an operator's record of its keys, signed."""
        node = self.nodes[name]
        return sign_record(node.keys.records, GAME, OPERATOR, "self", node.operator_record(GAME).value)

    def kernel(self, pin: Cid) -> dict[str, Any]:
        """Return what the root says of operators and rules."""
        return {
            "lister": self.lister.did,
            "policy": {"dids": list(self.named), "quorum": safe_quorum(len(self.named))},
            "witnesses": {"dids": list(self.named), "quorum": safe_quorum(len(self.named))},
            "fold": {"name": RULESET, "pin": str(pin)},
        }


def create(folder: Path) -> Operators:
    """Make the folders of the five nodes, each with keys of its own. Raises what `create_node` raises."""
    return Operators(folder, {name: create_node(folder / name, EMPTY.format(name=name)) for name in NAMES})


def configure_lister(operators: Operators, season: Iterable[str]) -> None:
    """Write the lister's configuration, and the season that it lists."""
    folder = operators.lister.folder
    (folder / SEASON).write_text("".join(season), encoding="utf-8")
    text = [_head(LISTER), '[broker]\nkind = "embedded"\nport = 0\n']
    for name in (*FOLLOWERS, CROOK):
        node = operators.nodes[name]
        text.append(
            f"[[broker.operators]]\ndid = {_q(node.did)}\npassword-file = {_q(str(node.folder / 'keys' / PASSWORD))}\n"
            f"games = [{_q(GAME)}]\n"
        )
    source = f'[games.source]\nplugin = "jsonl"\nfile = {_q(SEASON)}\n'
    _write(operators, LISTER, [*text, _game("lister"), _peers(operators, FOLLOWERS), source])


def configure_followers(operators: Operators, url: str) -> None:
    """Write the configurations of the others, who use the lister's broker."""
    for name in (*FOLLOWERS, CROOK):
        broker = f'[broker]\nkind = "url"\nurl = {_q(url)}\npassword-file = "keys/{PASSWORD}"\n'
        peers = _peers(operators, [each for each in NAMES if each != name])
        _write(operators, name, [_head(name), broker, _game("follower", operators.lister.did), peers])


def _head(name: str) -> str:
    return (
        f'[node]\nname = {_q(name)}\nclock = "recorded"\n'
        f'[log]\nformat = "json"\n'
        f'[plugins]\nrulesets = [{_q(RULESET)}]\nsources = ["jsonl"]\nbeacons = ["file"]\n'
        f'[[beacons]]\nsource = "file"\nsettings = {{ path = "{BEACONS}" }}\n'
    )


def _game(role: str, lister: str | None = None) -> str:
    named = "" if lister is None else f"lister = {_q(lister)}\n"
    return f"[[games]]\nuri = {_q(GAME)}\nrole = {_q(role)}\nruleset = {_q(RULESET)}\n{named}"


def _peers(operators: Operators, names: Sequence[str]) -> str:
    return "".join(f"[[games.peers]]\ndid = {_q(operators.nodes[name].did)}\n" for name in names)


def _write(operators: Operators, name: str, parts: Sequence[str]) -> None:
    node = operators.nodes[name]
    (node.folder / FILE).write_text("".join(parts).replace(f'"{BEACONS}"', _q(str(node.folder / BEACONS))))
    lines = [json.dumps({"round": each.round, "signature": each.signature}) for each in beacons()]
    (node.folder / BEACONS).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    operators.nodes[name] = Node.open(node.folder)


def _q(text: str) -> str:
    return json.dumps(text)


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
