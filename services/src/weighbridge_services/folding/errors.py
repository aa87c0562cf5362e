"""What can go wrong about a fold on a node."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused


class NoSuchLeaf(Refused):
    """This node has not folded that, or has no transcript of that origin."""

    code: ClassVar[str] = "no-such-leaf"


class NotFolding(Refused):
    """This node does not fold the game now; `detail["reason"]` is the code of why."""

    code: ClassVar[str] = "not-folding"


class BadQuestion(Refused):
    """What was asked of the fold is not of the form it answers."""

    code: ClassVar[str] = "bad-question"


class RefoldDiffers(Broken):
    """Folding the log again gives other leaves than the ledger holds: memory, disk or rule set has changed."""

    code: ClassVar[str] = "refold-differs"


class LogDiffers(Broken):
    """The node's own log stream and the fold's ledger hold different entries."""

    code: ClassVar[str] = "log-differs"


class OwnLogMalformed(Broken):
    """The node's own log stream holds what its ingest would never have written."""

    code: ClassVar[str] = "own-log-malformed"


class TranscriptDiffers(Broken):
    """The node's own transcript stream holds another transcript than its ledger."""

    code: ClassVar[str] = "transcript-differs"
