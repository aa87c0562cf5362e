"""A host of made repositories on loopback: its stream, its repositories, a directory, and every way to misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import WSCloseCode, web
from atproto_helping import document
from repo_making import Made, frame
from weighbridge.repos import codec, prove


class Host:
    """The host. `frames` are what its stream sends; changing what is below changes what it answers next."""

    def __init__(self) -> None:
        self.url = ""
        self.repos: dict[str, Made] = {}
        self.frames: list[tuple[int, bytes]] = []
        self.seq = 0
        self.asked: list[str] = []
        self.cursors: list[int] = []
        self.status = 200
        """Of what `getRepo` answers."""
        self.directory: dict[str, int] = {}
        """What the directory answers of a DID, where not 200."""
        self.homes: dict[str, str] = {}
        """What hosts the documents of DIDs name, where not this one."""
        self.handles: dict[str, str] = {}
        """DIDs of those who log in by a handle."""
        self.cut = 0
        """Requests, other than for the stream, whose connection is cut before they are answered."""
        self.first: list[bytes] = []
        """Frames that a new connection gets before all else."""
        self.held = asyncio.Event()
        """While it is not set, `getRepo` waits."""
        self.held.set()
        self._sockets: list[web.WebSocketResponse] = []
        self._news = asyncio.Condition()

    # --- doing ---------------------------------------------------------------------------------------------

    def account(self, made: Made) -> Made:
        self.repos[made.did] = made
        return made

    async def commit(
        self, made: Made, changes: Mapping[str, object | None], *, tell: bool = True, **changed: Any
    ) -> int:
        """Commit to a repository; `tell` it on the stream."""
        body = made.commit(changes, **changed)
        if not tell:
            return 0
        self.seq += 1
        return await self.send(frame(body | {"seq": self.seq}), self.seq)

    async def event(self, kind: str, **body: Any) -> int:
        self.seq += 1
        return await self.send(
            frame({"seq": self.seq, "time": "2023-11-14T22:13:20Z", **body}, kind), self.seq
        )

    async def send(self, data: bytes, seq: int) -> int:
        async with self._news:
            self.frames.append((seq, data))
            self._news.notify_all()
        return seq

    async def hang_up(self, code: int = WSCloseCode.GOING_AWAY) -> None:
        for each in list(self._sockets):
            await each.close(code=code)

    # --- answering -----------------------------------------------------------------------------------------

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        name = request.path.rpartition(".")[2]
        if name == "subscribeRepos":
            return await self._stream(request)
        if self.cut:
            self.cut -= 1
            assert request.transport is not None
            request.transport.abort()
        if name == "getRepo":
            await self.held.wait()
            made = self.repos[request.query["did"]]
            return web.Response(status=self.status, body=made.export())
        if name == "getRecord":
            return web.Response(body=self._record(request))
        if name in ("createSession", "createRecord"):
            return await self._write(name, await request.json(), request)
        did = request.path[1:]
        made = self.repos.get(did)
        if made is None or did in self.directory:
            return web.Response(status=self.directory.get(did, 404))
        service = [{"id": "#atproto_pds", "serviceEndpoint": self.homes.get(did, self.url)}]
        return web.Response(body=json.dumps(document(did, made.key, service=service)).encode())

    async def _write(self, name: str, asked: Any, request: web.Request) -> web.Response:
        if name == "createSession":
            if asked["password"] != "secret":
                return web.Response(status=401)
            did = self.handles.get(asked["identifier"], asked["identifier"])
            return web.json_response({"did": did, "accessJwt": "token"})
        assert request.headers["Authorization"] == "Bearer token"
        made, path = self.repos[asked["repo"]], f"{asked['collection']}/{asked.get('rkey', 'generated')}"
        await self.commit(made, {path: codec.from_json(asked["record"])})
        return web.json_response({"uri": f"at://{made.did}/{path}", "cid": str(made.tree.get(path))})

    def _record(self, request: web.Request) -> bytes:
        made = self.repos[request.query["did"]]
        path = f"{request.query['collection']}/{request.query['rkey']}"
        cid = made.tree.get(path)
        assert made.last is not None
        return prove(made.last, made.tree, path, None if cid is None else made.records[cid])

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        cursor = int(request.query.get("cursor", "-1"))
        self.cursors.append(cursor)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.append(socket)
        reading = asyncio.create_task(self._until_closed(socket))
        with suppress(ConnectionError, asyncio.CancelledError):
            for data in self.first:
                await socket.send_bytes(data)
            await self._send_all(socket, cursor)
        reading.cancel()
        return socket

    async def _until_closed(self, socket: web.WebSocketResponse) -> None:
        async for _ in socket:
            pass
        async with self._news:
            self._news.notify_all()

    async def _send_all(self, socket: web.WebSocketResponse, cursor: int) -> None:
        sent = 0
        while not socket.closed:
            for seq, data in self.frames[sent:]:
                sent += 1
                # As some relays do: what the cursor names itself comes again.
                if seq >= cursor:
                    await socket.send_bytes(data)
            async with self._news:
                if sent == len(self.frames):
                    await self._news.wait()


@asynccontextmanager
async def hosting(host: Any = None) -> AsyncIterator[Any]:
    """Serve a host."""
    host = host or Host()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", host.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield host
    finally:
        host.held.set()
        await host.hang_up()
        await runner.cleanup()


def error_frame(name: str) -> bytes:
    return codec.encode({"op": -1}) + codec.encode({"error": name})
