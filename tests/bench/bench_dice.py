"""What beacons and dice cost, beside the Rust verifier of the PyPI package `drand-verify`, in one run.

A single verification is a decompression with its subgroup check, a hash to the curve, two Miller loops and
one final exponentiation. In a batch the last three are shared: what remains for each beacon is the
decompression, the hash to the curve and its part of two sums of multiples.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import drand_verify
from weighbridge import bls
from weighbridge.beacon import message_of, verify, verify_many
from weighbridge.cid import Cid
from weighbridge.dice import QUICKNET, Stream

Row = tuple[str, float, str, str]

BEACONS = json.loads((Path(__file__).parent.parent / "vectors/drand/quicknet_beacons.json").read_text())
TEXTS = [(beacon["round"], beacon["signature"]) for beacon in BEACONS]
REAL = [(round, bytes.fromhex(signature)) for round, signature in TEXTS]


def micros(work: Callable[[], object], count: int, repeats: int = 5) -> float:
    """Return the best of some runs of `work`, in µs for each of the `count` things it does."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def rows() -> list[Row]:
    """Return the figures."""
    theirs = micros(lambda: [drand_verify.verify_quicknet(*pair) for pair in TEXTS[:100]], 100)
    single = micros(lambda: [verify(QUICKNET, *pair) for pair in REAL[:100]], 100)
    batch = micros(lambda: verify_many(QUICKNET, REAL[:256]), 256)
    read = micros(lambda: [bls.read_g1(signature) for _, signature in REAL], len(REAL))
    hashed = micros(lambda: [bls.hash_to_g1(message_of(round)) for round, _ in REAL], len(REAL))
    return [
        ("drand-verify, single", theirs, "µs", "PyPI, Rust"),
        ("verify, single", single, "µs", f"{theirs / single:.2f} times as fast"),
        ("verify_many, 256", batch, "µs a beacon", f"{theirs / batch:.2f} times as fast"),
        ("decompress and check", read, "µs", "cannot be shared"),
        ("hash to curve", hashed, "µs", "cannot be shared"),
        (
            "a batch beyond these",
            batch - read - hashed,
            "µs a beacon",
            f"{(read + hashed) / batch:.0%} is the limit",
        ),
        *dice_rows(),
    ]


def dice_rows() -> list[Row]:
    """Return what a die costs."""
    dice = Stream(bytes(32), "at://did:plc:g/g/g", "at://did:plc:a/m/1", Cid.of(b"\xa0"), "ask")
    return [
        (f"a die of {sides}", micros(lambda sides=sides: dice.roll(100_000, sides), 100_000), "µs", "")
        for sides in (6, 100, 1_000_003)
    ]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        sys.stdout.write(f"{name:28} {value:10.2f} {unit:12} {note}\n")
