"""What can go wrong while two nodes are compared."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused, Unavailable


class NotBorneOut(Refused):
    """What another node shows of its transcript is not what it has signed."""

    code: ClassVar[str] = "not-borne-out"


class SelfCheckFailed(Unavailable):
    """The refold in a fresh process did not come to an end; it is tried again."""

    code: ClassVar[str] = "self-check-failed"
