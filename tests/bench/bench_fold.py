"""The fold with the whole transcript: entries per second at two sizes, and strikes that reach far back.

`WEIGHBRIDGE_BENCH_SIZE` is the large size: 200,000 unless it says 1000000, which takes some minutes. Rates are
by the process's own CPU time, which says what one core does also where others use it; the note has the wall's.
"""

from __future__ import annotations

import os
import resource
import time
from typing import NamedTuple

from season import GAME, Season
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed
from weighbridge_delvetown import RULES

SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
SMALL = 2_000 if SMOKE else 10_000
LARGE = 4_000 if SMOKE else int(os.environ.get("WEIGHBRIDGE_BENCH_SIZE", "200000"))
WINDOW = 1_000 if SMOKE else 10_000
BATCH = 256

Row = tuple[str, float, str, str]


class Took(NamedTuple):
    """How many entries were folded, and the seconds that took: of this process's CPU, and by the wall."""

    entries: int
    cpu: float
    wall: float


def fold_on(fold: Fold, entries: list[Listed]) -> Took:
    """Fold entries in batches as a node does when it catches up, and return what it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    for at in range(0, len(entries), BATCH):
        batch = entries[at : at + BATCH]
        fold.prepare(batch)
        for listed in batch:
            fold.fold(listed)
    return Took(len(entries), time.process_time() - cpu, time.perf_counter() - wall)


def rows() -> list[Row]:
    """Return the figures."""
    season = Season()
    fold = Fold(GAME, RULES, pin="bench")
    chunks: list[Took] = []
    chunk: list[Listed] = []
    for listed in season.entries(LARGE):
        chunk.append(listed)
        if len(chunk) == WINDOW or listed.entry.seq + 1 in (SMALL, LARGE):
            chunks.append(fold_on(fold, chunk))
            chunk = []
    early, late = _between(chunks, 0, SMALL), _between(chunks, LARGE - WINDOW, LARGE)
    found = [
        _rate(f"fold, entries 0 to {SMALL}", early, "with transcript, state roots and BLS in batches"),
        _rate(f"fold, entries {LARGE - WINDOW} to {LARGE}", late, f"{len(fold.world.cells)} cells"),
        ("cost per entry, large to small", _cost(late) / _cost(early), "times", "aim: at most 1.3"),
        (
            "memory at the end",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024,
            "MB",
            "log included",
        ),
    ]
    for back in (1_000, 100_000):
        if back < LARGE:
            found.append(_strike(season, fold, back))
    return found


def _between(chunks: list[Took], start: int, end: int) -> Took:
    at, found = 0, Took(0, 0.0, 0.0)
    for chunk in chunks:
        if start <= at and at + chunk.entries <= end:
            found = Took(found.entries + chunk.entries, found.cpu + chunk.cpu, found.wall + chunk.wall)
        at += chunk.entries
    return found


def _cost(took: Took) -> float:
    return took.cpu / took.entries


def _rate(name: str, took: Took, note: str) -> Row:
    return name, 1 / _cost(took), "entries/CPU s", f"{note}; {took.entries / took.wall:,.0f} by the wall"


def _strike(season: Season, fold: Fold, back: int) -> Row:
    listed = season.strike(back)
    start = time.process_time()
    step = fold.fold(listed)
    took = time.process_time() - start
    return (f"a strike {back:,} entries back", took * 1_000, "CPU ms", f"{len(step.delta)} cells differ")


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")
