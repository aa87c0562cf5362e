"""The broker's answers to pings, though whoever asked has given up.

nats-py hands a late answer to a future that was cancelled meanwhile, which raises `InvalidStateError` in its reading:
that ends, for good, with a traceback in the log. Flushes and drains ping, and a start that is refused cancels whatever
is under way. A nats-py that is built otherwise is left as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from nats.aio.client import Client

_Pong = asyncio.Future[bool]
_Ping = Callable[[_Pong | None], Awaitable[None]]

_SEAM: Final = "_send_ping"


def keep_pongs(nc: Client) -> None:
    """Have every answer of a connection go to a future that nobody else has, from now on."""
    send: _Ping | None = getattr(nc, _SEAM, None)
    if send is None:
        return
    ping = send

    async def send_ping(asked: _Pong | None = None) -> None:
        heard: _Pong = asyncio.get_running_loop().create_future()
        if asked is not None:
            heard.add_done_callback(lambda _: _tell(asked))
        await ping(heard)

    setattr(nc, _SEAM, send_ping)


def _tell(asked: _Pong) -> None:
    if not asked.done():
        asked.set_result(True)
