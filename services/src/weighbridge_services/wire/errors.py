"""What can go wrong between a service and the broker."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused, Unavailable


class BrokerUnavailable(Unavailable):
    """The broker cannot be reached or does not answer, or a stream is not declared yet."""

    code: ClassVar[str] = "broker-unavailable"


class BrokerRefused(Broken):
    """The broker refuses the login, or an operation that this node's credentials should allow."""

    code: ClassVar[str] = "broker-refused"


class AnotherWriter(Broken):
    """Somebody else appends to a subject that is this node's alone: two nodes run with one key."""

    code: ClassVar[str] = "another-writer"


class NobodyAnswers(Unavailable):
    """No service answers on a subject: it is not running, or busy beyond the time given."""

    code: ClassVar[str] = "nobody-answers"


class AnswerRefused(Refused):
    """The service that was asked refuses; `detail["refusal"]` is its code."""

    code: ClassVar[str] = "answer-refused"


class Again(Unavailable):
    """Raised by the handler of `Bus.follow`: read the stream again from its start."""

    code: ClassVar[str] = "again"
