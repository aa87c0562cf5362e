"""Several hosts, a relay that indexes them, and a directory that knows where everybody is: all on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import web
from atproto_helping import document
from atproto_host import Host, hosting
from repo_making import Key, Made

STARTS = 1_700_000_000_000_000


class Pds(Host):
    """A host that also says what its accounts have, as a PDS does. `dark`: it answers nothing any more."""

    def __init__(self) -> None:
        super().__init__()
        self.dark = False
        self.queries: list[str] = []
        self.inactive: set[str] = set()
        self.describes = True

    def member(self, did: str, number: int) -> Made:
        return self.account(Made(did, Key(number=number), STARTS))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = request.path.rpartition(".")[2]
        self.queries.append(f"{name} {request.query.get('did') or request.query.get('repo') or ''}".strip())
        if self.dark:
            return web.Response(status=503)
        if name == "describeRepo":
            made = self.repos.get(request.query["repo"])
            if made is None or not self.describes:
                return web.json_response({"error": "RepoNotFound", "message": "no such repo"}, status=400)
            paths = [path for path, _ in made.tree.items()]
            return web.json_response({"collections": sorted({path.partition("/")[0] for path in paths})})
        if name == "getLatestCommit":
            last = self.repos[request.query["did"]].last
            return web.json_response({"rev": None if last is None else last.rev})
        if name == "listRepos":
            repos = [{"did": did, "active": did not in self.inactive} for did in sorted(self.repos)]
            return web.json_response({"repos": repos})
        if request.path.endswith("com.atproto.repo.getRecord"):
            path = f"{request.query['collection']}/{request.query['rkey']}"
            made = self.repos[request.query["repo"]]
            return web.Response(status=400 if made.tree.get(path) is None else 200)
        if name == "getRepo" and request.query["did"] not in self.repos:
            return web.json_response({"error": "RepoNotFound", "message": "no such repo"}, status=400)
        return await super().handle(request)

    async def _send_all(self, socket: web.WebSocketResponse, cursor: int) -> None:
        # Without a cursor, what comes now.
        await super()._send_all(socket, self.seq + 1 if cursor < 0 else cursor)


class Relay(Host):
    """An index over hosts, and a directory of their accounts. `pages`: what it answers instead, one after the other."""

    def __init__(self, *hosts: Pds) -> None:
        super().__init__()
        self.hosts = list(hosts)
        self.indexes: list[dict[str, str]] = []
        self.lies: Any = None
        self.missing = False
        self.unknown: set[str] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        name = request.path.rpartition(".")[2]
        if name == "listReposByCollection":
            self.indexes.append(dict(request.query))
            if self.missing:
                return web.Response(status=404)
            return web.json_response(self.lies(request) if self.lies else self._index(request))
        if name == "subscribeRepos":
            return await super().handle(request)
        return self._document(request.path[1:])

    def _index(self, request: web.Request) -> Any:
        wanted = f"{request.query['collection']}/"
        repos = [
            {"did": did}
            for host in self.hosts
            for did, made in sorted(host.repos.items())
            if did not in self.unknown and any(path.startswith(wanted) for path, _ in made.tree.items())
        ]
        return {"repos": repos}

    def _document(self, did: str) -> web.Response:
        for host in self.hosts:
            if did in host.repos:
                service = [{"id": "#atproto_pds", "serviceEndpoint": host.url}]
                return web.Response(
                    body=json.dumps(document(did, host.repos[did].key, service=service)).encode()
                )
        return web.Response(status=404)


@asynccontextmanager
async def network(count: int = 2) -> AsyncIterator[tuple[Relay, list[Pds]]]:
    """Serve so many hosts and a relay over them."""
    async with AsyncExitStack() as stack:
        hosts = [await stack.enter_async_context(hosting(Pds())) for _ in range(count)]
        yield await stack.enter_async_context(hosting(Relay(*hosts))), hosts
