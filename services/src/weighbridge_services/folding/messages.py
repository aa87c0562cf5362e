"""Single messages of a stream, by number."""

from __future__ import annotations

import nats.errors

from weighbridge_services.wire import BrokerUnavailable, Bus


async def message_at(bus: Bus, stream: str, number: int) -> bytes:
    """Return a stream's message by its sequence. Raises BrokerUnavailable."""
    try:
        return (await bus.js.get_msg(stream, number)).data or b""
    except (TimeoutError, nats.errors.Error, OSError) as error:
        raise BrokerUnavailable(f"{stream}: message {number} cannot be read: {error}") from error
