"""Names to addresses: a domain whose names are answered slowly makes nobody else's slow."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter

import pytest
from weighbridge_atproto import names
from weighbridge_atproto.guarded import Guarded, HostUnavailable
from weighbridge_atproto.names import PER_DOMAIN, THREADS, domain_of, system_resolve


class Slow:
    """Looks names up; those under `slow.town` once it is let go."""

    def __init__(self) -> None:
        self.held = threading.Event()
        self.looking: Counter[str] = Counter()

    def __call__(self, host: str, _port: int) -> list[str]:
        self.looking[domain_of(host)] += 1
        if host.endswith("slow.town"):
            assert self.held.wait(60)
            raise OSError("no answer")
        return ["8.8.8.8"]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    look = Slow()
    monkeypatch.setattr(names, "_look_up", look)
    return look


async def until_looking(slow: Slow, count: int) -> None:
    while slow.looking["slow.town"] < count:
        await asyncio.sleep(0)


def test_a_thousand_slow_names_of_one_domain_hold_up_no_other(slow: Slow):
    async def work() -> None:
        asking = [asyncio.create_task(system_resolve(f"n{n}.slow.town", 443)) for n in range(1000)]
        async with asyncio.timeout(60):
            await until_looking(slow, PER_DOMAIN)
            assert await system_resolve("pds.delve.town", 443) == ["8.8.8.8"]
        assert slow.looking["slow.town"] == PER_DOMAIN < THREADS
        slow.held.set()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(each, OSError) for each in answers)

    asyncio.run(work())


def test_whoever_gives_up_leaves_the_thread_its_place(slow: Slow):
    async def work() -> None:
        loop = asyncio.get_running_loop()
        for batch in range(2):
            asking = [asyncio.create_task(system_resolve(f"{n}.slow.town", 1)) for n in range(PER_DOMAIN)]
            if batch == 0:
                await until_looking(slow, PER_DOMAIN)
            for each in asking:
                each.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
        assert slow.looking["slow.town"] == PER_DOMAIN
        slow.held.set()
        with pytest.raises(OSError, match="no answer"):
            await system_resolve("last.slow.town", 1)
        await asyncio.sleep(0)
        # Nothing is remembered of a domain of which nobody asks.
        assert names._names[loop]._slots == {}

    asyncio.run(work())
    gc.collect()


def test_a_stream_s_host_whose_name_is_not_answered_is_left_after_a_time(slow: Slow):
    async def work() -> None:
        client = Guarded(seconds=0.05)
        with pytest.raises(HostUnavailable, match="in time"):
            await client.connect("wss://pds.slow.town/")
        slow.held.set()

    asyncio.run(work())


def test_a_domain_is_what_one_owner_has_any_number_of_names_under():
    assert {domain_of(each) for each in ("a.B.town", "b.town", "x.y.b.Town")} == {"b.town"}
