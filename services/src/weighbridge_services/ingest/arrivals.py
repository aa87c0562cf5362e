"""What comes in: where it came from, who waits for an answer, and how it is verified off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeVar

from weighbridge.beacon import verify
from weighbridge.chain import Chain
from weighbridge.errors import Refused
from weighbridge.fold.records import BEACON

from weighbridge_services.ingest.counting import round_in
from weighbridge_services.ingest.decide import Answer, Handed
from weighbridge_services.ingest.opening import Opened, Refusal, bad_signature, claim_of, read_record
from weighbridge_services.ingest.verifying import Verifier

ANSWER: Final = "Weighbridge-Answer"
"""Header of a submission: the subject at which its sender waits for the answer."""
CONFIGURED: Final = "configuration"
"""Where the records come from that a node's own configuration names, its root among them."""
SHARE: Final = 64
"""Records that one turn of a thread takes."""

FEW: Final = 8
"""Records that are not worth a turn of a thread."""

T = TypeVar("T")
R = TypeVar("R")


class Arrival:
    """One thing handed in: its bytes, where from (a DID or a source's name), and who waits for what becomes of it.

    `carried`: whether it may be a record of a repository, whose key this node's own source has resolved.
    `comes_once`: whether it does not come again when it is left out; what a source has does not. `done` ends
    once it is in ledger and log, and, where somebody waits at `answer_to`, is answered.
    """

    __slots__ = ("answer_to", "at", "carried", "comes_once", "data", "done", "handed", "origin")

    def __init__(
        self,
        data: bytes,
        origin: str,
        answer_to: str | None = None,
        at: int | None = None,
        carried: bool = False,
        comes_once: bool | None = None,
    ) -> None:
        self.carried = carried
        self.comes_once = not origin.startswith("did:") if comes_once is None else comes_once
        self.data = data
        self.origin = origin
        self.answer_to = answer_to
        self.at = at
        self.handed: Handed | None = None
        self.done: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.done.add_done_callback(_seen)

    @property
    def from_bus(self) -> bool:
        """Whether anybody may have handed it in; sources and the configuration are the operator's own."""
        return self.origin.startswith("did:")


def _seen(done: asyncio.Future[Answer]) -> None:
    if not done.cancelled():
        done.exception()  # whoever handed it in may be gone


class Openers(NamedTuple):
    """What verifies records beside the event loop: threads that read them, and a verifier of signatures."""

    pool: ThreadPoolExecutor
    verifier: Verifier

    async def open(
        self, payloads: Sequence[bytes], game: str, carried: Sequence[bool] = ()
    ) -> list[Opened | Refusal]:
        """Return each record verified, or why it is refused, in order.

        `carried`: of each, whether it may be a record of a repository.
        """
        given = list(zip(payloads, carried or [False] * len(payloads), strict=True))
        found = await self.share(
            lambda part: [read_record(data, game, carried=may) for data, may in part], given
        )
        read = [each for each in found if isinstance(each, Opened) and each.repo is None]
        claims = await self.share(lambda part: [claim_of(each) for each in part], read)
        held = dict(zip(map(id, read), await self.verifier.verify(claims), strict=True))
        return [each if held.get(id(each), True) else bad_signature(each) for each in found]  # type: ignore[arg-type]

    async def share(self, work: Callable[[Sequence[T]], list[R]], items: Sequence[T]) -> list[R]:
        """Return what work in threads makes of items, in order."""
        if len(items) <= FEW:
            return work(items)
        loop = asyncio.get_running_loop()
        parts = [items[at : at + SHARE] for at in range(0, len(items), SHARE)]
        done = await asyncio.gather(*(loop.run_in_executor(self.pool, work, part) for part in parts))
        return [each for part in done for each in part]


async def open_all(openers: Openers, arrivals: Sequence[Arrival], game: str, chain: Chain | None) -> None:
    """Verify what came in."""
    opened = await openers.open([each.data for each in arrivals], game, [each.carried for each in arrivals])
    for each, found in zip(arrivals, opened, strict=True):
        each.handed = Handed(found, each.at, is_sound_beacon(found, chain))


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
