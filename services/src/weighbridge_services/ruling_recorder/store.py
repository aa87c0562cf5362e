"""What the ruling recorder keeps of one game: the queue, how far it has read, and rulings until they are out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.identity import encode_envelope
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.following import LogReader, Rules, rules_after
from weighbridge_services.ruling_recorder.decide import Item, Taken
from weighbridge_services.subjects import Subjects, token

DIGITS: Final = 20


class Loaded(NamedTuple):
    """What a start finds: where reading stands in log and questions, the rules in force and the queue."""

    reader: LogReader
    position: int
    rules: Rules
    items: dict[str, Item]


class Store:
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        self.game = game
        self._ledger = ledger
        self._prefix = f"desk/{token(game)}"

    def load(self, ruleset: RuleSet) -> Loaded:
        """Return what was kept."""
        values = self._ledger.values
        rules = Rules()
        for name in values.names(f"{self._prefix}/roots/"):
            rules = rules_after(rules, ruleset, codec.decode_own(values.get(name) or b""))
        found = [
            codec.decode_as(values.get(name) or b"", Item) for name in values.names(f"{self._prefix}/items/")
        ]
        position = self._ledger.positions.get(f"{self._prefix}/questions") or 0
        reader = LogReader(self.game, values.get(f"{self._prefix}/last"))
        return Loaded(reader, position, rules, {item.id: item for item in found})

    def keep_log(
        self, before: Mapping[str, Item], after: Mapping[str, Item], entries: Iterable[Listed]
    ) -> None:
        """Keep what entries said, with how far the log was read, in one batch."""
        values = self._ledger.values
        with self._ledger.batch():
            for listed in entries:
                if listed.entry.uri == self.game and listed.record is not None:
                    values.set(f"{self._prefix}/roots/{listed.entry.seq:0{DIGITS}}", listed.record)
                values.set(f"{self._prefix}/last", listed.data)
            self._keep(before, after)

    def keep_questions(self, before: Mapping[str, Item], after: Mapping[str, Item], position: int) -> None:
        """Keep the queue, with how far the stream of questions was read, in one batch."""
        with self._ledger.batch():
            self._ledger.positions.set(f"{self._prefix}/questions", position)
            self._keep(before, after)

    def keep(self, before: Mapping[str, Item], after: Mapping[str, Item]) -> None:
        """Keep the queue."""
        with self._ledger.batch():
            self._keep(before, after)

    def keep_ruling(self, taken: Taken, subjects: Subjects) -> None:
        """Keep a ruling as a letter that waits to be sent, and its question as answered, in one batch."""
        with self._ledger.batch():
            self._ledger.outbox.add(subjects.ruling(str(taken.cid)), encode_envelope(taken.envelope), 0)
            if taken.item is not None:
                self._put(taken.item)

    def _keep(self, before: Mapping[str, Item], after: Mapping[str, Item]) -> None:
        for id, item in after.items():
            if before.get(id) != item:
                self._put(item)

    def _put(self, item: Item) -> None:
        self._ledger.values.set(f"{self._prefix}/items/{item.id}", codec.encode(item))
