"""How a service meets the broker: exact bytes in and out, writes that happen once, and reading loops of its own.

JetStream is trusted with delivery, not with truth: whatever is read here is verified by who reads it, and
whatever is published was persisted before.
"""

from __future__ import annotations

from weighbridge_services.wire.bus import SOON, Bus, Stored
from weighbridge_services.wire.crashing import crash_point
from weighbridge_services.wire.errors import (
    Again,
    AnotherWriter,
    AnswerRefused,
    BrokerRefused,
    BrokerUnavailable,
    NobodyAnswers,
)
from weighbridge_services.wire.exact import ExactBytes
from weighbridge_services.wire.pulling import Incoming

__all__ = [
    "SOON",
    "Again",
    "AnotherWriter",
    "AnswerRefused",
    "BrokerRefused",
    "BrokerUnavailable",
    "Bus",
    "ExactBytes",
    "Incoming",
    "NobodyAnswers",
    "Stored",
    "crash_point",
]
