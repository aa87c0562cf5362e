"""Reading positions, named values and rejected answers: what a service keeps beside its log."""

from __future__ import annotations

from typing import Final

from weighbridge.cid import Cid
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import BadName
from weighbridge.ledger.keys import key, number_of, text_of, under

_MAX: Final = (1 << 63) - 1


class Positions:
    """How far this service has read each of its sources: names to integers from 0."""

    def __init__(self, database: Database, kept: Chained) -> None:
        self._db = database
        self._kept = kept

    def get(self, name: str) -> int | None:
        """Return the position under `name`, or None if nothing was read yet."""
        value = self._kept.get(key("position", name))
        return None if value is None else int.from_bytes(value, "big")

    def set(self, name: str, position: int) -> None:
        """Set a position. Do so in the batch that holds what was read."""
        if not 0 <= position <= _MAX:
            raise BadName(f"position {position} of {name!r} is not from 0 to 2^63 - 1")
        with self._db.batch():
            self._kept.put(key("position", name), position.to_bytes(8, "big"))
            self._db.probe("position-written")

    def names(self) -> list[str]:
        """Return the names of all positions."""
        prefix = under("position")
        return [text_of(found[len(prefix) :]) for found in self._kept.keys(prefix)]


class Values:
    """Bytes under names of the service's own choosing."""

    def __init__(self, database: Database, kept: Chained) -> None:
        self._db = database
        self._kept = kept

    def get(self, name: str) -> bytes | None:
        """Return the value under `name`, or None."""
        return self._kept.get(key("value", name))

    def set(self, name: str, value: bytes) -> None:
        """Set the value under `name`."""
        with self._db.batch():
            self._kept.put(key("value", name), value)
            self._db.probe("value-written")

    def delete(self, name: str) -> bool:
        """Delete the value under `name`; whether there was one."""
        with self._db.batch():
            return self._kept.delete(key("value", name))

    def names(self, beginning: str = "") -> list[str]:
        """Return the names that begin with some text, sorted by their bytes."""
        prefix = under("value")
        exact = prefix + (key(beginning) if beginning else b"")
        return [text_of(found[len(prefix) :]) for found in self._kept.keys(exact)]


class Rejected:
    """The coded answers to submissions that were not listed, by the CID of what was submitted."""

    def __init__(self, database: Database, kept: Chained) -> None:
        self._db = database
        self._kept = kept

    def add(self, submitted: Cid, answer: bytes) -> bool:
        """Keep an answer; whether it is the first to this submission (the first one stays)."""
        where = key("rejected", str(submitted))
        if self._kept.get(where) is not None:
            return False
        with self._db.batch():
            number = next_number(self._kept, "rejected")
            self._kept.put(where, number.to_bytes(8, "big") + answer)
            self._kept.put(key("rejected-order", number), submitted.raw)
            self._db.probe("rejected-written")
        return True

    def get(self, submitted: Cid) -> bytes | None:
        """Return the answer to a submission, or None."""
        value = self._kept.get(key("rejected", str(submitted)))
        return None if value is None else value[8:]

    def prune(self, keep: int) -> int:
        """Delete all but the newest `keep` answers and return how many went."""
        order = list(self._kept.scan(under("rejected-order")))
        gone = order[: max(len(order) - keep, 0)]
        with self._db.batch():
            for where, raw in gone:
                self._kept.delete(key("rejected", str(Cid(raw))))
                self._kept.delete(where)
        return len(gone)

    def all(self) -> list[tuple[Cid, bytes]]:
        """Return (submission, answer) in the order they were added."""
        answers = list[tuple[Cid, bytes]]()
        for where, raw in self._kept.scan(under("rejected-order")):
            answer = self.get(Cid(raw))
            if answer is None:
                raise self._db.corrupt("kept", f"rejected {number_of(where[-16:])}", "the answer is missing")
            answers.append((Cid(raw), answer))
        return answers


def next_number(kept: Chained, what: str) -> int:
    """Return the next number of a sequence whose members may be deleted. Needs an open batch."""
    where = key("counter", what)
    number = int.from_bytes(kept.get(where) or b"\0", "big") + 1
    kept.put(where, number.to_bytes(8, "big"))
    return number
