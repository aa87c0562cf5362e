"""What of a stream waits in memory, and how fast it may come."""

from __future__ import annotations

import asyncio

from weighbridge_atproto.pacing import Backlog, Pace


class Clock:
    """A clock that stands still but for what is slept."""

    def __init__(self) -> None:
        self.at = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def test_bytes_beyond_what_may_come_at_once_wait_as_long_as_the_pace_says():
    async def work() -> None:
        clock = Clock()
        backlog = Backlog(Pace(100, 1_000), 10_000, clock.now, clock.sleep)
        await backlog.add(900)
        await backlog.add(100)
        assert clock.slept == []
        await backlog.add(50)
        assert clock.slept == [0.5]
        clock.at += 3
        await backlog.add(300)
        assert clock.slept == [0.5]
        clock.at += 1_000_000
        await backlog.add(1_000)
        assert clock.slept == [0.5]
        await backlog.add(1)
        assert clock.slept == [0.5, 0.01]

    asyncio.run(work())


def test_without_a_pace_nothing_waits_for_time():
    async def work() -> None:
        clock = Clock()
        backlog = Backlog(None, 10**9, clock.now, clock.sleep)
        for _ in range(1_000):
            await backlog.add(100_000)
        assert clock.slept == []

    asyncio.run(work())


def test_no_more_waits_than_may_but_for_one_that_is_larger_by_itself():
    async def work() -> None:
        backlog = Backlog(None, 100)
        await backlog.add(500)
        more = asyncio.create_task(backlog.add(60))
        await asyncio.sleep(0)
        assert (more.done(), backlog.waiting) == (False, 500)
        backlog.remove(450)
        await asyncio.sleep(0)
        assert (more.done(), backlog.waiting) == (False, 50)
        backlog.remove(50)
        await more
        assert backlog.waiting == 60

    asyncio.run(work())
