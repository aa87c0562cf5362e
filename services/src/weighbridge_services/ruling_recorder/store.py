"""What the ruling recorder keeps of one game: the queue, how far it has read, and rulings until they are out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.identity import encode_envelope
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.following import LogReader, Rules
from weighbridge_services.following.keeping import Kept
from weighbridge_services.ruling_recorder.decide import Item, Taken
from weighbridge_services.subjects import Subjects


class Seen(NamedTuple):
    """The rules in force, and the queue by the ids of its questions."""

    rules: Rules = Rules()
    items: Mapping[str, Item] = MappingProxyType({})


class Store(Kept):
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        super().__init__(ledger, game, "desk")

    def load(self, ruleset: RuleSet) -> tuple[LogReader, Seen]:
        """Return where reading the log stands, the rules in force and the queue."""
        values = self.ledger.values
        found = [codec.decode_as(values.get(name) or b"", Item) for name in self.names("items")]
        return self.reader(), Seen(self.rules(ruleset), {item.id: item for item in found})

    def position(self) -> int:
        """Return how far the stream of questions was read."""
        return self.ledger.positions.get(f"{self.prefix}/questions") or 0

    def keep(self, before: Seen, after: Seen, entries: Sequence[Listed]) -> None:
        """Keep what entries said, with how far the log was read, in one batch."""
        with self.ledger.batch():
            self._keep(before.items, after.items)
            self.keep_read(entries)

    def keep_questions(self, before: Mapping[str, Item], after: Mapping[str, Item], position: int) -> None:
        """Keep the queue, with how far the stream of questions was read, in one batch."""
        with self.ledger.batch():
            self.ledger.positions.set(f"{self.prefix}/questions", position)
            self._keep(before, after)

    def keep_items(self, before: Mapping[str, Item], after: Mapping[str, Item]) -> None:
        """Keep the queue."""
        with self.ledger.batch():
            self._keep(before, after)

    def keep_ruling(self, taken: Taken, subjects: Subjects) -> None:
        """Keep a ruling as a letter that waits to be sent, and its question as answered, in one batch."""
        with self.ledger.batch():
            self.ledger.outbox.add(subjects.ruling(str(taken.cid)), encode_envelope(taken.envelope), 0)
            if taken.item is not None:
                self._put(taken.item)

    def _keep(self, before: Mapping[str, Item], after: Mapping[str, Item]) -> None:
        for id, item in after.items():
            if before.get(id) != item:
                self._put(item)

    def _put(self, item: Item) -> None:
        self.ledger.values.set(f"{self.prefix}/items/{item.id}", codec.encode(item))
