"""Reading a firehose: connect, read, keep, and do it again. Verifying is another's business.

Frames go into the durable queue before anything is made of them, together with the cursor behind them, so that
a slow verification never makes a slow reader and a crash loses nothing. What a host sends twice is let go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from weighbridge.ports import Refused, Unavailable

from weighbridge_atproto.errors import CursorInFuture, StreamClosed
from weighbridge_atproto.following import Following
from weighbridge_atproto.frames import Frame, InfoFrame, StreamError, parse_frame
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.pacing import Backlog, Pace

PATH: Final = "/xrpc/com.atproto.sync.subscribeRepos"
SILENCE: Final = 60.0
"""Seconds without a word after which a stream counts as dead, though its connection does not."""
BACKOFF: Final = (0.5, 60.0)
MAX_MESSAGE: Final = 16_000_000
"""A message above this ends the connection; from 5 MB on it is refused and the next one read."""
MAX_JUMP: Final = 1_000_000_000
"""A leap of the sequence that is not believed before the next frame confirms it."""
BATCH: Final = 256


class Stream:
    """One host's stream, into the queue.

    It begins with all that the host has kept or, with `on_live`, with what comes now: that is called whenever
    reading begins so, and whatever came before is to be fetched from then on. `pace`: how fast frames may come.
    """

    def __init__(
        self,
        host: str,
        keeping: Keeping,
        following: Following,
        client: Guarded,
        *,
        silence: float = SILENCE,
        backoff: tuple[float, float] = BACKOFF,
        on_live: Callable[[], None] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.connects = 0
        self._host = host
        self._name = f"cursor {host}"
        self._keeping = keeping
        self._following = following
        self._client = client
        self._silence = silence
        self._backoff = backoff
        self._leapt: int | None = None
        self._on_live = on_live
        self._pace = pace

    @property
    def cursor(self) -> int:
        """The sequence number up to which everything is in the queue, or was let go for good."""
        return self._keeping.number(self._name) or 0

    async def run(self) -> None:
        """Read for ever. Raises CursorInFuture, and nothing that passes."""
        wait = self._backoff[0]
        while True:
            before = self.cursor
            try:
                await self._read()
            except CursorInFuture:
                raise
            except (Unavailable, Refused, WebSocketException, OSError, TimeoutError) as error:
                code = error.code if isinstance(error, Unavailable | Refused) else StreamClosed.code
                self._following.refused[code] += 1
            wait = self._backoff[0] if self.cursor > before else min(wait * 2, self._backoff[1])
            await asyncio.sleep(wait)

    async def _read(self) -> None:
        # Without a cursor a host sends what comes now; what it has kept may be days of a great many accounts.
        on_live = None if self.cursor else self._on_live
        url = _stream_address(self._host) + (f"?cursor={self.cursor}" if on_live is None else "")
        sock = await self._client.connect(url)
        self.connects += 1
        async with connect(
            url, sock=sock, max_size=MAX_MESSAGE, compression=None, proxy=None, open_timeout=self._silence,
            user_agent_header="weighbridge", max_queue=16, close_timeout=1,
        ) as socket:  # fmt: skip
            if on_live is not None:
                on_live()
            arrived: asyncio.Queue[bytes | None] = asyncio.Queue(2 * BATCH)
            backlog = Backlog(self._pace)
            receiving = asyncio.create_task(self._receive(socket, arrived, backlog))
            try:
                await self._keep_all(arrived, backlog)
                await receiving
            finally:
                receiving.cancel()
                # Not suppressed: a stop that comes meanwhile is to be heard.
                await asyncio.gather(receiving, return_exceptions=True)

    async def _receive(
        self, socket: ClientConnection, arrived: asyncio.Queue[bytes | None], backlog: Backlog
    ) -> None:
        try:
            while True:
                async with asyncio.timeout(self._silence):
                    data = await socket.recv()
                # A text is no frame; read as one it is refused as one.
                frame = data if isinstance(data, bytes) else data.encode()
                await backlog.add(len(frame))
                await arrived.put(frame)
        except (WebSocketException, OSError, TimeoutError):
            # Cancelled, it says nothing: nobody keeps any more, and the queue may be full.
            await arrived.put(None)
            raise

    async def _keep_all(self, arrived: asyncio.Queue[bytes | None], backlog: Backlog) -> None:
        ended = False
        while not ended:
            batch = [await arrived.get()]
            while len(batch) < BATCH and not arrived.empty():
                batch.append(arrived.get_nowait())
            ended = batch[-1] is None
            frames = [data for data in batch if data is not None]
            self._keep(frames)
            backlog.remove(sum(map(len, frames)))

    def _keep(self, batch: list[bytes]) -> None:
        kept: list[tuple[str, bytes]] = []
        cursor = start = self.cursor
        stop: Exception | None = None
        for data in batch:
            try:
                frame = parse_frame(data)
                self._listen(frame, start)
            except Refused as refusal:
                self._following.refused[refusal.code] += 1
                continue
            except (CursorInFuture, StreamClosed) as error:
                stop = error
                break
            seq = getattr(frame, "seq", None)
            if seq is None or seq <= cursor:
                continue
            did = self._following.concerns(frame)
            if did is not None:
                kept.append((did, data))
            cursor = self._advanced(cursor, seq)
        with self._keeping.batch():
            self._keeping.queue(kept)
            self._keeping.set_number(self._name, cursor)
        if kept:
            self._following.queued.set()
        if stop is not None:
            raise stop

    def _listen(self, frame: Frame, cursor: int) -> None:
        """Hear what the host says of the stream itself."""
        if isinstance(frame, StreamError):
            if frame.error == "FutureCursor":
                raise CursorInFuture(
                    f"{self._host} says that the cursor {cursor} is of the future ({frame.message}): it has lost what"
                    " it sent before. Look what became of it; then remove the source's file, and all is fetched anew"
                )
            raise StreamClosed(
                f"{self._host} ends the stream: {frame.error}: {frame.message}", why=frame.error
            )
        if isinstance(frame, InfoFrame) and frame.name == "OutdatedCursor" and cursor:
            self._following.refused["outdated-cursor"] += 1
            self._following.gap()

    def _advanced(self, cursor: int, seq: int) -> int:
        if cursor and seq - cursor > MAX_JUMP and (self._leapt is None or seq <= self._leapt):
            self._leapt = seq
            return cursor
        self._leapt = None
        return seq


def _stream_address(host: str) -> str:
    parts = urlsplit(host)
    return f"{'ws' if parts.scheme == 'http' else 'wss'}://{parts.netloc}{PATH}"
