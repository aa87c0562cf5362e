"""The nodes of the demo: their folders and configurations, as an operator would write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from weighbridge.cid import Cid
from weighbridge.identity import OPERATOR, Envelope, safe_quorum, sign_record

from weighbridge_services.config import FILE
from weighbridge_services.creating import create_node
from weighbridge_services.demo.season import GAME, beacons
from weighbridge_services.node import PASSWORD, Node

LISTER: Final = "alma"
FOLLOWERS: Final = ("bela", "cleo", "dora")
CROOK: Final = "egon"
RULESET: Final = "delvetown"
EMPTY: Final = '[node]\nname = "{name}"\n'


class Setup(NamedTuple):
    """What the nodes of a demo have in common. `beacons`: settings of their source, a plugin's name first."""

    game: str
    clock: str
    beacons: tuple[str, dict[str, Any]]
    source: dict[str, str]


class Operators(NamedTuple):
    """The nodes of the demo, by name; `nodes[LISTER]` brings the broker along."""

    folder: Path
    nodes: dict[str, Node]

    @property
    def lister(self) -> Node:
        """The node that writes the log."""
        return self.nodes[LISTER]

    @property
    def guests(self) -> tuple[str, ...]:
        """The names of the nodes that use the lister's broker."""
        return tuple(name for name in self.nodes if name != LISTER)

    @property
    def named(self) -> tuple[str, ...]:
        """The DIDs of the operators that the root names: all but the crooked one."""
        return tuple(self.nodes[name].did for name in (LISTER, *FOLLOWERS))

    @property
    def quorum(self) -> int:
        """How many of them must cosign."""
        return safe_quorum(len(self.named))

    def name_of(self, did: str) -> str:
        """Return the name of an operator."""
        found = [name for name, node in self.nodes.items() if node.did == did]
        return found[0] if found else did

    def record_of(self, name: str) -> Envelope:
        """Return an operator's record of its keys, signed."""
        node = self.nodes[name]
        return sign_record(node.keys.records, GAME, OPERATOR, "self", node.operator_record(GAME).value)

    def policy(self) -> dict[str, Any]:
        """Return the policy of the root: who must cosign, and whose trace reports settle."""
        return {"dids": list(self.named), "quorum": self.quorum}

    def kernel(self, pin: Cid) -> dict[str, Any]:
        """Return what the root says of operators and rules."""
        return {
            "lister": self.lister.did,
            "policy": self.policy(),
            "witnesses": self.policy(),
            "fold": {"name": RULESET, "pin": str(pin)},
        }


def create(folder: Path, names: Sequence[str]) -> Operators:
    """Make the folders of nodes, each with keys of its own. Raises what `create_node` raises."""
    return Operators(folder, {name: create_node(folder / name, EMPTY.format(name=name)) for name in names})


def recorded(folder: Path) -> Setup:
    """Return the setup of the recorded season; its beacons are written to a file that all nodes read."""
    path = folder / "beacons.jsonl"
    lines = [json.dumps({"round": each.round, "signature": each.signature}) for each in beacons()]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    return Setup(GAME, "recorded", ("file", {"path": str(path)}), {"plugin": "jsonl", "file": "season.jsonl"})


def configure_lister(operators: Operators, setup: Setup) -> None:
    """Write the lister's configuration: it brings the broker along, and the others' logins."""
    parts = [_head(LISTER, setup), '[broker]\nkind = "embedded"\nport = 0\n']
    for name in operators.guests:
        node = operators.nodes[name]
        path = str(Path("..") / name / "keys" / PASSWORD)
        login = {"did": node.did, "password-file": path, "games": [setup.game]}
        parts.append(f"[[broker.operators]]\n{_lines(login)}")
    parts += [_game(setup, {"role": "lister"}), _peers(operators, FOLLOWERS)]
    if setup.source:
        parts.append(f"[games.source]\n{_lines(setup.source)}")
    _write(operators, LISTER, parts)


def configure_guests(operators: Operators, setup: Setup, url: str) -> None:
    """Write the configurations of the others, who use the lister's broker."""
    for name in operators.guests:
        login = {"kind": "url", "url": url, "password-file": f"keys/{PASSWORD}"}
        peers = [each for each in operators.nodes if each != name]
        game = _game(setup, {"role": "follower", "lister": operators.lister.did})
        _write(
            operators,
            name,
            [_head(name, setup), f"[broker]\n{_lines(login)}", game, _peers(operators, peers)],
        )


def _head(name: str, setup: Setup) -> str:
    source, settings = setup.beacons
    plugins = {"rulesets": [RULESET], "sources": ["jsonl"], "beacons": [source], "tracers": ["form"]}
    return (
        f"[node]\n{_lines({'name': name, 'clock': setup.clock})}"
        f"[log]\n{_lines({'format': 'json'})}"
        f"[plugins]\n{_lines(plugins)}"
        f"[[beacons]]\n{_lines({'source': source})}[beacons.settings]\n{_lines(settings)}"
    )


def _game(setup: Setup, fields: dict[str, str]) -> str:
    # Of a page on the web a verdict says only when it was made: form is all there is to look at here.
    traces = 'traces = { form = { kinds = ["https", "at"] } }\n'
    return f"[[games]]\n{_lines({'uri': setup.game, 'ruleset': RULESET, **fields})}{traces}"


def _peers(operators: Operators, names: Sequence[str]) -> str:
    return "".join(f"[[games.peers]]\n{_lines({'did': operators.nodes[name].did})}" for name in names)


def _lines(settings: dict[str, Any]) -> str:
    # JSON is a part of TOML for text, integers, and lists of them.
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def _write(operators: Operators, name: str, parts: Sequence[str]) -> None:
    node = operators.nodes[name]
    (node.folder / FILE).write_text("\n".join(parts), encoding="utf-8")
    operators.nodes[name] = Node.open(node.folder)
