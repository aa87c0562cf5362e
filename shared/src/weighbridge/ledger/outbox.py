"""Messages to publish, kept in the batch of what they say: a crash between writing and publishing loses none.

The order a service follows: write entry and message in one batch; publish; mark as sent; acknowledge. A crash
after publishing publishes again, under the same expected sequence, which the stream refuses or finds equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from weighbridge.codec import decode_as, encode
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.database import Database
from weighbridge.ledger.errors import NotInLedger
from weighbridge.ledger.keys import key, number_of, under
from weighbridge.ledger.small_stores import next_number


class Message(msgspec.Struct, frozen=True):
    """A message: its number in the outbox, subject, payload, and the subject's last sequence it must meet.

    `expected` is None where any will do. `sent` is the stream sequence it got, None while it waits.
    """

    number: int
    subject: str
    payload: bytes
    expected: int | None = None
    sent: int | None = None


class _Head(msgspec.Struct, frozen=True, omit_defaults=True):
    subject: str
    expected: int | None = None
    sent: int | None = None


class Outbox:
    """Messages by number, 1, 2, …; those that wait are found without reading the others."""

    def __init__(self, database: Database, kept: Chained) -> None:
        self._db = database
        self._kept = kept

    def add(self, subject: str, payload: bytes, expected: int | None = None) -> int:
        """Keep a message that waits and return its number. Do so in the batch that holds what it says."""
        with self._db.batch():
            number = next_number(self._kept, "outbox")
            self._write(number, _Head(subject, expected))
            self._kept.put(key("outbox-payload", number), payload)
            self._kept.put(key("outbox-waiting", number), b"")
            self._db.probe("message-written")
        return number

    def waiting(self, limit: int | None = None) -> list[Message]:
        """Return the messages that wait, in order, at most `limit`."""
        found = list[Message]()
        for waits in self._kept.keys(under("outbox-waiting")):
            if limit is not None and len(found) >= limit:
                break
            found.append(self.get(number_of(waits[-16:])))
        return found

    def get(self, number: int) -> Message:
        """Return a message (`NotInLedger`)."""
        head = self._head(number)
        payload = self._kept.get(key("outbox-payload", number))
        if payload is None:
            raise self._db.corrupt("kept", f"outbox {number}", "the payload is missing")
        return Message(number, head.subject, payload, head.expected, head.sent)

    def sent(self, number: int, sequence: int) -> None:
        """Note that a message was published and which stream sequence it got (`NotInLedger`)."""
        with self._db.batch():
            self._write(number, msgspec.structs.replace(self._head(number), sent=sequence))
            self._kept.delete(key("outbox-waiting", number))
            self._db.probe("message-sent")

    def all(self, after: int = 0) -> Iterator[Message]:
        """Yield all messages of a number greater than `after`, in order, for a broker that was wiped."""
        for found, _ in self._kept.scan(under("outbox"), key("outbox", after)):
            yield self.get(number_of(found[-16:]))

    def again(self, number: int) -> None:
        """Let a message that was sent wait once more (`NotInLedger`)."""
        with self._db.batch():
            self._write(number, msgspec.structs.replace(self._head(number), sent=None))
            self._kept.put(key("outbox-waiting", number), b"")

    def prune(self, up_to: int) -> int:
        """Delete the messages up to that number that were sent, and return how many went."""
        gone = 0
        with self._db.batch():
            for found in list(self._kept.keys(under("outbox"))):
                number = number_of(found[-16:])
                if number > up_to:
                    break
                if self._head(number).sent is not None:
                    self._kept.delete(found)
                    self._kept.delete(key("outbox-payload", number))
                    gone += 1
        return gone

    def _head(self, number: int) -> _Head:
        value = self._kept.get(key("outbox", number))
        if value is None:
            raise NotInLedger(f"there is no message {number} in the outbox")
        return decode_as(value, _Head)

    def _write(self, number: int, head: _Head) -> None:
        fields: dict[str, Any] = msgspec.to_builtins(head)
        self._kept.put(key("outbox", number), encode(fields))
