"""A sign of life from a lister whose log stands still: a quiet game, or a lister that is away?"""

from __future__ import annotations

from typing import Any, Final

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.log.checkpoint import Checkpoint

from weighbridge_services.ingest.arrivals import ANSWER
from weighbridge_services.ingest.setting import Setting

EVERY: Final = 1.0
"""Seconds between two questions at least."""


class Probe:
    """Hands in this node's operator record, which is listed already: a lister that is there answers with its place
    and with a checkpoint of the log as it is, and lists nothing for it.
    """

    def __init__(self, setting: Setting, own_record: bytes) -> None:
        self._setting = setting
        self._record = own_record
        self._inbox: str | None = None
        self._asked: int | None = None
        self._answered = (0, 0)

    def known_until(self, size: int) -> int:
        """Return the time (µs) at which the lister was last asked and its log had no more than `size` entries."""
        at, held = self._answered
        return at if held <= size else 0

    async def ask(self) -> None:
        """Ask; the answer comes by itself or not at all. Raises BrokerUnavailable."""
        setting = self._setting
        if self._inbox is None:
            self._inbox = await setting.bus.listen(self._take)
        self._asked = setting.clock.now()
        subject = setting.own.submit(str(Cid.of(self._record)))
        await setting.bus.put(subject, self._record, {ANSWER: self._inbox})

    def _take(self, data: bytes) -> None:
        size = answered_size(data)
        # What it lists after the question may not be in the answer: the log is known up to the question only.
        if size is not None and self._asked is not None:
            self._answered = (self._asked, size)
            self._asked = None


def answered_size(data: bytes) -> int | None:
    """Return the size of the log that an answer names, if it is that of a listed record."""
    try:
        value: Any = codec.decode(data)
        receipt = value.get("receipt") if isinstance(value, dict) else None
        if not isinstance(receipt, str):
            return None
        return Checkpoint.parse(receipt.split("\n\n", 1)[0] + "\n").size
    except Refused:
        return None
