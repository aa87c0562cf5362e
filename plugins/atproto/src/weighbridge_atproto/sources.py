"""The sources: a live firehose, and whole repositories."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from hashlib import sha256
from pathlib import Path
from time import time_ns
from typing import Any, Final

from weighbridge.ports import Given, Pause, Refused, Told
from weighbridge.repos import codec

from weighbridge_atproto.documents import Identity, read_document
from weighbridge_atproto.following import Following
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.hosts import fetch_repo, whole_repo
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.naming import has_repository
from weighbridge_atproto.ordering import place_of
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.settings import BadSettings, Settings, path_in, read_settings
from weighbridge_atproto.stream import Stream
from weighbridge_atproto.watching import Bundle

SHARE: Final = 256


def now() -> int:
    """Return the time (µs)."""
    return time_ns() // 1000


class Firehose:
    """A host's stream, live, with all that was missed fetched. A position is a number of what was found."""

    name = "firehose"

    def __init__(
        self,
        settings: Settings,
        path: Path | None,
        *,
        dids: tuple[str, ...] | None = None,
        live: bool = False,
        **timing: Any,
    ) -> None:
        """Take settings, and the file to keep things in.

        `dids`: what to fetch at the start; None: as settings say. `live`: the stream begins with what comes now, and
        who is followed before is known otherwise. `timing`: of the stream.
        """
        self.client = Guarded(loopback=settings.development)
        self.keeping = Keeping(path)
        resolver = Resolver(self.client, self.keeping, settings.directory)
        host = None if settings.relay else settings.host
        self.following = Following(self.keeping, resolver, self.client, settings.watched, now, host)
        self._live = live
        self.stream = Stream(
            settings.host,
            self.keeping,
            self.following,
            self.client,
            on_live=self._begin_live if live else None,
            **timing,
        )
        self._dids = dids_to_fetch(settings) if dids is None else dids
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def refused(self) -> Mapping[str, int]:
        """How much was not believed since the start, by code."""
        return self.following.refused

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Told | Pause]]:
        """Yield what is found after a position, for ever. Raises CursorInFuture, KeepingBroken."""
        self.keeping.forget(position)
        if not self._live or self.stream.cursor:
            self.following.start(self._dids)
        self._tasks += [asyncio.create_task(self.stream.run()), asyncio.create_task(self.following.run())]
        while True:
            self.following.news.clear()
            share = self.keeping.found(position, SHARE)
            for found in share:
                position = found.number
                yield position, Given(found.data) if found.kind == "record" else told_in(found.data)
            if share:
                # Whoever reads need not wait for more before listing these.
                yield position, Pause()
            else:
                await self._news()

    async def close(self) -> None:
        """Let go of connections and the file."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.following.stop()
        await self.client.close()
        self.keeping.close()

    def fetch(self, dids: tuple[str, ...]) -> None:
        """Fetch these accounts too, if they are not known; once the stream is read, where it begins live."""
        new = tuple(did for did in dids if did not in self._dids and self.following.repo(did) is None)
        self._dids = (*self._dids, *new)
        if new and (not self._live or self.stream.cursor or self.stream.connects):
            self.following.start(new)

    def _begin_live(self) -> None:
        """Fetch all there is from now on: what came between two such beginnings no cursor tells."""
        self.following.doubt_all()
        self.following.start(self._dids)

    async def _news(self) -> None:
        news = asyncio.create_task(self.following.news.wait())
        try:
            await asyncio.wait([news, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        for task in self._tasks:
            if task.done():
                task.result()


class Repository:
    """Whole repositories: a CAR file, or what their hosts give. A position is a number of records."""

    name = "repo"

    def __init__(self, settings: Settings, folder: str) -> None:
        """Take settings; paths in them are relative to the folder."""
        self.refused: Counter[str] = Counter()
        """What of the repositories is not listed, by code."""
        self._settings = settings
        self._folder = folder
        self._client = Guarded(loopback=settings.development)

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Told | Pause]]:
        """Yield the game's records of each repository, the root first. Raises what fetching and verifying do."""
        number = 0
        async for bundle in self._bundles():
            for data in records_of(bundle, self._settings, self.refused):
                number += 1
                if number > position:
                    yield number, Given(data)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _bundles(self) -> AsyncIterator[Bundle]:
        if self._settings.file:
            yield self._from_file()
            return
        keeping = Keeping(None)
        try:
            resolver = Resolver(self._client, keeping, self._settings.directory)
            for did in self._settings.repos:
                yield await fetch_repo(self._client, await resolver.identity(did))
        finally:
            keeping.close()

    def _from_file(self) -> Bundle:
        return whole_repo([_read(self._folder, self._settings.file)], self._identity())

    def _identity(self) -> Identity:
        (did,) = self._settings.repos
        return read_document(did, _read(self._folder, self._settings.document))


def _read(folder: str, name: str) -> bytes:
    path = path_in(folder, name)
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}", path=str(path)) from error


def dids_to_fetch(settings: Settings) -> tuple[str, ...]:
    """Return the accounts that settings name: the GM, where the root is in a repository, and `repos`."""
    gm = settings.game.removeprefix("at://").partition("/")[0]
    return (gm, *settings.repos) if has_repository(gm) else settings.repos


def told_in(data: bytes) -> Told:
    """Return what a host said, as it was kept."""
    value: Any = codec.decode(data)
    return Told(**value)


def records_of(bundle: Bundle, settings: Settings, refused: Counter[str]) -> list[bytes]:
    """Return the records of the game in a repository, carried, the root first; count by code what cannot be."""
    watched, did = settings.watched, bundle.identity.did
    root = watched.game.removeprefix(f"at://{did}/")
    found: list[bytes] = []
    for path, cid in sorted(bundle.tree.items(), key=lambda item: place_of(item[0], root)):
        if not watched.wants(did, path):
            continue
        try:
            if watched.is_of_game(did, path, bundle.record(path, cid)):
                found.append(bundle.carry(path, cid))
        except Refused as refusal:
            refused[refusal.code] += 1
    return found


def open_firehose(settings: Mapping[str, Any], folder: str) -> Firehose:
    """Open a host's stream. Raises BadSettings, KeepingBroken."""
    read = read_settings(settings, "host", "collections")
    return Firehose(read, firehose_path(read, read.host, folder))


def firehose_path(settings: Settings, host: str, folder: str) -> Path:
    """Return the file in which a host's stream is kept."""
    name = sha256(f"{settings.game} {host}".encode()).hexdigest()[:16]
    return path_in(folder, f"atproto-{name}.db")


def open_repository(settings: Mapping[str, Any], folder: str) -> Repository:
    """Open whole repositories. Raises BadSettings."""
    read = read_settings(settings, "collections", "repos")
    if bool(read.file) != bool(read.document) or (read.file and len(read.repos) != 1):
        raise BadSettings("a CAR `file` needs the `document` of its one DID among `repos`", setting="file")
    return Repository(read, folder)
