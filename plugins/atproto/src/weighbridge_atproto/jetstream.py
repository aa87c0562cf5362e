"""Jetstream: a hint that something happened. What happened, the repository's own host proves.

Its messages are unsigned JSON without proofs. Each that may be of the game has its host asked for that one record
(`sync.getRecord`); what the proof shows is found, whatever the hint said. A repository's chain is not kept: what
Jetstream leaves out is not noticed. Where that matters, read the firehose.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from weighbridge.ports import Given, Pause, Refused, Unavailable
from weighbridge.repos import is_did, is_nsid, is_rkey

from weighbridge_atproto.errors import FrameBody, FrameTooLarge, StreamClosed
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.hosts import fetch_record
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.settings import Settings, path_in, read_settings
from weighbridge_atproto.watching import Bundle

MAX_MESSAGE: Final = 2_000_000
REWIND: Final = 5_000_000
"""How far (µs) a new connection goes back: replaying, Jetstream has dropped and reordered messages."""
SILENCE: Final = 60.0
BACKOFF: Final = (0.5, 60.0)
REMEMBERED: Final = 10_000
TRIES: Final = 4
SHARE: Final = 256
CURSOR: Final = "cursor"


class Hint(NamedTuple):
    """That something may have happened to a record."""

    did: str
    path: str
    rev: str
    at: int


def read_hint(data: str | bytes) -> Hint | None:
    """Return the hint in a message, None in one of another kind. Raises FrameTooLarge, FrameBody."""
    if len(data) > MAX_MESSAGE:
        raise FrameTooLarge(f"a message of {len(data)} characters is no hint")
    try:
        message: Any = json.loads(data)
        if message["kind"] != "commit":
            return None
        did, commit, at = message["did"], message["commit"], message["time_us"]
        collection, rkey, rev = commit["collection"], commit["rkey"], commit["rev"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FrameBody(f"the message is no hint: {type(error).__name__}: {error}") from error
    named = is_did(did) and is_nsid(collection) and is_rkey(rkey) and isinstance(rev, str)
    if not named or type(at) is not int or not 0 <= at < 2**62:
        raise FrameBody("the message names no record of a DID")
    return Hint(did, f"{collection}/{rkey}", rev, at)


class Jetstream:
    """A source that follows hints. A position is a number of what was found."""

    name = "jetstream"

    def __init__(self, settings: Settings, path: Path | None) -> None:
        """Take settings, and the file to keep things in."""
        self.refused: Counter[str] = Counter()
        self.client = Guarded(loopback=settings.development)
        self.keeping = Keeping(path)
        self.silence, self.backoff = SILENCE, BACKOFF
        self._settings = settings
        self._resolver = Resolver(self.client, self.keeping, settings.directory)
        self._seen: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Pause]]:
        """Yield what is found after a position, for ever. Raises KeepingBroken."""
        self.keeping.forget(position)
        task = self._task = asyncio.create_task(self._run())
        while True:
            self._news.clear()
            share = self.keeping.found(position, SHARE)
            for found in share:
                position = found.number
                yield position, Given(found.data)
            if share:
                yield position, Pause()
                continue
            news = asyncio.create_task(self._news.wait())
            try:
                await asyncio.wait([news, task], return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            if task.done():
                task.result()

    async def close(self) -> None:
        """Let go of connections and the file."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.client.close()
        self.keeping.close()

    # --- hints ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        wait = self.backoff[0]
        while True:
            before = self.keeping.number(CURSOR)
            try:
                await self._listen()
            except (Unavailable, Refused, WebSocketException, OSError, TimeoutError) as error:
                code = error.code if isinstance(error, Unavailable | Refused) else StreamClosed.code
                self.refused[code] += 1
            moved = self.keeping.number(CURSOR) != before
            wait = self.backoff[0] if moved else min(wait * 2, self.backoff[1])
            await asyncio.sleep(wait)

    def _address(self) -> str:
        parts = urlsplit(self._settings.host)
        asked: list[tuple[str, str]] = [("wantedCollections", each) for each in self._settings.collections]
        cursor = self.keeping.number(CURSOR)
        if cursor is not None:
            asked.append(("cursor", str(max(0, cursor - REWIND))))
        return f"{'ws' if parts.scheme == 'http' else 'wss'}://{parts.netloc}/subscribe?{urlencode(asked)}"

    async def _listen(self) -> None:
        url = self._address()
        sock = await self.client.connect(url)
        async with connect(
            url, sock=sock, max_size=2 * MAX_MESSAGE, compression=None, proxy=None, user_agent_header="weighbridge",
            close_timeout=1,
        ) as socket:  # fmt: skip
            while True:
                async with asyncio.timeout(self.silence):
                    data = await socket.recv()
                try:
                    hint = read_hint(data)
                    if hint is not None:
                        await self._follow(hint)
                except Refused as refusal:
                    self.refused[refusal.code] += 1

    async def _follow(self, hint: Hint) -> None:
        key = (hint.did, hint.path, hint.rev)
        if self._settings.watched.wants(hint.did, hint.path) and key not in self._seen:
            await self._confirm(hint)
            self._seen[key] = None
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        # Reached only when the hint was settled: what is not confirmed yet is heard of again after a crash.
        self.keeping.set_number(CURSOR, hint.at)

    async def _confirm(self, hint: Hint) -> None:
        """Ask the host for what is there now. Raises what it says, and Unavailable after a few tries."""
        bundle = await self._proof(hint)
        cid = bundle.tree.get(hint.path)
        known = self.keeping.record(hint.did, hint.path)
        if cid == known:
            return
        if known is None and cid is not None:
            record = bundle.record(hint.path, cid)
            if not self._settings.watched.is_of_game(hint.did, hint.path, record):
                return
        with self.keeping.batch():
            self.keeping.add("record", bundle.carry(hint.path, cid))
            self.keeping.keep_record(hint.did, hint.path, cid)
        self._news.set()

    async def _proof(self, hint: Hint) -> Bundle:
        identity = await self._resolver.identity(hint.did)
        for left in reversed(range(TRIES)):
            try:
                return await fetch_record(self.client, identity, hint.path)
            except Refused:
                newer = await self._resolver.again(hint.did)
                if newer is None or newer.cid == identity.cid:
                    raise
                identity = newer
            except Unavailable:
                if not left:
                    raise
            await asyncio.sleep(self.backoff[0])
        raise StreamClosed(f"{identity.host} gives no proof of {hint.path}")


def open_jetstream(settings: Mapping[str, Any], folder: str) -> Jetstream:
    """Open a Jetstream. Raises BadSettings, KeepingBroken."""
    read = read_settings(settings, "host", "collections")
    name = sha256(f"jetstream {read.game} {read.host}".encode()).hexdigest()[:16]
    return Jetstream(read, path_in(folder, f"atproto-{name}.db"))
