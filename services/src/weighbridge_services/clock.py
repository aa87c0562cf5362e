"""The one place where a node reads the time."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """The time of a node, in µs since 1970 UTC."""

    def now(self) -> int:
        """Return the time now."""
        ...

    def advance(self, at: int) -> None:
        """Take note of a time that the log has reached."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Return the time now."""
        return time.time_ns() // 1_000

    def advance(self, at: int) -> None:
        """Ignore the log's time: this clock has its own."""


class RecordedClock:
    """The time of a recorded season: it stands where the log stands, and never goes back."""

    def __init__(self, at: int = 0) -> None:
        self._at = at

    def now(self) -> int:
        """Return the latest time the log has reached."""
        return self._at

    def advance(self, at: int) -> None:
        """Move on to a time that the log has reached."""
        self._at = max(self._at, at)
