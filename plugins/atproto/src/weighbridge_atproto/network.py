"""Everyone who plays, wherever their repositories are: a stream for each of their hosts, read as one source.

Hosts stand in the settings, follow from the accounts there, or are found: an index is asked again from time to time
who has records of the game's collections, and whoever is found to play is followed on their own host. Each host's
stream has its own file and its own cursor; one that fails stops no other.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Final, NamedTuple

from weighbridge.ports import Given, Pause, Refused, Told, Unavailable
from weighbridge.repos import parse_record_uri

from weighbridge_atproto.discovery import Discovery, fetch_root
from weighbridge_atproto.errors import CursorInFuture
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.naming import has_repository
from weighbridge_atproto.pacing import FOUND
from weighbridge_atproto.places import Places
from weighbridge_atproto.players import NO_RECORDS, NOT_ASKED, PLAYS, USUAL, Bounds, Player
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.settings import Settings, read_settings
from weighbridge_atproto.sources import Firehose, firehose_path

HOSTS: Final = 64
"""Hosts whose streams are read beside each other; more, and a relay's stream is the better one."""
AGAIN: Final = 3_600.0
"""Seconds after which an account that was looked into is looked into again."""
REMEMBERED: Final = 100_000
"""Accounts that are remembered as looked into."""
PASSING: Final = ("host-unavailable", "host-limit", NOT_ASKED)
"""States that say nothing of an account: it is looked into the next time."""
SHARE: Final = 256


class Arrived(NamedTuple):
    """Something of a host's stream, and the place in that stream after it."""

    host: str
    place: int
    item: Given | Told | Pause


class Looked(NamedTuple):
    """That an account was looked into: when (s, of a clock that only grows), where it is, whether it plays."""

    at: float
    host: str | None
    plays: bool


