"""How long the first message of a batch waits for more."""

from __future__ import annotations

import asyncio

from weighbridge_services.wire.reading import Gather

LONG = 3_600.0


def test_waiting_ends_when_it_is_cut_short_also_where_that_came_before() -> None:
    async def wait() -> None:
        gather = Gather(LONG)
        asyncio.get_running_loop().call_soon(gather.cut)
        await gather.wait()
        gather.cut()
        await gather.wait()
        waiting = asyncio.ensure_future(gather.wait())
        await asyncio.sleep(0)
        assert not waiting.done()  # one cut ends one wait
        waiting.cancel()

    asyncio.run(wait())


def test_nothing_waits_while_somebody_waits_for_it() -> None:
    asyncio.run(Gather(LONG, lambda: True).wait())


def test_waiting_ends_by_itself() -> None:
    asyncio.run(Gather(0.001, lambda: False).wait())
