"""A live node on loopback, with its broker and the real write discipline: rate, latency, memory, catching up.

A node lists signed notes of the toy coin game, folds them and publishes its transcript; this process hands
them in, as fast as they are taken or at a steady rate, and reads the transcript. Then another operator's node
catches up with the log. All of it shares the cores of one machine, this process included.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from live_node import GAME, Pair, Up, notes
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import decode_envelope
from weighbridge_services.broker import NoBrokerBinary
from weighbridge_services.broker.server import binary
from weighbridge_services.wire import Bus, Incoming

SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
BURST = 300 if SMOKE else 30_000
STEADY_RATES = (150,) if SMOKE else (250, 500, 1_000, 1_500)
STEADY_SECONDS = 1 if SMOKE else 10
CATCH_UP = 0 if SMOKE else 100_000
STEP = 0.01
"""Seconds between two handfuls of a steady rate."""
WINDOW = 4_096
"""Records that may be on their way: more would only wait in the inbox."""

Row = tuple[str, float, str, str]


class Watch:
    """What the streams of a node say, and when it came here."""

    def __init__(self, bus: Bus, up: Up) -> None:
        self._bus = bus
        self._subjects = up.node.subjects(GAME)
        self.leaves: list[float] = []
        self.seq_of: dict[Cid, int] = {}
        self._grown = asyncio.Condition()

    def begin(self) -> None:
        """Begin to read the transcript."""
        stream, subject = self._subjects.stream("TRANSCRIPT"), self._subjects.transcript
        self._bus.follow(stream, subject, lambda: 1, self._transcript)

    async def _transcript(self, messages: list[Incoming]) -> None:
        now = time.perf_counter()
        for message in messages:
            value: Any = codec.decode_own(message.data)
            self.leaves += [now] * len(value["leaves"])
        async with self._grown:
            self._grown.notify_all()

    async def until(self, size: int, within: float = 300) -> None:
        """Wait until the transcript has so many leaves."""
        async with asyncio.timeout(within), self._grown:
            await self._grown.wait_for(lambda: len(self.leaves) >= size)

    async def read_log(self) -> None:
        """Learn which record stands where; afterwards, so that it takes nothing from the node while it works."""
        info = await self._bus.js.stream_info(self._subjects.stream("LOG"))
        done = asyncio.Event()

        async def take(messages: list[Incoming]) -> None:
            for message in messages:
                value: Any = codec.decode_own(message.data)
                entry: Any = codec.decode_own(value["entry"])
                if "record" in entry:
                    self.seq_of[entry["record"]] = entry["seq"]
                if entry["seq"] + 1 >= info.state.last_seq:
                    done.set()

        self._bus.follow(self._subjects.stream("LOG"), self._subjects.log, lambda: 1, take)
        await done.wait()


async def hand_in(bus: Bus, up: Up, data: bytes) -> None:
    """Hand a record in, as a client that does not wait for its answer."""
    await bus.nc.publish(up.node.subjects(GAME).submit(str(Cid.of(data))), data)


async def burst(bus: Bus, up: Up, watch: Watch, payloads: Sequence[bytes]) -> float:
    """Hand records in as fast as they are taken; return how many a second came into the transcript."""
    before, begun = len(watch.leaves), time.perf_counter()
    for number, data in enumerate(payloads):
        await hand_in(bus, up, data)
        if number % 256 == 255:
            await bus.nc.flush()
            await watch.until(before + number + 1 - WINDOW)
    await watch.until(before + len(payloads))
    return len(payloads) / (time.perf_counter() - begun)


async def steady(bus: Bus, up: Up, watch: Watch, payloads: Sequence[bytes], rate: int) -> dict[Cid, float]:
    """Hand records in at a steady rate; return when each was."""
    cids = [
        decode_envelope(data).cid for data in payloads
    ]  # before the clock runs: the client is not what is measured
    before, handed, begun = len(watch.leaves), dict[Cid, float](), time.perf_counter()
    for at in range(0, len(payloads), handful := max(1, round(rate * STEP))):
        wait = begun + at / rate - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        for cid, data in zip(cids[at : at + handful], payloads[at : at + handful], strict=True):
            handed[cid] = time.perf_counter()
            await hand_in(bus, up, data)
    await watch.until(before + len(payloads))
    return handed


def share_of(values: Sequence[float], percent: int) -> float:
    """Return the value below which so many percent lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


