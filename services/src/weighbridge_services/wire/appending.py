"""Appending behind one another, when some of it is there already or the broker has not taken all."""

from __future__ import annotations

from collections.abc import Sequence

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from weighbridge_services.wire.acks import Acks, unanswered
from weighbridge_services.wire.errors import AnotherWriter


async def append_all(
    acks: Acks, js: JetStreamContext, subject: str, batch: Sequence[bytes], last: int
) -> int:
    """Append what of a batch is not in the stream behind `last`; return the last one's sequence.

    Raises AnotherWriter, BrokerUnavailable or BrokerRefused.
    """
    while batch:
        try:
            return await acks.send_batch(subject, batch, last)
        except AnotherWriter:
            written = await _already(js, subject, batch, last)
            if not written and len(batch) == 1:
                raise
        batch, last = batch[len(written) :], (written or [last])[-1]
        if batch:
            # A refused message takes all behind it along, and only the last is answered. Alone, the first that is
            # missing is told whether somebody else's is in its place, or the broker has no room for it.
            last = await acks.send_batch(subject, batch[:1], last)
            batch = batch[1:]
    return last


async def _already(js: JetStreamContext, subject: str, payloads: Sequence[bytes], last: int) -> list[int]:
    """Return the sequences of those payloads, from the first on, that follow `last` in the stream."""
    found: list[int] = []
    try:
        stream = await js.find_stream_name_by_subject(subject)
        for data in payloads:
            message = await js.get_msg(stream, (found or [last])[-1] + 1, subject, next=True)
            if message.data != data:
                return []
            found.append(int(message.seq or 0))
    except NotFoundError:
        return found
    except (nats.errors.Error, OSError) as error:
        raise unanswered(subject, error) from error
    return found
