"""A node's configuration: one TOML file, validated with paths, every problem at once."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from weighbridge.errors import Broken, Refused

FILE = "weighbridge.toml"


class BadConfig(Refused):
    """The node's configuration is wrong; `detail["problems"]` are (path, sentence), all of them."""

    code: ClassVar[str] = "bad-config"


class NoNode(Refused):
    """There is no node in that folder."""

    code: ClassVar[str] = "no-node"


class ForeignNode(Broken):
    """The folder holds another node than its configuration says, or something else altogether."""

    code: ClassVar[str] = "foreign-node"


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename=lambda n: n.replace("_", "-")):
    """A table of the file: a key nobody knows is a mistake."""


class NodeTable(Strict, frozen=True):
    """`[node]`: the operator's name for people, and whose time it keeps."""

    name: str
    clock: Literal["system", "recorded"] = "system"


class OperatorTable(Strict, frozen=True):
    """`[[broker.operators]]`: another operator who uses this node's broker, and the file with its password."""

    did: str
    password_file: str
    games: tuple[str, ...] = ()


class LeafTable(Strict, frozen=True):
    """`[broker.leaf]`: meeting other operators' brokers: the port where they come in, or the hubs to go to."""

    host: str = "127.0.0.1"
    port: int = 0
    hubs: tuple[str, ...] = ()


class BrokerTable(Strict, frozen=True):
    """`[broker]`: an embedded nats-server, or any NATS by URL with user and password file or credentials file.

    Port 0 of an embedded broker is any that is free. Paths are relative to the node's folder.
    """

    kind: Literal["embedded", "url"] = "embedded"
    host: str = "127.0.0.1"
    port: int = 4222
    url: str | None = None
    user: str | None = None
    password_file: str | None = None
    credentials: str | None = None
    domain: str | None = None
    sync_interval: str = "10s"
    operators: tuple[OperatorTable, ...] = ()
    leaf: LeafTable = LeafTable()


class HttpTable(Strict, frozen=True):
    """`[http]`: where health and metrics are served; port 0 turns it off."""

    host: str = "127.0.0.1"
    port: int = 0


class LogTable(Strict, frozen=True):
    """`[log]`: for people or as JSON."""

    format: Literal["people", "json"] = "people"
    level: Literal["debug", "info", "warning", "error"] = "info"


class PluginsTable(Strict, frozen=True):
    """`[plugins]`: what this node loads, by entry-point name; nothing else is imported."""

    rulesets: tuple[str, ...] = ()
    audits: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    tracers: tuple[str, ...] = ()
    beacons: tuple[str, ...] = ()


class Peer(Strict, frozen=True):
    """`[[games.peers]]`: another operator of the game, and its JetStream domain where it has its own broker."""

    did: str
    domain: str | None = None


class GameTable(Strict, frozen=True):
    """`[[games]]`: a game this node lists or follows."""

    uri: str
    role: Literal["lister", "follower"]
    ruleset: str
    lister: str | None = None
    gm: str | None = None
    peers: tuple[Peer, ...] = ()
    source: dict[str, Any] = {}
    traces: dict[str, Any] = {}


class BeaconTable(Strict, frozen=True):
    """`[[beacons]]`: a source of beacons (a plugin's name) and its settings."""

    source: str
    settings: dict[str, Any] = {}


class TestTable(Strict, frozen=True):
    """`[test]`: switches of the test suite; all off in a node that matters."""

    crash: bool = False


class Config(Strict, frozen=True):
    """The whole file."""

    node: NodeTable
    broker: BrokerTable = BrokerTable()
    http: HttpTable = HttpTable()
    log: LogTable = LogTable()
    plugins: PluginsTable = PluginsTable()
    games: tuple[GameTable, ...] = ()
    beacons: tuple[BeaconTable, ...] = ()
    test: TestTable = TestTable()


def read_config(folder: Path) -> Config:
    """Read and validate a node's configuration. Raises NoNode or BadConfig."""
    path = folder / FILE
    if not path.is_file():
        raise NoNode(f"{folder} has no {FILE}; `weighbridge node init {folder}` makes a node there")
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Config)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} is no TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise BadConfig(f"{path}: {error}") from error
