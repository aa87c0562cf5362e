"""What a lister signs beyond the end of its log, once the log was handed over, is published as its equivocation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.fold.operators import listing_origin
from weighbridge.identity import OperatorRecord, open_note
from weighbridge.log.checkpoint import Checkpoint

from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Bus, Incoming

Accuse = Callable[["Ended", int, str], Awaitable[None]]
"""Publishes, once, that a lister has signed so many entries beyond, with its note."""


class Ended(NamedTuple):
    """A log that was handed over: whose it was (DID), and after how many entries it ended."""

    lister: str
    size: int


def ended(handed: Iterable[Mapping[str, Any]], lister: str | None) -> list[Ended]:
    """Return the logs that have ended, by the fold's `handed`; of who lists again now, none."""
    return [Ended(each["before"], each["size"]) for each in handed if each["before"] not in (None, lister)]


class Beyond:
    """Reads the checkpoints of those whose logs have ended."""

    def __init__(self, bus: Bus, game: str, accuse: Accuse) -> None:
        self._bus = bus
        self._game = game
        self._accuse = accuse
        self._read: set[str] = set()

    def watch(self, logs: Iterable[tuple[Ended, OperatorRecord, Subjects]]) -> None:
        """Read the checkpoints of these, from the first on: one may have been signed before anybody looked."""
        for log, operator, subjects in logs:
            if log.lister not in self._read:
                self._read.add(log.lister)
                stream, subject = subjects.stream("RECORDS"), f"{subjects.prefix}.checkpoint.>"
                self._bus.follow(stream, subject, lambda: 1, self._reader(log, operator))

    def _reader(
        self, log: Ended, operator: OperatorRecord
    ) -> Callable[[Sequence[Incoming]], Awaitable[None]]:
        async def read(messages: Sequence[Incoming]) -> None:
            for message in messages:
                note = signed(message.data, self._game, operator)
                if note is not None and note[0] > log.size:
                    await self._accuse(log, *note)

        return read


def signed(data: bytes, game: str, operator: OperatorRecord) -> tuple[int, str] | None:
    """Return size and note of a listing checkpoint that an operator has signed as a lister; None where it is none."""
    try:
        value: Any = codec.decode(data)
        note = value.get("note") if isinstance(value, dict) else None
        if not isinstance(note, str):
            return None
        opened = open_note(note.encode(), [operator.log])
        return Checkpoint.parse(opened.text, listing_origin(game)).size, note
    except Refused:
        return None
