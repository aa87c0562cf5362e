"""What can go wrong between a trace and a witness's word on it."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Unavailable


class NoTracer(Unavailable):
    """No tracer that is configured opens a trace of this kind."""

    code: ClassVar[str] = "no-tracer"


class TracerFails(Unavailable):
    """A tracer fails in a way of its own, or takes longer than it may."""

    code: ClassVar[str] = "tracer-fails"
