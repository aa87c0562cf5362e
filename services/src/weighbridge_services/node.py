"""A node is one folder: its configuration, keys, ledgers and, where the broker is embedded, the broker's data."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import ClassVar, NamedTuple

from weighbridge.contract import RuleSet
from weighbridge.errors import Broken
from weighbridge.identity import SIGNATURE, OperatorRecord, Signer, make_operator_record, verifier_key
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge.ledger import Ledger

from weighbridge_services.clock import Clock, RecordedClock, SystemClock
from weighbridge_services.config import Config, GameTable, read_config
from weighbridge_services.subjects import Subjects

KEY_NAMES = ("records", "log", "recompute")
PASSWORD = "broker.password"
"""The file, among a node's keys, with its password at its embedded broker."""
PLAYER_PASSWORD = "player.password"
"""The file with the password that players use there."""


class BadKeyFile(Broken):
    """A key file is missing, has loose modes, or holds no key."""

    code: ClassVar[str] = "bad-key-file"


class Keys(NamedTuple):
    """An operator's three keys: records and statements, log and receipts, recompute."""

    records: Signer
    log: Signer
    recompute: Signer


class Node:
    """An opened node."""

    def __init__(self, folder: Path, config: Config, keys: Keys) -> None:
        self.folder = folder
        self.config = config
        self.keys = keys

    @classmethod
    def open(cls, folder: Path) -> Node:
        """Open the node in a folder. Raises NoNode, BadConfig or BadKeyFile."""
        config = read_config(folder)
        return cls(folder, config, Keys(*(read_key(folder / "keys" / f"{name}.key") for name in KEY_NAMES)))

    @property
    def did(self) -> str:
        """The operator's DID: the did:key of its records key."""
        return self.keys.records.did

    @property
    def name(self) -> str:
        """The operator's name, for people and as the name of its note keys."""
        return self.config.node.name

    @property
    def games(self) -> tuple[GameTable, ...]:
        """The games this node lists or follows."""
        return self.config.games

    def subjects(self, game: str, did: str | None = None) -> Subjects:
        """Return the subjects of this node, or of another operator, for a game."""
        return Subjects.of(self.did if did is None else did, game)

    def clock(self) -> Clock:
        """Return the clock this node goes by."""
        return RecordedClock() if self.config.node.clock == "recorded" else SystemClock()

    def ledger(self, name: str) -> Ledger:
        """Open a service's ledger: one file of its own, with one writer."""
        folder = self.folder / "ledger"
        folder.mkdir(mode=0o700, exist_ok=True)
        return Ledger.open(folder / f"{name}.db")

    def operator_record(self, game: str) -> OperatorRecord:
        """Return the record that names this operator's keys in a game."""
        log = verifier_key(self.name, SIGNATURE, self.keys.log.public)
        recompute = verifier_key(self.name, COSIGNATURE, self.keys.recompute.public)
        return make_operator_record(self.did, game, self.name, log, recompute)

    def ruleset(self, game: GameTable) -> RuleSet:
        """Load the rule set of a game: one that the configuration names, and no other plugin."""
        from weighbridge_services.installed import ruleset_named  # noqa: PLC0415

        return ruleset_named(game.ruleset)


def write_key(path: Path) -> Signer:
    """Make a new key in a file that only its owner can read."""
    seed = secrets.token_bytes(32)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(seed.hex() + "\n")
    return Signer(seed)


def read_key(path: Path) -> Signer:
    """Read a key file. Raises BadKeyFile."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="ascii").strip()
        seed = bytes.fromhex(text)
    except FileNotFoundError as error:
        raise BadKeyFile(f"{path} is missing; restore it from a backup, or make a new node") from error
    except (ValueError, OSError) as error:
        raise BadKeyFile(f"{path} holds no key: 64 hex digits are expected") from error
    if mode & 0o077:
        raise BadKeyFile(f"{path} can be read by others (mode {mode:o}); run chmod 600 on it")
    if len(seed) != 32:
        raise BadKeyFile(f"{path} holds no key: 64 hex digits are expected")
    return Signer(seed)
