"""What can go wrong with the demo itself."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused


class DemoStuck(Broken):
    """A node of the demo has ended, or nothing has moved for too long."""

    code: ClassVar[str] = "demo-stuck"


class DemoUntrue(Broken):
    """Something that the demo is to show does not hold."""

    code: ClassVar[str] = "demo-untrue"


class NothingToTamper(Broken):
    """The rule set that is installed has no such constant to change: the demo and the plugin are of other versions."""

    code: ClassVar[str] = "nothing-to-tamper"


class DemoFolderInUse(Refused):
    """The folder that the demo is to keep things in holds something already."""

    code: ClassVar[str] = "demo-folder-in-use"
