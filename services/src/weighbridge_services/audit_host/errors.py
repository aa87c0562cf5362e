"""What can go wrong with an audit."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused


class AuditBroken(Broken):
    """A plugin of the group `weighbridge.audits` gives no audit: it needs a name and a method `observe`."""

    code: ClassVar[str] = "audit-broken"


class BadFrame(Refused):
    """What came through the pipe of an audit is not of the form the host and its child speak."""

    code: ClassVar[str] = "bad-frame"
