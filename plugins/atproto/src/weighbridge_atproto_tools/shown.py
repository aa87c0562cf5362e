"""How a search for players is shown to a person: how far it is while one waits, and a table of who was found."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final

from weighbridge_atproto.players import NO_RECORDS, Player, Progress
from weighbridge_services.for_plugins import clean

FAILING: Final = 20
"""Accounts that could not be looked into and are shown one by one."""
SECONDS: Final = 2.0
"""Between two lines where nobody watches a terminal."""


class Waiting:
    """One line on a terminal that is written over; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._width = 0
        self._said = ""
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show how far it is."""
        text = clean(
            f"{progress.doing}: {progress.named} named, {progress.looked} looked into, {progress.playing} play"
        )
        if self._live:
            # One that goes over the edge is not written over by the next.
            text = text[: shutil.get_terminal_size().columns - 1]
            print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)
        elif progress.doing != self._said or monotonic() >= self._next:
            print(f"weighbridge: {text}", file=sys.stderr, flush=True)
            self._said, self._next = progress.doing, monotonic() + SECONDS

    def done(self) -> None:
        """End the line."""
        if self._live and self._width:
            print(file=sys.stderr)


def rows(players: Sequence[Player]) -> list[dict[str, Any]]:
    """Return who was found as JSON; of those that hold no record of the game only how many there are."""
    return [each._asdict() for each in players if each.state != NO_RECORDS]


def table(players: Sequence[Player]) -> list[str]:
    """Return the lines of the table: who plays, then what could not be looked into, then how many others there were."""
    playing = [each for each in players if each.plays]
    failing = [each for each in players if not each.plays and each.state != NO_RECORDS]
    shown = [*playing, *failing[:FAILING]]
    lines = [("account", "handle", "host", "records", "state"), *(_cells(each) for each in shown)]
    widths = [max(len(line[n]) for line in lines) for n in range(5)]
    found = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    others = len(players) - len(playing) - len(failing)
    if len(failing) > FAILING:
        found.append(f"{len(failing) - FAILING} more that were named could not be looked into")
    if others:
        found.append(f"{others} more that were named hold no record of this game")
    return [clean(line) for line in found]


def _cells(player: Player) -> tuple[str, str, str, str, str]:
    handle = "" if player.handle is None else player.handle + ("" if player.verified else " (not verified)")
    host = (player.host or "").partition("://")[2]
    return player.did, handle, host, str(player.records or ""), player.state
