"""What comes in: where it came from, who waits for an answer, and how it is verified off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from weighbridge.beacon import verify
from weighbridge.chain import Chain
from weighbridge.errors import Refused
from weighbridge.fold.records import BEACON

from weighbridge_services.ingest.decide import Answer, Handed, round_in
from weighbridge_services.ingest.opening import Opened, Refusal, open_record

ANSWER: Final = "Weighbridge-Answer"
"""Header of a submission: the subject at which its sender waits for the answer."""
SHARE: Final = 64
"""Envelopes that one turn of a verifying thread takes."""


class Arrival:
    """One thing handed in: its bytes, where from (a DID or a source's name), and who waits for what becomes of it.

    `done` ends once it is in ledger and log, and, where somebody waits at `answer_to`, is answered.
    """

    __slots__ = ("answer_to", "at", "data", "done", "handed", "origin")

    def __init__(self, data: bytes, origin: str, answer_to: str | None = None, at: int | None = None) -> None:
        self.data = data
        self.origin = origin
        self.answer_to = answer_to
        self.at = at
        self.handed: Handed | None = None
        self.done: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.done.add_done_callback(_seen)


def _seen(done: asyncio.Future[Answer]) -> None:
    if not done.cancelled():
        done.exception()  # whoever handed it in may be gone


async def open_all(
    pool: ThreadPoolExecutor, arrivals: Sequence[Arrival], game: str, chain: Chain | None
) -> None:
    """Verify what came in, in threads: OpenSSL lets go of the interpreter while it computes."""
    loop = asyncio.get_running_loop()
    shares = [arrivals[start : start + SHARE] for start in range(0, len(arrivals), SHARE)]
    await asyncio.gather(*(loop.run_in_executor(pool, _open_share, share, game, chain) for share in shares))


def _open_share(arrivals: Sequence[Arrival], game: str, chain: Chain | None) -> None:
    for each in arrivals:
        opened = open_record(each.data, game)
        each.handed = Handed(opened, each.at, is_sound_beacon(opened, chain))


def is_sound_beacon(opened: Opened | Refusal, chain: Chain | None) -> bool:
    """Whether this is the record of a beacon that verifies on a chain."""
    if isinstance(opened, Refusal) or opened.envelope.collection != BEACON or chain is None:
        return False
    number, signature = round_in(opened.value), opened.value.get("signature")
    if number is None or type(signature) is not bytes or opened.value.get("chain") not in (None, chain.hash):
        return False
    try:
        verify(chain, number, signature)
    except Refused:
        return False
    return True
