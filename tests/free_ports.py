"""Ports for tests that must name one before anybody listens on it."""

from __future__ import annotations

import itertools
import os
import socket

# Below what the system hands out by itself (Linux: from 32768 on): nobody gets one of these by chance
# between the look at it and its use. Suites that run side by side begin at different ones.
FIRST, COUNT = 20_000, 12_000
_numbers = itertools.count(os.getpid() * 37)


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on, and that no later call returns."""
    for number in itertools.islice(_numbers, COUNT):
        port = FIRST + number % COUNT
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")
