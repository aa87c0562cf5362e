"""Asking this node's own fold which rounds it waits for: where a trace comes before the roll, only a fold can tell."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from weighbridge import codec
from weighbridge.errors import Refused, Unavailable

from weighbridge_services.dice_witness.decide import FoldWaits, may_settle
from weighbridge_services.dice_witness.witness import Witness

OFTEN: Final = 0.5
"""Seconds between two questions while a trace may settle and fix a round."""
SELDOM: Final = 10.0
"""Seconds between two questions otherwise: what the log alone says is mostly all there is."""


class FoldWatch:
    """Asks the fold of one game."""

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    async def run(self) -> None:
        """Ask again and again; a fold that does not answer waits for nothing."""
        while True:
            await asyncio.sleep(OFTEN if may_settle(self._witness.state, self._witness.at) else SELDOM)
            means = self._witness.means
            try:
                answer = await means.bus.ask(means.own.rpc("status"), codec.encode({}))
                await self._witness.await_too(waits_in(answer))
            except (Unavailable, Refused):
                continue


def waits_in(answer: bytes) -> FoldWaits:
    """Return what the fold waits for by its status: `size`, and `pending` [{seq, round?, beacon}]. Raises Refused."""
    value: Any = codec.decode(answer)
    if not isinstance(value, dict) or type(value.get("size")) is not int:
        return FoldWaits(0, {})
    rounds: dict[int, int] = {}
    for each in value.get("pending") or []:
        number, seq = (each.get("round"), each.get("seq")) if isinstance(each, dict) else (None, None)
        if type(number) is int and type(seq) is int and number > 0 and not each.get("beacon"):
            rounds.setdefault(number, seq)
    return FoldWaits(value["size"], rounds)
