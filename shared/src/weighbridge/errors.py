"""Every failure has one of three fates, and its class says which.

*Refused*: the input is wrong; answer with the code and go on. *Unavailable*: ours or the broker's, and
passing; try again later. *Broken*: our own state or installation; stop, loudly. Each concrete class carries
a `code`, which is what goes over the wire, into logs and into metrics: it never changes once released.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Fate = Literal["refused", "unavailable", "broken"]


class WeighbridgeError(Exception):
    """The root of every error of Weighbridge.

    `message` says what, where, why and what to do; `detail` holds what a program would read (paths, sizes).
    """

    code: ClassVar[str] = "error"
    fate: ClassVar[Fate] = "broken"

    def __init__(self, message: str, **detail: object) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Refused(WeighbridgeError):
    """The input is wrong. It is answered with the code, and nothing else is touched."""

    code: ClassVar[str] = "refused"
    fate: ClassVar[Fate] = "refused"


class Unavailable(WeighbridgeError):
    """Something passing: a broker, a disk, a beacon that is not out yet. Worth another try."""

    code: ClassVar[str] = "unavailable"
    fate: ClassVar[Fate] = "unavailable"


class Broken(WeighbridgeError):
    """Our own state or installation is wrong. The process that meets it stops."""

    code: ClassVar[str] = "broken"
    fate: ClassVar[Fate] = "broken"
