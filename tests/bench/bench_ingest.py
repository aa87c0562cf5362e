"""What listing costs: deciding alone, and from submission to answer with the real write discipline on loopback.

The lister runs in a process of its own, as `weighbridge run ingest`; broker and players are beside it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), *(str(HERE.parent / each) for each in ("toys", "network", "unit/services"))]

import coin  # noqa: E402
from ingest_facts import note as fact_note  # noqa: E402
from ingest_facts import opened, opened_book  # noqa: E402
from ingest_games import GAME, Table, coin_on_path, data_of, flip, player  # noqa: E402
from nodes import World  # noqa: E402
from weighbridge import codec  # noqa: E402
from weighbridge.cid import Cid  # noqa: E402
from weighbridge_services.ingest.arrivals import ANSWER  # noqa: E402
from weighbridge_services.ingest.decide import decide  # noqa: E402

Row = tuple[str, float, str, str]
SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
RECORDS = 200 if SMOKE else 20_000
PACED = 100 if SMOKE else 6_000
PACE = 200 if SMOKE else 1_500
FLOODS = {"author": 1_000_000, "strangers": 1_000_000}


def rows() -> list[Row]:
    """Return (name, value, unit, note) of each figure."""
    return [deciding(), *asyncio.run(listing())]


def deciding() -> Row:
    """Measure the decision alone."""
    book = opened_book(floods=FLOODS)
    batch = [opened(fact_note(player(n % 40 + 1), f"n{n}")) for n in range(1_000)]
    facts = book.now_known()
    best = min(_timed(lambda: decide(coin.RULES, facts, batch, facts.last.entry.at)) for _ in range(3))  # type: ignore[union-attr]
    return "ingest: decide", best / len(batch) * 1e6, "µs/record", "chain, floods, dice; no I/O"


def _timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


async def listing() -> list[Row]:
    """Measure a lister in a process of its own: as fast as it goes, then at a pace."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(folder / "nodes")
        (folder / "nodes").mkdir()
        table = Table(world)
        await table.lay(followers=0, floods=FLOODS)
        config = table.lister.folder / "weighbridge.toml"
        config.write_text(config.read_text() + '\n[plugins]\nrulesets = ["coin"]\n')
        env = {**os.environ, "PYTHONPATH": str(coin_on_path(folder / "site"))}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "weighbridge_services", "run", "ingest", "--node", str(table.lister.folder),
            env=env, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await _handed_in(table, 200, None)  # the helper for signatures starts, caches fill
            resident = _resident(process.pid)
            before = _cpu(process.pid)
            rate, _ = await _handed_in(table, RECORDS, None)
            cpu = (_cpu(process.pid) - before) / RECORDS * 1e6
            _, delays = await _handed_in(table, PACED, PACE)
        finally:
            process.send_signal(signal.SIGTERM)
            await process.wait()
            await world.stop()
    return [
        (
            "ingest: listed and answered",
            rate,
            "records/s",
            "every record may roll; one lister process, 512 a batch",
        ),
        (
            "ingest: CPU of the lister",
            cpu,
            "µs/record",
            "without the helper that verifies signatures, and the broker",
        ),
        (f"ingest: p50 at {PACE}/s", delays[len(delays) // 2] * 1e3, "ms", "submission to signed answer"),
        (
            f"ingest: p99 at {PACE}/s",
            delays[len(delays) * 99 // 100] * 1e3,
            "ms",
            "submission to signed answer",
        ),
        ("ingest: resident", resident, "MB", "the lister process after 200 records, its helper apart"),
    ]


_made = 0


async def _handed_in(table: Table, count: int, pace: int | None) -> tuple[float, list[float]]:
    """Hand in records, at a pace or all at once; return answers per second and each one's delay (s), sorted."""
    global _made  # noqa: PLW0603 - record keys are never used twice
    envelopes = [data_of(flip(player(n % 40 + 1), f"r{_made + n}")) for n in range(count)]
    _made += count
    bus, subjects = table.bus(), table.lister.subjects(GAME)
    sent: dict[str, float] = {}
    delays: list[float] = []
    done = asyncio.Event()
    inbox = bus.nc.new_inbox()

    async def take(message: Any) -> None:
        answer: Any = codec.decode(message.data)
        assert "listed" in answer, answer
        delays.append(time.perf_counter() - sent[message.subject])
        if len(delays) == count:
            done.set()

    subscription = await bus.nc.subscribe(f"{inbox}.*", cb=take)
    started = time.perf_counter()
    for number, data in enumerate(envelopes):
        if pace is not None:
            await asyncio.sleep(max(0.0, started + number / pace - time.perf_counter()))
        answer_to = f"{inbox}.{number}"
        sent[answer_to] = time.perf_counter()
        await bus.nc.publish(subjects.submit(str(Cid.of(data))), data, headers={ANSWER: answer_to})
    await asyncio.wait_for(done.wait(), 300)
    took = time.perf_counter() - started
    await subscription.unsubscribe()
    return count / took, sorted(delays)


def _cpu(pid: int) -> float:
    """Return the seconds of processor time that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    for name, value, unit, remark in rows():
        print(f"{name:32} {value:12.2f} {unit:10} {remark}")
