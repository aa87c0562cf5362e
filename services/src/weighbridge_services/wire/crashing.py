"""Named places to die at, for tests of what a crash leaves behind."""

from __future__ import annotations

import os

from weighbridge_services.node import Node

VARIABLE = "WEIGHBRIDGE_CRASH_AT"
EXIT = 86


def crash_point(node: Node, name: str) -> None:
    """Die here if the node's configuration allows it and the environment names this place."""
    if node.config.test.crash and os.environ.get(VARIABLE) == name:
        os._exit(EXIT)