class Network:
    """The source. `timing`: of each stream. A position is a number of what was yielded, of all hosts together."""

    name = "network"

    def __init__(self, settings: Settings, folder: str, *, bounds: Bounds = USUAL, **timing: Any) -> None:
        """Take checked settings, and the folder to keep things in."""
        self.streams: dict[str, Firehose] = {}
        self.looks = 0
        self._refused: Counter[str] = Counter()
        self._settings = settings
        self._folder = folder
        self._timing = timing
        self._bounds = bounds
        self._places = Places(Path(folder) / f"{firehose_path(settings, 'all', folder).stem}-places.db")
        self._starts: dict[str, int] = {}
        self._arrived: asyncio.Queue[Arrived] = asyncio.Queue(SHARE)
        self._tasks: list[asyncio.Task[None]] = []
        self._looked: OrderedDict[str, Looked] = OrderedDict()
        self._unchanged: dict[str, str] = {}
        self._before: list[Player] = []

    @property
    def refused(self) -> Counter[str]:
        """By code what was not believed of any stream, what could not be looked into, and which streams ended."""
        return sum((each.following.refused for each in self.streams.values()), Counter(self._refused))

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Told | Pause]]:
        """Yield what is found on any host, for ever. Raises KeepingBroken; CursorInFuture once no stream is left."""
        self._starts = self._places.begin(position)
        for host in dict.fromkeys((*self._settings.all_hosts, *self._places.hosts())):
            self._follow(host, ())
        for each in self._before:
            self._take(each)
        self._spawn(self._look_for_ever())
        while True:
            arrived = await self._next()
            if not isinstance(arrived.item, Pause):
                position += 1
                self._places.add(position, arrived.host, arrived.place)
            yield position, arrived.item

    def know(self, players: Iterable[Player]) -> None:
        """Take what a search before this found: these accounts are not looked into again at once."""
        self._before = list(players)

    async def close(self) -> None:
        """Let go of connections and files."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in self.streams.values():
            await stream.close()
        self._places.close()

    def _spawn(self, work: Any) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def _next(self) -> Arrived:
        """Return what comes next, or raise what ended a task."""
        getting = asyncio.create_task(self._arrived.get())
        try:
            while True:
                await asyncio.wait([getting, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    return getting.result()
                for task in [each for each in self._tasks if each.done()]:
                    task.result()
                    self._tasks.remove(task)
        finally:
            getting.cancel()

    # --- streams -------------------------------------------------------------------------------------------

    def _follow(self, host: str, dids: tuple[str, ...]) -> None:
        """Read a host's stream, from now on, and fetch these repositories if they are not known."""
        stream = self.streams.get(host)
        if stream is not None:
            stream.fetch(dids)
            return
        if len(self.streams) >= HOSTS:
            if not self._refused["too-many-hosts"]:
                say(
                    f"too-many-hosts: {host} and what comes after it is not read; let a relay's stream be read instead"
                )
            self._refused["too-many-hosts"] += 1
            return
        self._places.keep_host(host)
        relay = self._settings.relay and host == self._settings.host
        settings = self._settings.of_host(host, relay)
        stream = Firehose(
            settings,
            firehose_path(settings, host, self._folder),
            dids=dids,
            # Where an index tells who has played before, the days that a host has kept are not read through.
            live=bool(self._settings.index),
            pace=None if relay else FOUND,
            **self._timing,
        )
        self.streams[host] = stream
        self._spawn(self._pump(host, stream))

    async def _pump(self, host: str, stream: Firehose) -> None:
        try:
            async for place, item in stream.read(self._starts.get(host, 0)):
                await self._arrived.put(Arrived(host, place, item))
        except CursorInFuture as error:
            self._refused[error.code] += 1
            if len(self.streams) == self._refused[CursorInFuture.code]:
                raise
            say(f"{error.code}: {error.message}. The streams of the other hosts are read on")

    # --- looking for players -------------------------------------------------------------------------------

    async def _look_for_ever(self) -> None:
        while True:
            try:
                await self._look()
            except (Refused, Unavailable) as error:
                self._refused[error.code] += 1
            self.looks += 1
            await asyncio.sleep(self._settings.every)

    async def _look(self) -> None:
        """Look for accounts that play, and follow whoever is found where they are."""
        settings = self._settings
        client, keeping = Guarded(loopback=settings.development), Keeping(None)
        try:
            resolver = Resolver(client, keeping, settings.directory)
            await self._named(resolver)
            if not settings.index:
                return
            root, gm = await fetch_root(client, resolver, settings.game)
            search = Discovery(
                client,
                resolver,
                settings.watched,
                relay=settings.index,
                bounds=self._bounds,
                skip=self._known,
                unchanged=self._unchanged,
            )
            for player in await search.run(root, gm.host):
                self._take(player)
            for _ in search.failed:
                self._refused["index-failed"] += 1
        finally:
            await client.close()
            keeping.close()

    async def _named(self, resolver: Resolver) -> None:
        """Follow the accounts that the settings and the game name, each where it is."""
        gm = parse_record_uri(self._settings.game).authority
        for did in dict.fromkeys((gm, *self._settings.repos)):
            if not has_repository(did) or self._known(did):
                continue
            try:
                host = (await resolver.identity(did)).host
            except (Refused, Unavailable) as error:
                self._refused[error.code] += 1
                continue
            self._take(Player(did, PLAYS, host))

    def _known(self, did: str) -> bool:
        """Whether an account need not be looked into now.

        One that does not play yet is seen to begin where the stream of its host is read.
        """
        looked = self._looked.get(did)
        if looked is None:
            return False
        read = self._settings.relay or looked.host in self.streams
        return (not looked.plays and read) or monotonic() - looked.at < AGAIN

    def _take(self, player: Player) -> None:
        if player.state not in (PLAYS, NO_RECORDS):
            self._refused[player.state] += 1
        if player.state not in PASSING:
            self._remember(player)
        if player.plays and player.host is not None:
            self._follow(self._settings.host if self._settings.relay else player.host, (player.did,))

    def _remember(self, player: Player) -> None:
        self._looked.pop(player.did, None)
        self._looked[player.did] = Looked(monotonic(), player.host, player.plays)
        if len(self._looked) > REMEMBERED:
            did, _ = self._looked.popitem(last=False)
            self._unchanged.pop(did, None)


def open_network(settings: Mapping[str, Any], folder: str) -> Network:
    """Open the streams of all hosts of a game. Raises BadSettings, KeepingBroken."""
    return Network(read_settings(settings, "collections"), folder)


def say(text: str) -> None:
    """Tell an operator something that no record says."""
    print(f"weighbridge: {text}", file=sys.stderr, flush=True)
