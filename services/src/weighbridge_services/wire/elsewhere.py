"""Reading another operator's stream where it is, message by message: here, or in that operator's own domain.

What is read all the time is mirrored (`streams.mirrored`); this is for what is wanted once in a long while.
"""

from __future__ import annotations

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects
from weighbridge_services.wire.acks import TIMEOUT
from weighbridge_services.wire.bus import Bus
from weighbridge_services.wire.errors import BrokerUnavailable


async def message_of(bus: Bus, node: Node, whom: Subjects, kind: str, number: int) -> bytes | None:
    """Return a message of an operator's stream by its sequence; None where it has none. Raises BrokerUnavailable."""
    stream = whom.stream(kind)
    try:
        found = await bus.while_connected(_jetstream(bus, node, whom).get_msg(stream, number))
    except NotFoundError:
        return None
    except (TimeoutError, APIError, nats.errors.Error, OSError) as error:
        raise _unread(stream, error) from error
    return found.data or b""


async def length_of(bus: Bus, node: Node, whom: Subjects, kind: str) -> int:
    """Return the sequence of an operator's stream's last message; 0 where there is none. Raises BrokerUnavailable."""
    stream = whom.stream(kind)
    try:
        return (await bus.while_connected(_jetstream(bus, node, whom).stream_info(stream))).state.last_seq
    except NotFoundError:
        return 0
    except (TimeoutError, APIError, nats.errors.Error, OSError) as error:
        raise _unread(stream, error) from error


async def last_of(bus: Bus, node: Node, whom: Subjects, kind: str, subject: str) -> bytes | None:
    """Return the last message of a subject (`*` matches) in an operator's stream, or None. Raises BrokerUnavailable."""
    stream = whom.stream(kind)
    try:
        return (
            await bus.while_connected(_jetstream(bus, node, whom).get_last_msg(stream, subject))
        ).data or b""
    except NotFoundError:
        return None
    except (TimeoutError, APIError, nats.errors.Error, OSError) as error:
        raise _unread(stream, error) from error


def _jetstream(bus: Bus, node: Node, whom: Subjects) -> JetStreamContext:
    domain = node.domain_of(whom.operator, whom.game)
    return bus.js if domain is None else bus.nc.jetstream(timeout=TIMEOUT, domain=domain)


def _unread(stream: str, error: Exception) -> BrokerUnavailable:
    return BrokerUnavailable(f"{stream} cannot be read: {error or type(error).__name__}")
