"""Asking and fetching beside all else: how much of it happens at a time, who holds up whom, and how it ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import cast

import pytest
from weighbridge_atproto.asking import Asking
from weighbridge_atproto.fetching import FETCHES, Fetching
from weighbridge_atproto.guarded import AnswerStatus, Guarded, HostUnavailable
from weighbridge_atproto.keeping import Keeping, Queued
from weighbridge_atproto.resolving import REFRESH, Resolver
from weighbridge_atproto.turns import PER_DOMAIN, TURNS, Turns

PLC = "did:plc:" + "a" * 24


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def got(turns: Turns, *asked: tuple[str, int]) -> set[str]:
    """Whose turn it is of DIDs that were asked for in vain so many times, while nobody gives theirs up."""
    holding: set[str] = set()

    async def holds(did: str, failures: int) -> None:
        async with turns.turn(did, failures):
            holding.add(did)
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(holds(did, failures)) for did, failures in asked]
    await settled()
    found = set(holding)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return found


SLOW = [f"did:web:{n}.slow{n}.town" for n in range(2 * TURNS)]


@pytest.mark.parametrize(
    ("slow", "other"),
    [
        ([(did, 0) for did in SLOW], (PLC, 0)),
        ([(did, 1) for did in SLOW], ("did:web:pds.delve.town", 0)),
        ([(f"did:web:h{n}.slow.town", 0) for n in range(100)], ("did:web:pds.delve.town", 0)),
    ],
    ids=["hosts-and-the-directory", "dark-hosts-and-a-new-one", "many-of-one-domain-and-another"],
)
def test_slow_hosts_hold_up_nobody_but_each_other(slow: list[tuple[str, int]], other: tuple[str, int]):
    found = asyncio.run(got(Turns(), *slow, other))
    assert other[0] in found
    assert len(found) - 1 == (PER_DOMAIN if "slow.town" in slow[0][0] else TURNS)


def test_turns_come_back_and_domains_are_forgotten():
    async def work() -> None:
        turns = Turns()
        for _ in range(2):
            await got(turns, *((did, 0) for did in SLOW))
        async with AsyncExitStack() as stack:
            for n in range(TURNS):
                await stack.enter_async_context(turns.turn(f"did:web:x.town{n}.town", 0))
        assert (turns._domains, +turns._users) == ({}, Counter())

    asyncio.run(work())


def test_no_more_is_asked_at_a_time_than_there_are_turns():
    async def work() -> None:
        keeping, at_once = Keeping(None), Counter[str]()

        async def how(did: str) -> None:
            at_once["now"] += 1
            at_once["most"] = max(at_once["most"], at_once["now"])
            await asyncio.sleep(0)
            at_once["now"] -= 1
            raise AnswerStatus("nobody")

        asks = Asking(
            keeping, Counter(), pause=lambda _: 0.0, released=lambda *_: None, given_up=never, broken=never
        )
        dids = [f"did:plc:{n:a>24}" for n in range(10 * TURNS)]
        keeping.queue([(did, b"frame") for did in dids])
        for number, did in enumerate(dids, 1):
            asks.ask(did, how)
            asks.hold(Queued(number, did, b"frame"))
        while any(map(asks.asks, dids)):
            await asyncio.sleep(0)
        assert at_once["most"] == TURNS
        await asks.stop()
        keeping.close()

    asyncio.run(work())


def never(_: object) -> None:
    raise AssertionError("this is not to happen")


def test_when_whose_keys_were_asked_for_again_is_forgotten_after_a_while():
    async def work() -> None:
        now, keeping = [1000.0], Keeping(None)

        class Gone:
            async def get(self, url: str, most: int) -> bytes:
                raise AnswerStatus("nobody")

        resolver = Resolver(cast("Guarded", Gone()), keeping, clock=lambda: now[0])
        for n in range(5):
            with pytest.raises(Exception, match="has no document"):
                await resolver.again(f"did:plc:{'a' * 23}{'abcde'[n]}")
            now[0] += REFRESH
        assert len(resolver._refreshed) <= 2
        keeping.close()

    asyncio.run(work())


def test_nothing_is_fetched_any_more_once_it_was_stopped():
    async def work() -> None:
        fetched: list[str] = []

        async def fetch(did: str) -> bool:
            fetched.append(did)
            return True

        fetching = Fetching(Counter(), fetch=fetch, needed=lambda _: True, pause=lambda _: 0.0, broken=never)
        fetching.fetch("a")
        # Its task has ended now, and what comes of its end has not been done.
        await asyncio.sleep(0)
        await fetching.stop()
        await settled()
        assert (fetched, fetching._tasks) == (["a"], {})

    asyncio.run(work())


def test_repositories_of_dark_hosts_hold_up_no_other():
    async def work() -> None:
        tried, fetched = Counter[str](), set[str]()

        async def fetch(did: str) -> bool:
            tried[did] += 1
            if did.startswith("dark") and tried[did] == 1:
                raise HostUnavailable("nothing comes")
            if did.startswith("dark"):
                await asyncio.Event().wait()
            fetched.add(did)
            return True

        fetching = Fetching(
            Counter(), fetch=fetch, needed=lambda did: did not in fetched, pause=lambda _: 0.0, broken=never
        )
        for n in range(3 * FETCHES):
            fetching.fetch(f"dark {n}")
        await settled()
        assert sorted(tried.values())[-FETCHES:] == [2] * FETCHES
        fetching.fetch("bright")
        await settled()
        assert fetched == {"bright"}
        await fetching.stop()

    asyncio.run(work())
