"""The thread of a ledger: work in turn, done also when who asked has gone."""

from __future__ import annotations

import asyncio
import threading

import pytest
from weighbridge_services.folding.threads import LedgerThread


def test_work_is_done_in_turn_in_one_thread_and_its_outcome_told() -> None:
    thread, names = LedgerThread("ledger"), list[str]()

    def work(number: int) -> int:
        names.append(threading.current_thread().name)
        if number == 2:
            raise ValueError(number)
        return number

    async def ask() -> list[object]:
        return await asyncio.gather(
            *(thread.run(work, number) for number in range(4)), return_exceptions=True
        )

    found = asyncio.run(ask())
    thread.end()
    assert [each if isinstance(each, int) else str(each) for each in found] == [0, 1, "2", 3]
    assert names == ["ledger"] * 4


def test_what_was_asked_is_done_although_who_asked_was_cancelled() -> None:
    thread, gate, done = LedgerThread("ledger"), threading.Event(), list[int]()

    async def ask() -> None:
        asked = [
            asyncio.create_task(thread.run(lambda n=n: (gate.wait(30), done.append(n)))) for n in range(2)
        ]
        await asyncio.sleep(0)
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert all(each.cancelled() for each in asked)

    asyncio.run(ask())
    gate.set()
    thread.end()  # and the loop that asked is closed by now
    assert done == [0, 1]


def test_a_thread_that_has_ended_takes_no_more_work() -> None:
    thread = LedgerThread("ledger")
    thread.end()
    with pytest.raises(RuntimeError):
        asyncio.run(thread.run(int))
