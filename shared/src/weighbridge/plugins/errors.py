"""What can be wrong with a plugin, or keep this node from running the rule set a root names."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken, Refused


class CannotRun(Refused):
    """This node cannot run what a root names. The code is the reason in its CANNOT-RUN statement."""

    code: ClassVar[str] = "cannot-run"


class PluginUnknown(CannotRun):
    """No plugin of that name is installed here, or the configuration does not name it."""

    code: ClassVar[str] = "plugin-unknown"


class PinMismatch(CannotRun):
    """The rule set is here with another pin than the root's."""

    code: ClassVar[str] = "pin-mismatch"


class PluginNameTaken(Broken):
    """Two distributions claim one name of a group."""

    code: ClassVar[str] = "plugin-name-taken"


class PluginBroken(Broken):
    """A plugin cannot be imported, or is not what its group carries."""

    code: ClassVar[str] = "plugin-broken"


class PluginUnpinnable(Broken):
    """What a rule set consists of cannot be hashed: native code, a zip file, a missing module."""

    code: ClassVar[str] = "plugin-unpinnable"
