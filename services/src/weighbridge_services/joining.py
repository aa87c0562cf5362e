"""A node that follows a game, made from what the game's root says and from where its records were found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from weighbridge.chain import QUICKNET
from weighbridge.errors import Refused
from weighbridge.fold.roots import read_root
from weighbridge.plugins import find

from weighbridge_services.config import BROKER_URL, NAME
from weighbridge_services.creating import FolderInUse, create_node
from weighbridge_services.example import example
from weighbridge_services.game_rules import GameRules
from weighbridge_services.node import Node

__all__ = [
    "BadName",
    "BadRoot",
    "Joined",
    "NoBroker",
    "NoLister",
    "Operators",
    "check_folder",
    "join",
    "who_runs",
]

BEACONS = "weighbridge.beacons"


class BadRoot(Refused):
    """The root opens no game: no fold accepts it."""

    code: ClassVar[str] = "bad-root"


class NoLister(Refused):
    """The root names no lister, so that there is no log to follow."""

    code: ClassVar[str] = "no-lister"


class NoBroker(Refused):
    """Nothing says at which NATS server the lister's log is read."""

    code: ClassVar[str] = "no-broker-address"


class BadName(Refused):
    """An operator cannot be called so."""

    code: ClassVar[str] = "bad-operator-name"


class Operators(NamedTuple):
    """Who runs a game: the lister, the other operators that cosign or witness, whether dice are quicknet's."""

    lister: str
    others: tuple[str, ...]
    quicknet: bool


class Joined(NamedTuple):
    """A node that was made: its folder, its DID, and the files that hold its configuration and its password."""

    folder: Path
    did: str
    config: Path
    password: Path


def who_runs(root: Mapping[str, Any]) -> Operators:
    """Return who runs the game of a root. Raises BadRoot with every problem, NoLister."""
    read, problems = read_root(root, None)
    if read is None:
        says = "; ".join(f"{each.path}: {each.says}" for each in problems)
        raise BadRoot(f"the root opens no game: {says}", problems=problems)
    if read.lister is None:
        raise NoLister("the root names no lister: nobody writes a log of this game that could be followed")
    members = [each.members() for each in (read.policy, read.witnesses) if each is not None]
    others = sorted({did for some in members for did in some} - {read.lister})
    return Operators(read.lister, tuple(others), read.chain == QUICKNET)


def check_folder(folder: Path, name: str | None, url: str | None) -> tuple[str, str]:
    """Return the name and the broker's address of a node that is to be made in a folder.

    Before anything is asked of anybody. Raises FolderInUse, NoBroker, BadName.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderInUse(f"{folder} holds something already; name a folder that is empty or not there")
    if url is None:
        raise NoBroker(
            "say at which NATS server the lister's log is read: --nats nats://host:4222; no record says it, because"
            " the login there has to be arranged with the lister anyway"
        )
    if BROKER_URL.fullmatch(url) is None:
        raise NoBroker(f"{url!r} is no address of a NATS server: nats://host:4222, or tls://, ws://, wss://")
    chosen = folder.resolve().name if name is None else name
    if NAME.fullmatch(chosen) is None:
        raise BadName(f"{chosen!r} names no operator; give --name, like alma or witness.example.org")
    return chosen, url


def join(
    folder: Path,
    game: str,
    operators: Operators,
    rules: GameRules,
    source: Mapping[str, Any],
    *,
    name: str,
    url: str,
) -> Joined:
    """Make the node: a follower of the game with this source. Raises FolderInUse, BadConfig."""
    drand = operators.quicknet and any(each.name == "drand" for each in find((BEACONS,)))
    text = example(
        name,
        game=game,
        role="follower",
        ruleset=rules.name,
        lister=operators.lister,
        url=url,
        attached=sorted(rules.attached),
        sources=[str(source["plugin"])],
        drand=drand,
    )
    peers = (operators.lister, *operators.others)
    node = create_node(folder, f"{text}{_peers(peers)}{_source(source, rules.pin)}")
    return _joined(node)


def _joined(node: Node) -> Joined:
    return Joined(
        node.folder, node.did, node.folder / "weighbridge.toml", node.folder / "keys" / "broker.password"
    )


def _peers(dids: Iterable[str]) -> str:
    return "".join(f"\n[[games.peers]]\ndid = {_q(did)}\n" for did in dids)


def _source(source: Mapping[str, Any], pin: str) -> str:
    lines = [f"{name} = {_q(value)}" for name, value in source.items()]
    head = f"\n# The rule set was found here with the pin {pin}.\n[games.source]\n"
    return head + "\n".join(lines) + "\n"


def _q(value: str | bool | int | Sequence[str]) -> str:
    """Return a value as TOML: of texts, flags, numbers and lists of texts, JSON is a part of it."""
    if isinstance(value, list | tuple) and len(value) > 1:
        return "[\n" + "".join(f"    {_q(each)},\n" for each in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
