"""A node's configuration: one TOML file, validated with paths, every problem at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec
from weighbridge.errors import Broken, Refused
from weighbridge.identity.syntax import is_did, is_record_uri
from weighbridge.settings import NOT_THE_SOURCES, Problem, problems_of

FILE: Final = "weighbridge.toml"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,63}")
ED25519_KEY: Final = re.compile(r"did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}")
DOMAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
BROKER_URL: Final = re.compile(r"(nats|tls|ws|wss)://[^\s/]+/?")
NEAR: Final = 0.75
"""How alike (0 to 1) two names are of which one is the other, misspelt."""
INTERVAL: Final = re.compile(r"always|[0-9]{1,6}(ms|s|m|h)")


LAST_HTTP: Final = 65_500


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
    """`[http]`: where health and metrics are served; port 0 turns it off.

    Services in processes of their own serve theirs on the ports after it.
    """

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
    """`[[games]]`: a game this node lists or follows.

    `withheld-after`: seconds that the lister has for what this node, its follower, has found or been handed.
    """

    uri: str
    role: Literal["lister", "follower"]
    ruleset: str
    lister: str | None = None
    gm: str | None = None
    peers: tuple[Peer, ...] = ()
    source: dict[str, Any] = {}
    withheld_after: float = 60.0
    traces: dict[str, Any] = {}


class BeaconTable(Strict, frozen=True):
    """`[[beacons]]`: a source of beacons (a plugin's name) and its settings."""

    source: str
    settings: dict[str, Any] = {}


class SuiteTable(Strict, frozen=True):
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
    test: SuiteTable = SuiteTable()


def read_config(folder: Path) -> Config:
    """Read and validate a node's configuration. Raises NoNode or BadConfig."""
    path = folder / FILE
    if not path.is_file():
        raise NoNode(f"{folder} has no {FILE}; `weighbridge node init {folder}` makes a node there")
    try:
        return config_of(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadConfig(
            f"{path} is no text in UTF-8: {error}", problems=[("the file", str(error))]
        ) from error


def config_of(text: str, where: str = FILE) -> Config:
    """Return the configuration that a text holds. Raises BadConfig with every problem and its path."""
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{where} is no TOML: {error}", problems=[("the file", str(error))]) from error
    problems = list(problems_of(value, Config))
    if not problems:
        config = msgspec.convert(value, Config)
        problems = list(checks(config))
        if not problems:
            return config
    says = "; ".join(f"{path} {sentence}" for path, sentence in problems)
    raise BadConfig(f"{where}: {says}", problems=problems)


def checks(config: Config) -> Iterator[Problem]:
    """Yield what is wrong although every setting has the right type."""
    if not NAME.fullmatch(config.node.name):
        yield (
            "node.name",
            "is to be 1 to 64 of the letters a-z, A-Z, digits, and . _ - / (it names the note keys)",
        )
    yield from _broker_checks(config.broker)
    yield from _port_checks("http.port", config.http.port)
    if LAST_HTTP < config.http.port <= 65_535:
        yield (
            "http.port",
            f"is to be at most {LAST_HTTP}: services in processes of their own take the ports after it",
        )
    for number, game in enumerate(config.games):
        yield from _source_checks(f"games[{number}].source", game.source)
        yield from _tracer_checks(f"games[{number}].traces", game.traces, config.plugins.tracers)
        yield from _game_checks(f"games[{number}]", game, [each.uri for each in config.games[:number]])


def _broker_checks(broker: BrokerTable) -> Iterator[Problem]:
    if broker.kind == "url" and broker.url is None:
        yield "broker.url", 'is missing: kind = "url" needs the address of the broker'
    if broker.url is not None and not BROKER_URL.fullmatch(broker.url):
        yield (
            "broker.url",
            "is to be the address of a NATS server: nats://host:4222, or tls://, ws://, wss://",
        )
    if broker.kind == "embedded":
        for name in ("url", "user", "password_file", "credentials"):
            if getattr(broker, name) is not None:
                yield f"broker.{name.replace('_', '-')}", 'is for kind = "url" only'
    if broker.domain is not None and not DOMAIN.fullmatch(broker.domain):
        yield "broker.domain", "is to be 1 to 64 of a-z, A-Z, digits, _ and -"
    if not INTERVAL.fullmatch(broker.sync_interval):
        yield "broker.sync-interval", 'is to be "always" or a time like "10s" or "2m"'
    yield from _port_checks("broker.port", broker.port)
    yield from _port_checks("broker.leaf.port", broker.leaf.port)
    for number, operator in enumerate(broker.operators):
        yield from _did_checks(f"broker.operators[{number}].did", operator.did)


def _game_checks(path: str, game: GameTable, before: list[str]) -> Iterator[Problem]:
    if not is_record_uri(game.uri):
        yield f"{path}.uri", "is to be the at-uri of the game's root: at://did/collection/rkey"
    if game.uri in before:
        yield f"{path}.uri", "is there already: a game has one table"
    if game.role == "follower" and game.lister is None:
        yield f"{path}.lister", "is missing: a follower follows somebody; give the lister's DID"
    if game.role == "lister" and game.lister is not None:
        yield f"{path}.lister", 'is for role = "follower": a lister follows nobody'
    if not 0 < game.withheld_after <= 86_400:
        yield f"{path}.withheld-after", "is to be a number of seconds, up to 86400"
    for name in ("lister", "gm"):
        did = getattr(game, name)
        if did is not None:
            yield from _did_checks(f"{path}.{name}", did)
    for number, peer in enumerate(game.peers):
        yield from _did_checks(f"{path}.peers[{number}].did", peer.did)
        if peer.domain is not None and not DOMAIN.fullmatch(peer.domain):
            yield f"{path}.peers[{number}].domain", "is to be 1 to 64 of a-z, A-Z, digits, _ and -"


def _source_checks(path: str, source: Mapping[str, Any]) -> Iterator[Problem]:
    # Of a source that is named its plugin says what its settings are.
    own = sorted({*NOT_THE_SOURCES, "file"})
    for name in source if "plugin" not in source and "file" not in source else ():
        if name not in own:
            near = get_close_matches(name, own, 1)
            advice = f"did you mean {near[0]!r}?" if near else "`plugin` names whose it is"
            yield f"{path}.{name}", f"is no setting where no source is named; {advice}"


def _tracer_checks(path: str, tables: Iterable[str], tracers: tuple[str, ...]) -> Iterator[Problem]:
    # The table of a tracer that is not in use now may stay; one that is nearly named is misspelt.
    for name in tables:
        near = get_close_matches(name, tracers, 1, NEAR)
        if name not in tracers and near:
            yield f"{path}.{name}", f"is no tracer of this node; did you mean {near[0]!r}?"


def _did_checks(path: str, did: str) -> Iterator[Problem]:
    if not is_did(did):
        yield path, "is to be a DID: did:key:… or did:plc:…"
    elif did.startswith("did:key:") and not ED25519_KEY.fullmatch(did):
        yield path, "is no did:key of an Ed25519 key: it has lost a character, or has another one"


def _port_checks(path: str, port: int) -> Iterator[Problem]:
    if not 0 <= port <= 65_535:
        yield path, "is to be between 0 and 65535"
