"""What can go wrong inside a rule set, and what of it is an outcome."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Broken


class RuleBreach(Exception):
    """A rule set broke the contract (wrote a kernel's key, drew dice it did not ask for). It becomes `rule-fault`.

    Not a `WeighbridgeError`: it never leaves the fold. Its text is part of a report, so it is the same on
    every node: it names keys and codes, never objects or addresses.
    """


class FoldStopped(Broken):
    """Something that is not a function of the log (memory, disk, stack) ended a fold: never an outcome."""

    code: ClassVar[str] = "fold-stopped"
