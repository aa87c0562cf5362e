"""What can go wrong while a log is written or followed."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused, Unavailable


class AnotherLister(Broken):
    """The node's own stream holds a log that its ledger does not: somebody else writes it, or the ledger is old."""

    code: ClassVar[str] = "another-lister"


class CannotRestore(Broken):
    """This node has signed more than its ledger holds, and no follower's log gives the rest."""

    code: ClassVar[str] = "cannot-restore"


class NotTheLister(Broken):
    """The configuration makes this node the lister, and the game's root names another operator."""

    code: ClassVar[str] = "not-the-lister"


class HandoverElsewhere(Broken):
    """What hands the log over is for another node, or does not go on from the log that this one holds."""

    code: ClassVar[str] = "handover-elsewhere"


class ClockOff(Unavailable):
    """The node's clock is off the newest beacon by more than a second: it lists and signs nothing until it is not."""

    code: ClassVar[str] = "clock-off"


class NoRootYet(Unavailable):
    """The log is empty, and only the game's root can be its first record."""

    code: ClassVar[str] = "no-root-yet"


class ListerUnknown(Unavailable):
    """The lister's keys are not known yet: its operator record is one of the first entries of its log."""

    code: ClassVar[str] = "lister-unknown"


class Stopping(Unavailable):
    """The service stops; what it has not taken comes again after the start."""

    code: ClassVar[str] = "stopping"


class TooMuchAwaited(Unavailable):
    """More records wait to be listed than a follower watches at a time; what was handed in comes again."""

    code: ClassVar[str] = "too-much-awaited"


class Flooded(Refused):
    """More records of one author, or of authors without standing, than the root lets a day's log hold."""

    code: ClassVar[str] = "flooded"


class Unreadable(Refused):
    """Bytes that this node fails to read: the fault is ours, and still nothing of it is listed."""

    code: ClassVar[str] = "unreadable"


class BadSource(Refused):
    """A source of records cannot be opened or read; the message names its file and line."""

    code: ClassVar[str] = "bad-source"
