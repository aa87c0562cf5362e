"""What is watched beside what comes in: due times, and the clock against the newest beacon."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from weighbridge import codec
from weighbridge.errors import Broken, Refused, Unavailable

from weighbridge_services.ingest.setting import Setting

EVERY: Final = 1.0
"""Seconds between two looks."""
TIMEOUT: Final = 1.0
TOLERANCE: Final = 1_000_000
"""How far (µs) a clock may be off the newest beacon."""


class DueWatch:
    """Asks this node's own fold at which times something falls due."""

    def __init__(self, setting: Setting, tell: Callable[[tuple[int, ...]], None]) -> None:
        self._setting = setting
        self._tell = tell

    async def run(self) -> None:
        """Ask again and again; a fold that does not answer names no time."""
        setting = self._setting
        while True:
            try:
                answer = await setting.bus.ask(setting.own.rpc("status"), codec.encode({}), timeout=TIMEOUT)
                self._tell(dues_in(answer))
            except (Unavailable, Refused):
                pass
            await asyncio.sleep(EVERY)


class ClockWatch:
    """Asks this node's own dice witness for the newest beacon, and compares this node's clock with it.

    A witness that does not answer, or has no beacon, leaves the clock unchecked: health says so.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.checked = False
        self.off: str | None = None
        """The sentence about a clock that is off: while there is one, nothing is listed or signed."""

    async def run(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(EVERY)
            await self.look()

    async def look(self) -> None:
        """Look once."""
        setting = self._setting
        if setting.recorded or not setting.node.config.beacons:
            return
        try:
            answer = await setting.bus.ask(
                setting.own.rpc("newest-beacon"), codec.encode({}), timeout=TIMEOUT
            )
            off = off_in(answer)
        except (Unavailable, Refused, Broken):
            return
        self.checked = True
        self.off = None if off is None or abs(off) <= TOLERANCE else said(off)


def dues_in(answer: bytes) -> tuple[int, ...]:
    """Return the due times (µs) in the fold's status. Raises Refused."""
    value: Any = codec.decode(answer)
    dues = value.get("due") if isinstance(value, dict) else None
    return tuple(sorted(due for due in dues if type(due) is int)) if isinstance(dues, list) else ()


def off_in(answer: bytes) -> int | None:
    """Return by how much (µs) the witness found this clock to be off, None where time is recorded. Raises Refused."""
    value: Any = codec.decode(answer)
    off = value.get("off") if isinstance(value, dict) else None
    return off if type(off) is int else None


def said(off: int) -> str:
    """Return the sentence about a clock that is off."""
    side = "ahead of" if off > 0 else "behind"
    return (
        f"this node's clock is {abs(off) / 1e6:.1f} s {side} the newest beacon; nothing is listed or signed until it is"
        " set right (NTP)"
    )
