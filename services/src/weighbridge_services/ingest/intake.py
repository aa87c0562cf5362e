"""What the lister reads from the bus: submissions from every inbox, and the evidence that operators publish."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from weighbridge import codec
from weighbridge.dice import round_time
from weighbridge.errors import Refused, Unavailable

from weighbridge_services.ingest.arrivals import ANSWER, Arrival
from weighbridge_services.ingest.errors import Stopping
from weighbridge_services.ingest.lister import Lister
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire import Incoming
from weighbridge_services.wire.reading import Handle

EVIDENCE: Final = ("trace", "ruling", "checkpoint")
"""Kinds of records that are listed as they come; beacons may have to wait for their time."""
BATCH: Final = 512
_INBOX: Final = re.compile(r"_INBOX(\.[^\s.*>]+)+")
ACK_WAIT: Final = 3
"""Seconds after which what a killed lister had in its hands comes again. Too soon is harmless: it is listed once."""
AHEAD: Final = 2
"""Batches of submissions at a time: one is written while the next is verified."""


class Intake:
    """The readers of one game's lister."""

    def __init__(self, lister: Lister) -> None:
        self._lister = lister
        self._setting = lister.setting

    def start(self) -> None:
        """Begin reading, from this node and from every peer."""
        setting = self._setting
        for did in (setting.node.did, *setting.peers):
            subjects = setting.node.subjects(setting.uri, did)
            inbox = Inbox(self._lister, did)
            setting.bus.read(
                subjects.stream("INBOX"), f"{subjects.prefix}.submit.>", f"ingest-{setting.own.operator}-submit",
                inbox.take, batch=BATCH, ahead=AHEAD, ack_wait=ACK_WAIT,
            )  # fmt: skip
            records = Records(self._lister, did)
            for kind in EVIDENCE:
                self._read(subjects, kind, records.take)
            self._read(subjects, "beacon", Beacons(self._lister, did).take)

    def _read(self, subjects: Subjects, kind: str, handle: Handle) -> None:
        durable = f"ingest-{self._setting.own.operator}-{kind}"
        self._setting.bus.read(
            subjects.stream("RECORDS"), f"{subjects.prefix}.{kind}.>", durable, handle, ack_wait=ACK_WAIT
        )


class Inbox:
    """Submissions at one operator's node."""

    def __init__(self, lister: Lister, did: str) -> None:
        self._lister = lister
        self._did = did

    async def take(self, messages: Sequence[Incoming]) -> None:
        """List submissions and answer them. Raises Unavailable: they come again."""
        arrivals = [Arrival(m.data, self._did, answer_subject(m)) for m in messages]
        try:
            await self._lister.hand_in(arrivals)
        except Unavailable as error:
            await self._lister.answering.tell_later([each for each in arrivals if not settled(each)], error)
            raise


class Records:
    """Evidence of one operator: trace reports, rulings, receipts."""

    def __init__(self, lister: Lister, did: str) -> None:
        self._lister = lister
        self._did = did

    async def take(self, messages: Sequence[Incoming]) -> None:
        """List evidence."""
        arrivals = [
            Arrival(data, self._did, comes_once=True)
            for m in messages
            if (data := envelope_in(m.data)) is not None
        ]
        if arrivals:
            await self._lister.hand_in(arrivals)


class Beacons:
    """Beacons of one operator. In a recorded season one is listed when the log's time has come to its round."""

    def __init__(self, lister: Lister, did: str) -> None:
        self._lister = lister
        self._did = did

    async def take(self, messages: Sequence[Incoming]) -> None:
        """List beacons."""
        waiting = sorted((number_in(m.subject), m.data) for m in messages)
        while waiting:
            due = [data for number, data in waiting if self._is_out(number)]
            waiting = [each for each in waiting if not self._is_out(each[0])]
            if due:
                await self._lister.hand_in([Arrival(data, self._did) for data in due])
            elif self._lister.stopping or self._lister.setting.bus.stopping:
                raise Stopping("the service stops")
            else:
                await self._lister.wait(0.5)

    def _is_out(self, number: int) -> bool:
        setting = self._lister.setting
        first = self._lister.facts.rules.first
        if not setting.recorded or first is None:
            return True
        return setting.clock.now() >= round_time(first.chain, number) * 1_000_000


def answer_subject(message: Incoming) -> str | None:
    """Return where the sender of a submission waits for the answer; None where nobody can wait.

    The answer is sent with this node's own rights: a sender who named its log would have it written there.
    """
    wanted = (message.headers or {}).get(ANSWER, "")
    return wanted if _INBOX.fullmatch(wanted) else None


def settled(arrival: Arrival) -> bool:
    """Whether something has become of an arrival."""
    return arrival.done.done() and arrival.done.exception() is None


def number_in(subject: str) -> int:
    """Return the number that a subject ends in, 0 if it ends otherwise."""
    last = subject.rpartition(".")[2]
    return int(last) if last.isascii() and last.isdigit() else 0


def envelope_in(data: bytes) -> bytes | None:
    """Return the envelope of a message: itself, or the receipt in a follower's checkpoint (None: a lister's)."""
    if b"checkpoint" not in data and b"envelope" not in data and b"note" not in data:
        return data
    try:
        value: Any = codec.decode(data)
    except Refused:
        return data
    if isinstance(value, dict) and "sig" not in value:
        inner = value.get("envelope")
        return inner if isinstance(inner, bytes) else (None if "note" in value else data)
    return data
