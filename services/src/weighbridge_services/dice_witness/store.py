"""What the dice witness keeps of one game: how far it has read, what is awaited, and every beacon it vouched for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.ledger import Ledger
from weighbridge.log.entries import Listed

from weighbridge_services.dice_witness.decide import Seen
from weighbridge_services.following import LogReader
from weighbridge_services.following.keeping import Kept


class Store(Kept):
    """One game's part of the ledger. Its methods are for the ledger's own thread."""

    def __init__(self, ledger: Ledger, game: str) -> None:
        super().__init__(ledger, game, "dice")

    def load(self, ruleset: RuleSet) -> tuple[LogReader, Seen]:
        """Return where reading stands, and what the log said up to there."""
        values = self.ledger.values
        awaited = {_number(name): _int(values.get(name)) for name in self.names("awaited")}
        traced = values.get(f"{self.prefix}/traced")
        return self.reader(), Seen(self.rules(ruleset), awaited, None if traced is None else _int(traced))

    def rounds(self) -> list[int]:
        """Return the rounds whose beacons are kept."""
        return [_number(name) for name in self.names("beacon")]

    def keep(self, before: Seen, after: Seen, entries: Sequence[Listed]) -> None:
        """Keep what entries said, with how far reading has come, in one batch."""
        with self.ledger.batch():
            self.keep_awaited(before.awaited, after.awaited)
            if after.traced is not None and after.traced != before.traced:
                self.ledger.values.set(f"{self.prefix}/traced", codec.encode(after.traced))
            self.keep_read(entries)

    def keep_awaited(self, before: Mapping[int, int], after: Mapping[int, int]) -> None:
        """Keep what is awaited now."""
        if before is after:
            return
        values = self.ledger.values
        with self.ledger.batch():
            for number in before.keys() - after.keys():
                values.delete(self.numbered("awaited", number))
            for number in after.keys() - before.keys():
                values.set(self.numbered("awaited", number), codec.encode(after[number]))

    def keep_beacon(self, number: int, subject: str, envelope: bytes) -> None:
        """Keep a verified beacon as a record, and as a letter that waits to be sent, in one batch."""
        with self.ledger.batch():
            self.ledger.values.set(self.numbered("beacon", number), envelope)
            self.ledger.outbox.add(subject, envelope, 0)

    def beacon(self, number: int) -> bytes | None:
        """Return the record of a beacon, if it was kept."""
        return self.ledger.values.get(self.numbered("beacon", number))


def _number(name: str) -> int:
    return int(name.rpartition("/")[2])


def _int(data: bytes | None) -> int:
    found = codec.decode_own(data or b"\0")
    return found if isinstance(found, int) else 0
