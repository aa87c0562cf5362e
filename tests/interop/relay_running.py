"""A small relay on loopback: it merges the streams of several PDSs under its own sequence, and indexes who has what."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web
from pds_running import Pds
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from weighbridge import codec

HEADS = [codec.encode({"op": 1, "t": kind}) for kind in ("#commit", "#sync", "#identity", "#account")]


class Relay:
    """The relay. `lies`: what it answers as an index instead of the truth. `asked` counts its questions."""

    def __init__(self, hosts: Sequence[Pds]) -> None:
        self.url = ""
        self.lies: Callable[[web.Request], Any] | None = None
        self.asked: Counter[str] = Counter()
        self.frames: list[bytes] = []
        self.index: defaultdict[str, set[str]] = defaultdict(set)
        self._hosts = list(hosts)
        self._news = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._merge(host)) for host in self._hosts]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until_indexed(self, did: str, collection: str) -> None:
        async with asyncio.timeout(60), self._news:
            await self._news.wait_for(lambda: did in self.index[collection])

    async def _merge(self, host: Pds) -> None:
        cursor = 0
        while True:
            url = f"ws://localhost:{host.port}/xrpc/com.atproto.sync.subscribeRepos?cursor={cursor}"
            with suppress(OSError, WebSocketException):
                async with connect(url, max_size=None, compression=None, proxy=None) as socket:
                    async for data in socket:
                        assert isinstance(data, bytes)
                        cursor = await self._take(data) or cursor
            await asyncio.sleep(0.1)

    async def _take(self, data: bytes) -> int | None:
        for head in HEADS:
            if not data.startswith(head):
                continue
            body: Any = codec.decode(data[len(head) :])
            seq = body["seq"]
            async with self._news:
                self.frames.append(head + codec.encode({**body, "seq": len(self.frames) + 1}))
                for op in body.get("ops", ()):
                    self.index[op["path"].partition("/")[0]].add(body["repo"])
                self._news.notify_all()
            return int(seq)
        return None

    # --- answering -----------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = request.path.rpartition(".")[2]
        self.asked[name] += 1
        if name == "listReposByCollection":
            if self.lies is not None:
                return web.json_response(self.lies(request))
            return web.json_response(self._page(request))
        if name == "subscribeRepos":
            return await self._stream(request)
        return web.Response(status=404)

    def _page(self, request: web.Request) -> Any:
        """One account a page, so that pages are followed."""
        found = sorted(self.index[request.query["collection"]])
        at = int(request.query.get("cursor", 0))
        more = {"cursor": str(at + 1)} if at + 1 < len(found) else {}
        return {"repos": [{"did": did} for did in found[at : at + 1]], **more}

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        sent = int(request.query.get("cursor", len(self.frames)))
        closed = asyncio.create_task(self._until_closed(socket))
        try:
            while not socket.closed:
                while sent < len(self.frames):
                    await socket.send_bytes(self.frames[sent])
                    sent += 1
                async with self._news:
                    if sent == len(self.frames) and not socket.closed:
                        await self._news.wait()
        except ConnectionError:
            pass
        finally:
            closed.cancel()
        return socket

    async def _until_closed(self, socket: web.WebSocketResponse) -> None:
        async for _ in socket:
            pass
        async with self._news:
            self._news.notify_all()


@asynccontextmanager
async def relaying(*hosts: Pds) -> AsyncIterator[Relay]:
    """Run a relay over PDSs."""
    relay = Relay(hosts)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", relay.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    relay.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    relay.start()
    try:
        yield relay
    finally:
        await relay.stop()
        await runner.cleanup()
