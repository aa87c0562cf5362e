"""A ledger that was lost, or is an older copy: the node's own stream still holds what came after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from weighbridge_services.ingest.setting import Setting
from weighbridge_services.wire.elsewhere import length_of, message_of

CHUNK: Final = 256


async def published_beyond(setting: Setting) -> AsyncIterator[list[bytes]]:
    """Yield the messages of the node's own log that its ledger has no entries of, in order, unverified.

    Ends at a message that is missing. Raises BrokerUnavailable.
    """
    own, start = setting.own, setting.store.size
    stop = await length_of(setting.bus, setting.node, own, "LOG")
    while start < stop:
        asked = range(start + 1, min(start + CHUNK, stop) + 1)
        found = await asyncio.gather(
            *(message_of(setting.bus, setting.node, own, "LOG", each) for each in asked)
        )
        messages = [each for each in found if each is not None]
        if len(messages) < len(found):
            return
        yield messages
        start += len(messages)
