"""Tasks end when they are to, also those in which a cancellation is lost; what cleans up is let finish."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from weighbridge_services import ending
from weighbridge_services.ending import end_tasks, undisturbed


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AGAIN", 0.01)


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(whole())


def test_a_task_that_loses_cancellations_is_cancelled_until_it_ends() -> None:
    async def work() -> None:
        lost = 0

        async def losing() -> None:
            nonlocal lost
            while lost < 3:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    lost += 1
            await asyncio.Event().wait()

        task = asyncio.create_task(losing())
        await asyncio.sleep(0)
        await end_tasks([task])
        assert task.cancelled()
        assert lost == 3

    run(work)


def test_what_tasks_end_with_is_nobodys_any_more() -> None:
    async def work() -> None:
        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))

        async def failing() -> None:
            raise KeyError("nobody looks")

        async def failing_when_cancelled() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise KeyError("nobody looks")

        tasks = [asyncio.create_task(failing()), asyncio.create_task(failing_when_cancelled())]
        await asyncio.sleep(0)
        await end_tasks(tasks)
        assert all(each.done() for each in tasks)
        del tasks
        await asyncio.sleep(0)
        assert complaints == []
        await end_tasks([])

    run(work)


def test_what_cleans_up_is_not_disturbed_however_often_its_task_is_cancelled() -> None:
    async def work() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def cleaning() -> str:
            begun.set()
            await go_on.wait()
            return "clean"

        async def working() -> str:
            try:
                await asyncio.Event().wait()
            finally:
                said = await undisturbed(cleaning())
            return said

        async def ending_well() -> str:
            try:
                return await working()
            except asyncio.CancelledError:
                return await undisturbed(cleaning())

        for each in (working, ending_well):
            begun.clear()
            go_on.clear()
            task = asyncio.create_task(each())
            await asyncio.sleep(0)
            task.cancel()
            await begun.wait()
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0)
            assert not task.done()
            go_on.set()
            await asyncio.wait([task])
            assert task.cancelled() if each is working else task.result() == "clean"

    run(work)