async def measure(pair: Pair, *options: str) -> list[Row]:
    """Return the figures of a lister, and of a follower that catches up with it; `options`: how it is run."""
    lister = pair.lister
    found: list[Row] = [
        ("a node is ready after", lister.start(*options), "s", "aim: 3; broker, streams and services")
    ]
    bus = Bus.connect(lister.node, "bench")
    await bus.start()
    try:
        watch = Watch(bus, lister)
        watch.begin()
        await watch.until(2)
        found.append(("memory of an idle node", lister.memory(), "MB", "aim: 150; the broker's apart"))
        found += await _rates(bus, lister, watch)
        if CATCH_UP and not options:
            more = notes(CATCH_UP - len(watch.leaves), 10_000_000)
            await burst(bus, lister, watch, more)
            found += await asyncio.to_thread(_catch_up, pair.follower, len(watch.leaves))
    finally:
        await bus.stop()
    return found


async def _rates(bus: Bus, up: Up, watch: Watch) -> list[Row]:
    count, first, steadies = BURST, BURST, list[tuple[int, list[bytes]]]()
    for rate in STEADY_RATES:
        steadies.append((rate, notes(rate * STEADY_SECONDS, first)))
        first += rate * STEADY_SECONDS
    payloads = notes(count)
    await burst(bus, up, watch, notes(count // 10, first))  # what starts at need has started then
    before = {**up.cpu(), "this client": time.process_time()}
    rate = await burst(bus, up, watch, payloads)
    after = {**up.cpu(), "this client": time.process_time()}
    took = ", ".join(
        f"{name} {(after[name] - before[name]) / count * 1e6:.0f} µs of CPU each" for name in after
    )
    found: list[Row] = [("submissions into the transcript", rate, "records/s", f"aim: 3,000; {took}")]
    handed = [(steadily, await steady(bus, up, watch, each, steadily)) for steadily, each in steadies]
    await watch.read_log()
    for steadily, times in handed:
        waits = [(watch.leaves[watch.seq_of[cid]] - time) * 1_000 for cid, time in times.items()]
        for percent in (50, 99):
            note = "aim: p99 of 100 at 1,500/s" if percent == 99 else "from submission to transcript leaf"
            found.append((f"p{percent} at {steadily:,} records/s", share_of(waits, percent), "ms", note))
    return found


def _catch_up(up: Up, size: int) -> list[Row]:
    """Start the follower and wait until it has verified and folded so many entries."""
    up.declare()
    begun, listed, folded = time.perf_counter(), 0.0, 0.0
    up.start()
    try:
        while not folded:
            time.sleep(0.05)
            games = up.service("ingest").get("games", {})
            if not listed and games.get(GAME, {}).get("size", 0) >= size:
                listed = time.perf_counter() - begun
            if listed and up.service("fold").get("folded", 0) >= size:
                folded = time.perf_counter() - begun
        note = f"{size:,} entries, every signature verified again; {up.memory():.0f} MB"
        return [
            ("a follower has verified the log after", listed, "s", note),
            ("a follower has folded the log after", folded, "s", f"{size / folded:,.0f} entries/s"),
        ]
    finally:
        up.stop()


def rows() -> list[Row]:
    """Return the figures; none without the broker's program."""
    try:
        binary()
    except NoBrokerBinary:
        return []
    apart = [(f"{name}, services apart", *rest) for name, *rest in shape("--processes")]
    return [*shape(), *apart]  # type: ignore[list-item]


def shape(*options: str) -> list[Row]:
    """Return the figures of nodes that are run with some options."""
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(Path(folder))
        try:
            return asyncio.run(measure(pair, *options))
        finally:
            pair.lister.stop()


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="\t")
