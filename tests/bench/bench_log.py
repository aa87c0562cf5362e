"""What a log costs: appending to it, proofs from it, and walking all of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from weighbridge.codec import encode
from weighbridge.log import (
    CompactRange,
    Listed,
    MerkleLog,
    decode_entry,
    make_entry,
    verify_consistency,
    verify_inclusion,
    verify_log,
)

Row = tuple[str, float, str, str]
SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
LEAVES = 10_000 if SMOKE else 1_000_000
ENTRIES = 200 if SMOKE else 10_000
GM = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{GM}/network.weighbridge.root/self"


def micros(work: Callable[[], object], count: int, repeats: int = 3) -> float:
    """Return the best of some runs of `work`, in µs for each of the `count` things it does."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def grown(log: MerkleLog | CompactRange, leaves: list[bytes]) -> MerkleLog | CompactRange:
    """Return the log with these leaves appended."""
    for leaf in leaves:
        log.append(leaf)
    return log


def a_game(size: int) -> list[Listed]:
    """Return a log of records of about 200 bytes."""
    listed: list[Listed] = []
    for number in range(size):
        record = encode({"$type": "town.delve.move", "game": GAME, "text": "north" * 20, "n": number})
        listed.append(
            make_entry(
                listed[-1] if listed else None,
                game=GAME,
                at=1_700_000_000_000_000 + number,
                op="create",
                uri=f"at://{GM}/town.delve.move/{number}",
                author=GM,
                record=record,
                prov={"rev": "3n3hsjig7le2a"},
            )
        )
    return listed


def proof_rows(log: MerkleLog) -> list[Row]:
    """Return what proofs cost."""
    places = range(0, log.size, max(log.size // 1_000, 1))
    leaf, root = log.leaf(5), log.root()
    inclusion, consistency = log.inclusion(5), log.consistency(log.size // 3)
    old = log.root(log.size // 3)
    note = f"{log.size:,} leaves"
    return [
        ("root of a past size", micros(lambda: [log.root(at) for at in places], len(places)), "µs", note),
        (
            "make an inclusion proof",
            micros(lambda: [log.inclusion(at) for at in places], len(places)),
            "µs",
            note,
        ),
        (
            "verify an inclusion proof",
            micros(lambda: [verify_inclusion(leaf, 5, log.size, inclusion, root) for _ in range(500)], 500),
            "µs",
            note,
        ),
        (
            "verify a consistency proof",
            micros(
                lambda: [
                    verify_consistency(log.size // 3, log.size, consistency, old, root) for _ in range(500)
                ],
                500,
            ),
            "µs",
            note,
        ),
    ]


def rows() -> list[Row]:
    """Return the figures."""
    leaves = [b"%d" % number * 40 for number in range(1_000)] * (LEAVES // 1_000)
    log = MerkleLog()
    grown(log, leaves)
    row = log.leaf_hashes()
    game = a_game(ENTRIES)
    pairs = [(listed.data, listed.record) for listed in game]
    whole = MerkleLog()
    grown(whole, [listed.data for listed in game])
    note = f"{LEAVES:,} leaves"
    return [
        ("MerkleLog.append", micros(lambda: grown(MerkleLog(), leaves), LEAVES), "µs", f"{note}; target 2.5"),
        ("CompactRange.append", micros(lambda: grown(CompactRange(), leaves), LEAVES), "µs", note),
        ("MerkleLog.restore", micros(lambda: MerkleLog.restore(row), LEAVES), "µs a leaf", note),
        *proof_rows(log),
        ("decode_entry", micros(lambda: [decode_entry(data) for data, _ in pairs], ENTRIES), "µs", ""),
        (
            "verify_log",
            micros(lambda: verify_log(pairs, GAME, size=whole.size, root=whole.root()), ENTRIES),
            "µs an entry",
            "entry decoded, chained and hashed, record hashed",
        ),
    ]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        sys.stdout.write(f"{name:30} {value:10.2f} {unit:12} {note}\n")
