"""What beacons and dice cost, beside PyPI's `drand-verify` (Rust) and drand's own npm client, in one run.

A single verification is a decompression with its subgroup check, a hash to the curve, two Miller loops and
one final exponentiation. In a batch the last three are shared: what remains for each beacon is the
decompression, the hash to the curve and its part of two sums of multiples. Were each multiple made by itself,
the limit would be a hash to the curve and two products; buckets get below it, towards a decompression and a hash.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from weighbridge import bls
from weighbridge.beacon import message_of, verify, verify_many
from weighbridge.cid import Cid
from weighbridge.dice import QUICKNET, Stream
from weighbridge.local_chain import LocalChain

try:
    import drand_verify
except ImportError:  # no wheel for this Python
    drand_verify = None

Row = tuple[str, float, str, str]

TESTS = Path(__file__).resolve().parent.parent
VECTORS = TESTS / "vectors" / "drand" / "quicknet_beacons.json"
INTEROP = TESTS / "interop"
SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
TEXTS = [(beacon["round"], beacon["signature"]) for beacon in json.loads(VECTORS.read_text())]
REAL = [(round, bytes.fromhex(signature)) for round, signature in TEXTS]
DAY = 28_800
"""Rounds of quicknet in a day."""
INFO = {
    "public_key": QUICKNET.public_key.hex(),
    "period": 3,
    "genesis_time": QUICKNET.genesis,
    "hash": QUICKNET.hash,
    "schemeID": QUICKNET.scheme,
    "metadata": {"beaconID": "quicknet"},
}


def micros(work: Callable[[], object], count: int) -> float:
    """Return the best of some runs of `work`, in µs for each of the `count` things it does."""
    best = float("inf")
    for _ in range(1 if SMOKE else 7):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best / count * 1e6


def rows() -> list[Row]:
    """Return the figures."""
    count = 8 if SMOKE else 100
    single = micros(lambda: [verify(QUICKNET, *pair) for pair in REAL[:count]], count)
    batch = micros(lambda: verify_many(QUICKNET, REAL[:256]), 256)
    read = micros(lambda: [bls.read_g1(signature) for _, signature in REAL], len(REAL))
    hashed = micros(lambda: [bls.hash_to_g1(message_of(round)) for round, _ in REAL], len(REAL))
    times = rust(count, single, batch) + javascript(count, single, batch)
    shared = batch - read - hashed
    point = bls.hash_to_g1(b"")
    product = micros(lambda: [point.scalar_mul(2**127 + place) for place in range(count)], count)
    limit = hashed + 2 * product
    return [
        ("verify, single", single, "µs", "two pairings and the rest"),
        ("verify_many, 256", batch, "µs a beacon", f"{(read + hashed) / batch:.0%} of it cannot be shared"),
        *times,
        ("decompress and check", read, "µs", "of each beacon"),
        ("hash to curve", hashed, "µs", "of each beacon"),
        ("both sums and the pairings", shared, "µs a beacon", f"plainly it were 2 products of {product:.0f}"),
        (
            "the limit without buckets",
            limit,
            "µs a beacon",
            f"hash and 2 products; 256 take {batch / limit:.0%}",
        ),
        a_day(),
        *dice_rows(),
    ]


def rust(count: int, single: float, batch: float) -> list[Row]:
    """Return the time of drand-verify, and how it compares."""
    if drand_verify is None:
        return [skipped("drand-verify", "it has no wheel for this Python")]
    theirs = micros(lambda: [drand_verify.verify_quicknet(*pair) for pair in TEXTS[:count]], count)
    return [
        ("drand-verify, single", theirs, "µs", "PyPI, Rust"),
        ("single against it", theirs / single, "times as fast", "at least 1.8"),
        ("256 against it", theirs / batch, "times as fast", "at least 6"),
    ]


def javascript(count: int, single: float, batch: float) -> list[Row]:
    """Return the time of drand-client, which npm installs from the interop tests' lock into a folder for now."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return [skipped("drand-client", "node and npm are not installed")]
    if SMOKE:
        return [skipped("drand-client", "a smoke run installs nothing")]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("package.json", "package-lock.json", "bench.mjs"):
            shutil.copy(INTEROP / name, folder)
        (Path(folder) / "info.json").write_text(json.dumps(INFO))
        install = [npm, "ci", "--ignore-scripts", "--no-fund", "--no-audit"]
        try:
            subprocess.run(install, cwd=folder, capture_output=True, check=True, timeout=120)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return [skipped("drand-client", "npm could not install it")]
        command = [node, "bench.mjs", str(VECTORS), "info.json", str(count)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    theirs = float(done.stdout)
    return [
        ("drand-client, single", theirs, "µs", "npm, JavaScript"),
        ("single against it", theirs / single, "times as fast", ""),
        ("256 against it", theirs / batch, "times as fast", ""),
    ]


def skipped(name: str, why: str) -> Row:
    """Return the row of a rival that is not here."""
    return (f"{name}, single", 0.0, "skipped", why)


def a_day() -> Row:
    """Return how long a day of quicknet takes, from a process that has verified nothing yet of it."""
    local, count = LocalChain(b"a seed for the benchmark", 0), 64 if SMOKE else DAY
    beacons = [(round, local.sign(round)) for round in range(1, count + 1)]
    started, busy = time.perf_counter(), time.process_time()
    results = verify_many(local.chain, beacons)
    took, busy = time.perf_counter() - started, time.process_time() - busy
    assert all(isinstance(result, bytes) for result in results)
    return (
        f"{count:,} rounds, cold",
        took,
        "s",
        f"one thread; {busy / count * 1e6:.0f} µs of processor a round",
    )


def dice_rows() -> list[Row]:
    """Return what a die costs."""
    dice = Stream(bytes(32), "at://did:plc:g/g/g", "at://did:plc:a/m/1", Cid.of(b"\xa0"), "ask")
    count = 1_000 if SMOKE else 100_000
    return [
        (f"a die of {sides:,}", micros(lambda sides=sides: dice.roll(count, sides), count), "µs", "")
        for sides in (6, 100, 1_000_003)
    ]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        sys.stdout.write(f"{name:28} {value:10.2f} {unit:14} {note}\n")
