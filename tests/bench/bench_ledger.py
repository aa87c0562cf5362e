"""What a ledger costs: appending with a sync for each group of entries, opening, and looking back into a log.

Every commit is synced (WAL, synchronous FULL): the figures for small groups are the disk's. An entry brings
its record (260 bytes), its place in the index by uri and its Merkle hashes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from weighbridge.codec import encode
from weighbridge.ledger import Ledger
from weighbridge.log import Listed, make_entry

Row = tuple[str, float, str, str]

ALICE = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{ALICE}/network.weighbridge.game/3kgate"
START = 1_700_000_000_000_000
HELD = 1_000 if os.environ.get("WEIGHBRIDGE_BENCH_SMOKE") else 100_000
GROUPS = ((1, 2_000), (64, 20_000), (1024, 60_000))


def entries(count: int, previous: Listed | None = None) -> Iterator[Listed]:
    """Yield `count` moves after `previous`."""
    start = previous.entry.seq + 1 if previous else 0
    for number in range(start, start + count):
        record = encode({"$type": "network.weighbridge.move", "game": GAME, "n": number, "text": "x" * 130})
        previous = make_entry(
            previous,
            game=GAME,
            at=START + number,
            op="create",
            uri=f"at://{ALICE}/network.weighbridge.move/r{number}",
            author=ALICE,
            record=record,
        )
        yield previous


def appended(folder: Path, group: int, count: int) -> float:
    """Return how many entries a second are appended in groups."""
    made = list(entries(min(count, HELD)))
    with Ledger.open(folder / f"groups-of-{group}") as ledger:
        log = ledger.log(GAME)
        started = time.perf_counter()
        for start in range(0, len(made), group):
            log.extend(made[start : start + group])
        return len(made) / (time.perf_counter() - started)


def filled(path: Path) -> None:
    """Write a log of `HELD` entries."""
    with Ledger.open(path) as ledger:
        log = ledger.log(GAME)
        while log.size < HELD:
            log.extend(entries(min(1000, HELD - log.size), log.last))


def opened(path: Path) -> float:
    """Return how many ms it takes to open a ledger and know its log's size, root and last entry."""
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        with Ledger.open(path) as ledger:
            log = ledger.log(GAME)
            assert (log.size, len(log.root()), log.last is not None) == (HELD, 32, True)
            best = min(best, time.perf_counter() - started)
    return best * 1e3


def looked_back(path: Path) -> list[Row]:
    """Return what looking back into a log costs."""
    places = range(7, HELD, max(HELD // 5_000, 1))
    uris = [f"at://{ALICE}/network.weighbridge.move/r{place}" for place in places]
    rows = list[Row]()
    with Ledger.open(path) as ledger:
        log = ledger.log(GAME)
        for name, work in (
            ("ledger: entry with record by sequence", lambda: [log.listed(place) for place in places]),
            ("ledger: first listing of a uri", lambda: [log.first(uri) for uri in uris]),
            ("ledger: root at a past size", lambda: [log.root(place) for place in places]),
            ("ledger: inclusion proof", lambda: [log.tree.inclusion(place) for place in places]),
        ):
            started = time.perf_counter()
            work()
            rows.append((name, (time.perf_counter() - started) / len(places) * 1e6, "µs", f"of {HELD:,}"))
        started = time.perf_counter()
        sound = ledger.verify().sound
        note = "pages, rows, hashes, chain, root" if sound else "NOT SOUND"
        rows.append(("ledger: verify", HELD / (time.perf_counter() - started), "entries/s", note))
    return rows


def rows() -> list[Row]:
    """Return the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = [
            (f"ledger: append, {group} a commit", appended(folder, group, count), "entries/s", "FULL")
            for group, count in GROUPS
        ]
        held = folder / "held"
        filled(held)
        found.append(("ledger: open, to root and last entry", opened(held), "ms", f"{HELD:,} entries"))
        found.append(("ledger: size on disk", held.stat().st_size / HELD, "bytes/entry", "record 260 bytes"))
        return found + looked_back(held)


if __name__ == "__main__":
    for row_name, value, unit, note in rows():
        print(f"{row_name:45} {value:12,.1f} {unit:12} {note}")
