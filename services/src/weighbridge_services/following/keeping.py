"""What every service keeps that reads a game's log: how far it has read, and the versions of the root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.following.entries import LogReader
from weighbridge_services.following.rules import Rules, rules_after
from weighbridge_services.subjects import token

DIGITS: Final = 20
"""Digits of a number in a name, so that names sort as their numbers do."""


class Kept:
    """One game's part of a service's ledger, under a prefix of its own. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str, kind: str) -> None:
        self.game = game
        self.ledger = ledger
        self.prefix = f"{kind}/{token(game)}"

    def reader(self) -> LogReader:
        """Return where reading stands."""
        return LogReader(self.game, self.ledger.values.get(f"{self.prefix}/last"))

    def rules(self, ruleset: RuleSet) -> Rules:
        """Return the rules in force as far as the log was read."""
        rules = Rules()
        for name in self.names("roots"):
            rules = rules_after(rules, ruleset, codec.decode_own(self.ledger.values.get(name) or b""))
        return rules

    def keep_read(self, entries: Iterable[Listed]) -> None:
        """Keep that entries were read. Needs an open batch: the one that holds what they said."""
        values = self.ledger.values
        last: Listed | None = None
        for listed in entries:
            last = listed
            if listed.entry.uri == self.game and listed.record is not None:
                values.set(self.numbered("roots", listed.entry.seq), listed.record)
        if last is not None:
            values.set(f"{self.prefix}/last", last.data)

    def numbered(self, kind: str, number: int) -> str:
        """Return the name under which something with a number is kept."""
        return f"{self.prefix}/{kind}/{number:0{DIGITS}}"

    def names(self, kind: str) -> list[str]:
        """Return the names of everything of a kind, sorted."""
        return self.ledger.values.names(f"{self.prefix}/{kind}/")
