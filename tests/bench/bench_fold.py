"""The fold with the whole transcript: entries per second at two sizes, and strikes that reach far back.

`WEIGHBRIDGE_BENCH_SIZE` is the large size: 200,000 unless it says 1000000, which takes some minutes.
"""

from __future__ import annotations

import os
import time

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


def fold_on(fold: Fold, entries: list[Listed]) -> float:
    """Fold entries in batches as a node does when it catches up, and return the seconds it took."""
    start = time.perf_counter()
    for at in range(0, len(entries), BATCH):
        batch = entries[at : at + BATCH]
        fold.prepare(batch)
        for listed in batch:
            fold.fold(listed)
    return time.perf_counter() - start


def rows() -> list[Row]:
    """Return the figures."""
    season = Season()
    fold = Fold(GAME, RULES, pin="bench")
    chunks: list[tuple[int, float]] = []
    chunk: list[Listed] = []
    for listed in season.entries(LARGE):
        chunk.append(listed)
        if len(chunk) == WINDOW or listed.entry.seq + 1 in (SMALL, LARGE):
            chunks.append((len(chunk), fold_on(fold, chunk)))
            chunk = []
    early = _rate(chunks, 0, SMALL)
    late = _rate(chunks, LARGE - WINDOW, LARGE)
    cells = f"{len(fold.world.cells)} cells"
    found: list[Row] = [
        (
            f"fold, entries 0 to {SMALL}",
            early,
            "entries/s",
            "with transcript, state roots and BLS in batches",
        ),
        (f"fold, entries {LARGE - WINDOW} to {LARGE}", late, "entries/s", cells),
        ("cost per entry, large to small", early / late, "times", "aim: at most 1.3"),
    ]
    for back in (1_000, 100_000):
        if back < LARGE:
            found.append(_strike(season, fold, back))
    return found


def _rate(chunks: list[tuple[int, float]], start: int, end: int) -> float:
    at, entries, seconds = 0, 0, 0.0
    for count, took in chunks:
        if start <= at and at + count <= end:
            entries, seconds = entries + count, seconds + took
        at += count
    return entries / seconds


def _strike(season: Season, fold: Fold, back: int) -> Row:
    listed = season.strike(back)
    start = time.perf_counter()
    step = fold.fold(listed)
    took = time.perf_counter() - start
    return (f"a strike {back:,} entries back", took * 1_000, "ms", f"{len(step.delta)} cells differ")


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")
