"""Plugins: which are installed, loading those a configuration names, and the pin of a rule set.

With the ledger this is the only part of the kernel that reads files: a pin is over the files of an
installed package.
"""

from __future__ import annotations

from weighbridge.plugins.errors import (
    CannotRun,
    PinMismatch,
    PluginBroken,
    PluginNameTaken,
    PluginUnknown,
    PluginUnpinnable,
)
from weighbridge.plugins.finding import GROUPS, Found, find
from weighbridge.plugins.loading import Listing, Plugins, resolve
from weighbridge.plugins.pins import pin

__all__ = [
    "GROUPS",
    "CannotRun",
    "Found",
    "Listing",
    "PinMismatch",
    "PluginBroken",
    "PluginNameTaken",
    "PluginUnknown",
    "PluginUnpinnable",
    "Plugins",
    "find",
    "pin",
    "resolve",
]
