"""A busy season of Delvetown: 100 sheets, 100,000 moves of every kind, strikes apart, and how its cost grows.

`WEIGHBRIDGE_BENCH_MOVES` is another number of moves, for a shorter look.
"""

from __future__ import annotations

import os
import time
from random import Random
from typing import Any

from weighbridge.conformance.games import Game
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed
from weighbridge_delvetown import RULES
from weighbridge_delvetown.generate import Season

SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
MOVES = 1_000 if SMOKE else int(os.environ.get("WEIGHBRIDGE_BENCH_MOVES", "100000"))
VOIDS = ("strike", "rule")

Row = tuple[str, float, str, str]


def season() -> Game:
    """Return a season in which nothing is struck: what a void costs is the fold's own benchmark."""
    document: dict[str, Any] = Season(Random(1), players=100, moves=MOVES, density=120).document()
    document["steps"] = [s for s in document["steps"] if s.get("value", {}).get("kind") not in VOIDS]
    return Game(RULES, document)


def rate(fold: Fold, entries: list[Listed]) -> float:
    """Fold entries and return how many a second of the processor's time: what else runs here is not of the season."""
    start = time.process_time()
    for listed in entries:
        fold.fold(listed)
    return len(entries) / (time.process_time() - start)


def rows() -> list[Row]:
    """Return the figures."""
    game = season()
    fold, size = game.fold(), len(game.entries)
    quarters = [game.entries[size * n // 4 : size * (n + 1) // 4] for n in range(4)]
    rates = [rate(fold, quarter) for quarter in quarters]
    start = time.perf_counter()
    RULES.view(fold.table)
    shown = (time.perf_counter() - start) * 1_000
    return [
        ("Delvetown, 100 sheets, first quarter", rates[0], "entries/s", f"of {size} entries, {MOVES} moves"),
        ("Delvetown, 100 sheets, last quarter", rates[3], "entries/s", f"{len(fold.world.cells)} cells"),
        ("cost per entry, last to first quarter", rates[0] / rates[3], "times", "aim: at most 1.3"),
        ("the view of the town", shown, "ms", "all sheets, crews, clocks, places, the last rolls"),
    ]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        print(f"{name:45} {value:12.2f} {unit:10} {note}")
