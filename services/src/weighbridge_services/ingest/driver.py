"""Sources: their records go the same way as everybody's, in their order, with the pauses of a recorded season."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
from weighbridge import codec
from weighbridge.errors import Refused, Unavailable
from weighbridge.fold.records import ACCOUNT
from weighbridge.identity import Signer, encode_envelope, sign_record
from weighbridge.ports import Given, Pause, Source, Told

from weighbridge_services.ingest.arrivals import Arrival
from weighbridge_services.ingest.errors import NoRootYet
from weighbridge_services.ingest.lister import Lister

SHARE: Final = 512
"""Records that are handed in together at most."""
RETRY: Final = 0.25
LOOK: Final = 0.25
"""Seconds between two looks at what a recorded season waits for."""

log = structlog.get_logger()


class Driver:
    """Reads a source into a lister, once; where it was is kept under a name."""

    def __init__(self, lister: Lister, source: Source, position: str) -> None:
        self._lister = lister
        self._source = source
        self._position = position
        self.read = 0
        self.done = False

    @property
    def refused(self) -> dict[str, int]:
        """How many the source did not believe, or could not give, by code; of one that counts none, none."""
        theirs: Mapping[str, int] = getattr(self._source, "refused", {})
        return dict(theirs)

    async def run(self) -> None:
        """Read to the end, which a live source does not have. Raises Refused for what cannot be read."""
        try:
            await self._run()
        finally:
            await self._source.close()

    async def _run(self) -> None:
        store = self._lister.setting.store
        position = await store.run(store.position, self._position)
        share: list[Arrival] = []
        async for number, item in self._source.read(position):
            if self._lister.stopping:
                return
            if isinstance(item, Pause):
                if await self._hand_in(share, position):
                    share = []
                await self._pause(item)
            else:
                share.append(self._arrival(item, number))
            position = number
            if len(share) >= SHARE and await self._hand_in(share, position):
                share = []
        while not await self._hand_in(share, position):
            await asyncio.sleep(RETRY)
        self.done = True
        log.info(
            "the source has ended", game=self._lister.setting.uri, source=self._source.name, read=self.read
        )

    def _arrival(self, item: Given | Told, number: int) -> Arrival:
        if isinstance(item, Told):
            setting = self._lister.setting
            return Arrival(told(setting.node.keys.records, setting.uri, number, item), self._source.name)
        at = item.at if self._lister.setting.recorded else None
        return Arrival(item.envelope, self._source.name, at=at, carried=True)

    async def _hand_in(self, share: list[Arrival], position: int) -> bool:
        """List a share; return False where the log awaits its root, which may come later in the source."""
        arrivals = list(share)
        while arrivals and not self._lister.stopping:
            try:
                await self._lister.hand_in(arrivals)
                break
            except Unavailable as error:
                arrivals = again(arrivals)
                if isinstance(error, NoRootYet) and not self._lister.size and not self._lister.stopping:
                    share[:] = arrivals
                    return False
                # What is listed already is answered with its place: handing all of it in again is harmless.
                await asyncio.sleep(RETRY)
        self.read += len(share)
        store = self._lister.setting.store
        await store.run(store.keep_position, self._position, position)
        return True

    # --- pauses --------------------------------------------------------------------------------------------

    async def _pause(self, pause: Pause) -> None:
        if pause.at is not None:
            await self._lister.let_pass(pause.at)
        if pause.beacon is not None:
            await self._lister.let_come(pause.beacon)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + pause.timeout
        size = self._lister.size
        while not self._lister.stopping and not (self._holds(pause) and await self._settled(pause, size)):
            left = deadline - loop.time()
            if left <= 0:
                log.warning(
                    "going on without what was waited for", game=self._lister.setting.uri, pause=str(pause)
                )
                return
            await self._lister.wait(min(left, LOOK))

    def _holds(self, pause: Pause) -> bool:
        received = not pause.receipts or self._lister.all_receipted()
        return received and (pause.beacon is None or self._lister.has_beacon(pause.beacon))

    async def _settled(self, pause: Pause, size: int) -> bool:
        """Whether this node's own fold has come to a size, and awaits no trace's verdict."""
        if not pause.traces:
            return True
        setting = self._lister.setting
        try:
            answer = await setting.bus.ask(setting.own.rpc("status"), codec.encode({}), timeout=LOOK)
            return no_traces_in(answer, size)
        except (Unavailable, Refused):
            return False


def again(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Return arrivals to be handed in once more."""
    return [Arrival(each.data, each.origin, at=each.at, carried=each.carried) for each in arrivals]


def told(signer: Signer, game: str, number: int, item: Told) -> bytes:
    """Return the envelope in which a lister says what a host told it."""
    value = {
        "game": game, "did": item.did, "event": item.event, "status": item.status, "grade": "lister-says",
    }  # fmt: skip
    return encode_envelope(sign_record(signer, game, ACCOUNT, str(number), value))


def no_traces_in(answer: bytes, size: int) -> bool:
    """Whether the status of a fold is that of so many entries or more, with no trace left. Raises Refused."""
    value: Any = codec.decode(answer)
    if not isinstance(value, dict) or type(value.get("size")) is not int or value["size"] < size:
        return False
    return not any(isinstance(each, dict) and each.get("trace") for each in value.get("pending", ()))
