"""The short way of a message: from the connection to the pull request that asked for it.

Every service of a node reads the whole log, so that receiving one message is paid for several times a record.
nats-py takes it through a queue, a task and an object of headers for each subscription; a pull request has a
queue of its own and bounds what is on its way, and needs none of that. A nats-py that is built otherwise
takes its own way: `Shortcut.of` then returns None.

What strangers send passes here too. nats-py reads no more, for good, once it has met a subject that is no UTF-8,
and whoever asks names where the answer is sent with this node's own rights.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

Take = Callable[[Msg], None]
_Process = Callable[[int, bytes, bytes, bytes, bytes], Awaitable[None]]

OURS: Final = b"\nWeighbridge-"
"""How the headers begin that senders give a message."""
NO_INBOXES: Final = (b"wb.", b"$")
"""How subjects begin at which nobody waits for an answer: streams take what comes there, or the broker obeys it."""
_SEAM: Final = "_process_msg"
_STATUS_AT: Final = slice(9, 12)
"""Where the status stands in a head like `NATS/1.0 408 Request Timeout`."""

log = structlog.get_logger()


class Shortcut:
    """What one connection hands over at once, by the number of the subscription."""

    def __init__(self, nc: Client, process: _Process) -> None:
        self._nc = nc
        self._process = process
        self._takers: dict[int, Take] = {}

    @classmethod
    def of(cls, nc: Client) -> Shortcut | None:
        """Return the shortcut of a connection, laid now; None where nats-py has no place for it."""
        process = getattr(nc, _SEAM, None)
        if process is None:
            return None
        made = cls(nc, process)
        setattr(nc, _SEAM, made._arrived)
        return made

    def lead(self, subscription: Subscription, take: Take) -> None:
        """Hand over what a subscription brings from now on."""
        number = getattr(subscription, "_id", None)
        if type(number) is int:
            self._takers[number] = take

    def end(self, subscription: Subscription) -> None:
        """Hand over no more."""
        self._takers.pop(getattr(subscription, "_id", -1), None)

    async def _arrived(self, sid: int, subject: bytes, reply: bytes, data: bytes, head: bytes) -> None:
        take = self._takers.get(sid)
        if take is None:
            await self._let_in(sid, subject, reply, data, head)
        else:
            # The broker's own headers, which each message of a batch has, are nobody's to read.
            told = bool(head) and (not data or OURS in head)
            named, answer_to = subject.decode(errors="replace"), reply.decode(errors="replace")
            take(Msg(self._nc, named, answer_to, data, headers_in(head) if told else None))

    async def _let_in(self, sid: int, subject: bytes, reply: bytes, data: bytes, head: bytes) -> None:
        if reply.startswith(NO_INBOXES):
            log.info("a question that wants its answer where nobody listens", subject=subject, reply=reply)
            return
        try:
            await self._process(sid, subject, reply, data, head)
        except ValueError as error:  # text that is no UTF-8
            log.info("a message that cannot be read", subject=subject, error=str(error))


def headers_in(head: bytes) -> dict[str, str]:
    """Return the headers of a message; of one with a status that and its `Description` as well."""
    first, *lines = head.decode(errors="replace").split("\r\n")
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip()] = value.strip()
    if len(first) >= _STATUS_AT.stop:
        found["Status"] = first[_STATUS_AT]
        found["Description"] = first[_STATUS_AT.stop :].strip()
    return found


def sequences(message: Any) -> tuple[int, int]:
    """Return a message's sequence in its stream, and the consumer's own; as `metadata` gives them, and cheap."""
    tokens = message.reply.split(".")
    at = 5 if len(tokens) == 9 else 7
    return int(tokens[at]), int(tokens[at + 1])
