"""A node is one folder: its configuration, keys, ledgers and, where the broker is embedded, the broker's data."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from weighbridge.contract import RuleSet
from weighbridge.identity import SIGNATURE, OperatorRecord, Signer, make_operator_record, verifier_key
from weighbridge.identity.vkeys import COSIGNATURE
from weighbridge.ledger import Ledger
from weighbridge.plugins import Plugins

from weighbridge_services.clock import Clock, RecordedClock, SystemClock
from weighbridge_services.config import Config, ForeignNode, GameTable, read_config
from weighbridge_services.secret_files import BadKeyFile, read_key
from weighbridge_services.subjects import Subjects, token

KEY_NAMES: Final = ("records", "log", "recompute")
PASSWORD: Final = "broker.password"
"""The file, among a node's keys, with its password at its embedded broker."""
PLAYER_PASSWORD: Final = "player.password"
"""The file with the password that players use there."""
OPERATOR: Final = "operator"
"""The name, in every ledger, under which it says whose it is."""
PUBLIC: Final = "public.json"
"""The file, among a node's keys, with their public halves: it tells a wrong key file from the right one."""

__all__ = [
    "KEY_NAMES",
    "PASSWORD",
    "PLAYER_PASSWORD",
    "PUBLIC",
    "BadKeyFile",
    "Keys",
    "Node",
    "public_halves",
    "read_keys",
]


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
        self._clock: Clock = RecordedClock() if config.node.clock == "recorded" else SystemClock()

    @classmethod
    def open(cls, folder: Path) -> Node:
        """Open the node in a folder. Raises NoNode, BadConfig, BadKeyFile or ForeignNode."""
        return cls(folder, read_config(folder), read_keys(folder))

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

    def domain_of(self, operator: str, game: str) -> str | None:
        """Return the JetStream domain of an operator's streams of a game (tokens); None: they are at our broker."""
        for table in self.games:
            for peer in table.peers:
                if (token(peer.did), token(table.uri)) == (operator, game):
                    return peer.domain
        return None

    def clock(self) -> Clock:
        """Return the clock this node goes by: one for all services of a process."""
        return self._clock

    def ledger(self, name: str) -> Ledger:
        """Open a service's ledger: one file of its own, with one writer, marked as this operator's.

        Raises ForeignNode, and what `Ledger.open` raises.
        """
        folder = self.folder / "ledger"
        folder.mkdir(mode=0o700, exist_ok=True)
        ledger = Ledger.open(folder / f"{name}.db")
        try:
            self._claim(ledger, folder / f"{name}.db")
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _claim(self, ledger: Ledger, path: Path) -> None:
        if ledger.values.get(OPERATOR) is None:
            ledger.values.set(OPERATOR, self.did.encode())
        self.refuse_foreign(ledger, path)

    def refuse_foreign(self, ledger: Ledger, path: Path) -> None:
        """Raise ForeignNode if a ledger is another operator's: what is signed by its memory would contradict itself."""
        owner = ledger.values.get(OPERATOR)
        if owner not in (None, self.did.encode()):
            raise ForeignNode(
                f"{path} is the ledger of {owner.decode(errors='replace')}, and the keys in {self.folder} are"
                f" {self.did}'s; put each operator's keys and ledgers together again"
            )

    def operator_record(self, game: str) -> OperatorRecord:
        """Return the record that names this operator's keys in a game."""
        log = verifier_key(self.name, SIGNATURE, self.keys.log.public)
        recompute = verifier_key(self.name, COSIGNATURE, self.keys.recompute.public)
        return make_operator_record(self.did, game, self.name, log, recompute)

    @cached_property
    def plugins(self) -> Plugins:
        """The plugins that the configuration names, and no others; imported when asked for."""
        table = self.config.plugins
        return Plugins({f"weighbridge.{name}": getattr(table, name) for name in table.__struct_fields__})

    def ruleset(self, game: GameTable) -> RuleSet:
        """Return the rule set of a game, which the configuration has to name. Raises what `Plugins.load` raises."""
        return self.plugins.ruleset(game.ruleset)


def read_keys(folder: Path) -> Keys:
    """Read a node's keys and hold them against their public halves. Raises BadKeyFile or ForeignNode."""
    keys = Keys(*(read_key(folder / "keys" / f"{name}.key") for name in KEY_NAMES))
    path = folder / "keys" / PUBLIC
    try:
        expected: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadKeyFile(f"{path} is missing or damaged; restore it from a backup") from error
    found = public_halves(keys)
    if not isinstance(expected, dict):
        raise BadKeyFile(f"{path} is damaged; restore it from a backup")
    wrong = [name for name in KEY_NAMES if expected.get(name) != found[name]]
    if len(wrong) == len(KEY_NAMES):
        raise ForeignNode(
            f"{folder} is the folder of {expected.get('records')}, and the keys in it are {found['records']}'s"
        )
    if wrong:
        names = ", ".join(str(folder / "keys" / f"{name}.key") for name in wrong)
        raise BadKeyFile(f"{names}: not the key this node was made with; restore it from a backup")
    return keys


def public_halves(keys: Keys) -> dict[str, str]:
    """Return what a node's folder remembers of its keys: the did:key of each."""
    return {name: signer.did for name, signer in zip(KEY_NAMES, keys, strict=True)}
