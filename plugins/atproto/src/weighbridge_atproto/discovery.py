"""Finding everyone who plays, from a game's at-uri alone.

Accounts are named by the root, by a relay's index of the game's collections (or, where none answers, by the GM's own
host), and by the records that are found. A name is a hint: an account plays once its own repository, fetched from its
own host as its own DID document names it and verified whole, holds a record that names the game.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from weighbridge.ports import Refused, Unavailable
from weighbridge.repos import MAX_REPO, BadAtUri, codec, is_nsid, open_carried, parse_record_uri

from weighbridge_atproto.documents import Identity
from weighbridge_atproto.guarded import AnswerTooLarge, Guarded, HostLimit
from weighbridge_atproto.handles import handle_holds
from weighbridge_atproto.hosts import fetch_record, repo_address, whole_repo
from weighbridge_atproto.index import by_collection, of_host
from weighbridge_atproto.naming import dids_in, has_repository
from weighbridge_atproto.players import (
    NO_RECORDS,
    NOT_ASKED,
    PLAYS,
    USUAL,
    Bounds,
    NoRepository,
    Player,
    Progress,
    RootAbsent,
)
from weighbridge_atproto.resolving import Resolver
from weighbridge_atproto.watching import Bundle, Watched

WAIT: Final = 2.0
WAITS: Final = 60
"""How often, and for how many seconds each time, a host is waited for that was asked as often as is kind."""
MAX_DESCRIPTION: Final = 300_000
T = TypeVar("T")


def quiet(_: Progress) -> None:
    """Tell nobody how far it is."""


class Discovery:
    """One search.

    `skip`: accounts that need not be looked into, whoever names them. `handles`: whether to verify the handles of
    those that play. `unchanged`: of accounts that hold no record of the game, the rev at which that was seen; kept up
    here, and not fetched again while the host names the same.
    """

    def __init__(
        self,
        client: Guarded,
        resolver: Resolver,
        watched: Watched,
        *,
        relay: str = "",
        bounds: Bounds = USUAL,
        told: Callable[[Progress], None] = quiet,
        skip: Callable[[str], bool] = lambda _: False,
        handles: bool = False,
        unchanged: dict[str, str] | None = None,
    ) -> None:
        self.failed: list[str] = []
        """Whom it could not ask for names, and why."""
        self._client = client
        self._resolver = resolver
        self._watched = watched
        self._relay = relay
        self._bounds = bounds
        self._told = told
        self._skip = skip
        self._handles = handles
        self._unchanged = {} if unchanged is None else unchanged
        self._named: set[str] = set()
        self._indexed: set[str] = set()
        self._waiting: deque[str] = deque()
        self._of_records = 0
        self._bytes = 0
        self._failures: Counter[str] = Counter()
        self._fetching = asyncio.Semaphore(bounds.fetches)
        self._players: dict[str, Player] = {}
        self._playing = 0

    async def run(self, root: Mapping[str, Any], gm_host: str, more: tuple[str, ...] = ()) -> list[Player]:
        """Return all accounts that were named, players first. `more`: accounts to be looked into besides."""
        gm = parse_record_uri(self._watched.game).authority
        for did in (gm, *more, *dids_in(root)):
            self._name(did)
        await self._look()
        # A relay that does not know the GM does not know the game's hosts either.
        if not (self._relay and await self._ask_relay() and gm in self._indexed):
            await self._ask_host(gm_host)
        await self._look()
        return sorted(self._players.values(), key=lambda each: (not each.plays, each.state, each.did))

    # --- names ---------------------------------------------------------------------------------------------

    def _name(self, did: str, *, by_record: bool = False) -> None:
        """Take a name that somebody gave."""
        if did in self._named or not has_repository(did) or self._skip(did):
            return
        if by_record:
            if self._of_records >= self._bounds.named:
                return
            self._of_records += 1
        self._named.add(did)
        if len(self._named) > self._bounds.dids:
            self._note(Player(did, NOT_ASKED, says=f"more than {self._bounds.dids} accounts were named"))
        else:
            self._waiting.append(did)

    async def _ask_relay(self) -> bool:
        """Ask a relay for each collection of the game; return whether it answered all of it."""
        most, answered = self._bounds.dids + 1, True
        for collection in self._watched.collections:
            if not is_nsid(collection):
                continue
            self._tell(f"asking {self._relay} for {collection}")
            try:
                async for did in by_collection(self._client, self._relay, collection, most):
                    self._indexed.add(did)
                    self._name(did)
            except (Refused, Unavailable) as error:
                self.failed.append(f"{self._relay}: {error.message} ({error.code})")
                answered = False
        return answered

    async def _ask_host(self, host: str) -> None:
        self._tell(f"asking {host} for its accounts")
        try:
            async for did in of_host(self._client, host, self._bounds.hosted):
                self._name(did)
        except (Refused, Unavailable) as error:
            self.failed.append(f"{host}: {error.message} ({error.code})")

    # --- looking into them ---------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Look into everybody who waits, and into whoever is named on the way."""
        while self._waiting:
            turn = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._bounds.beside))]
            for player in await asyncio.gather(*(self._one(did) for did in turn)):
                self._note(player)

    def _note(self, player: Player) -> None:
        self._players[player.did] = player
        self._playing += player.plays
        self._tell("looking into repositories")

    def _tell(self, doing: str) -> None:
        self._told(Progress(len(self._named), len(self._players), self._playing, doing))

    async def _one(self, did: str) -> Player:
        identity: Identity | None = None
        try:
            identity = await self._patient(lambda: self._resolver.identity(did))
            if self._failures[identity.host] >= self._bounds.failures:
                return Player(did, NOT_ASKED, identity.host, says="its host does not answer for others")
            return await self._verified(identity)
        except (Refused, Unavailable) as error:
            host = None if identity is None else identity.host
            if host is not None and isinstance(error, Unavailable):
                self._failures[host] += 1
            return Player(did, error.code, host, says=error.message)

    async def _verified(self, identity: Identity) -> Player:
        did, host = identity.did, identity.host
        if not await self._may_hold(identity) or await self._is_unchanged(identity):
            return Player(did, NO_RECORDS, host, handle=identity.handle)
        async with self._fetching:
            bundle = await self._patient(lambda: self._fetch(identity))
        records = self._records(bundle)
        if not records:
            self._unchanged[did] = bundle.commit.rev
            return Player(did, NO_RECORDS, host, handle=identity.handle)
        handle = identity.handle
        verified = self._handles and handle is not None and await handle_holds(self._client, handle, did)
        return Player(did, PLAYS, host, records, handle, verified)

    async def _may_hold(self, identity: Identity) -> bool:
        """Whether a host says that an account has any of the game's collections: a small question before a large one.

        Where it does not say it, the repository is fetched.
        """
        answer = await self._said(f"{identity.host}/xrpc/com.atproto.repo.describeRepo?repo={identity.did}")
        collections = answer.get("collections")
        if not isinstance(collections, list):
            return True
        return any(self._watched.wants(identity.did, f"{each}/-") for each in collections) or (
            self._watched.game.startswith(f"at://{identity.did}/")
        )

    async def _is_unchanged(self, identity: Identity) -> bool:
        rev = self._unchanged.get(identity.did)
        if rev is None:
            return False
        url = f"{identity.host}/xrpc/com.atproto.sync.getLatestCommit?did={identity.did}"
        return (await self._said(url)).get("rev") == rev

    async def _said(self, url: str) -> Mapping[str, Any]:
        """Return what a host says of an account, unsigned; nothing where that is no answer. Raises Unavailable."""
        try:
            answer: Any = json.loads(await self._patient(lambda: self._client.get(url, MAX_DESCRIPTION)))
        except (Refused, ValueError, RecursionError):
            return {}
        return answer if isinstance(answer, dict) else {}

    async def _fetch(self, identity: Identity) -> Bundle:
        pieces: list[bytes] = []
        async for piece in self._client.pieces(repo_address(identity), MAX_REPO):
            self._bytes += len(piece)
            if self._bytes > self._bounds.bytes:
                raise AnswerTooLarge(
                    f"repositories of more than {self._bounds.bytes} bytes in all were fetched"
                )
            pieces.append(piece)
        return whole_repo(pieces, identity)

    def _records(self, bundle: Bundle) -> int:
        """Count the records of the game in a repository, and take the names in them."""
        did, found = bundle.identity.did, 0
        for path, cid in bundle.tree.items():
            if not self._watched.wants(did, path):
                continue
            try:
                record = bundle.record(path, cid)
                if self._watched.is_of_game(did, path, record):
                    found += 1
                    for each in dids_in(codec.decode(record)):
                        self._name(each, by_record=True)
            except Refused:
                continue
        return found

    async def _patient(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something that asks a host, waiting while that has been asked as often as is kind."""
        for _ in range(WAITS):
            try:
                return await work()
            except HostLimit:
                self._tell("waiting, so as not to ask a host too often")
                await asyncio.sleep(WAIT)
        return await work()


async def fetch_root(client: Guarded, resolver: Resolver, game: str) -> tuple[dict[str, Any], Identity]:
    """Return the root of a game as its own host proves it, and whose it is.

    Raises BadAtUri, NoRepository, RootAbsent, and what resolving, fetching and verifying do.
    """
    uri = parse_record_uri(game)
    if not has_repository(uri.authority):
        raise NoRepository(
            f"{uri.authority} has no repository: the records of this game are handed in at its nodes, and a"
            " follower of it is made with `weighbridge node init`"
        )
    identity = await resolver.identity(uri.authority)
    path = f"{uri.collection}/{uri.rkey}"
    bundle = await fetch_record(client, identity, path)
    cid = bundle.tree.get(path)
    if cid is None:
        raise RootAbsent(f"{game} is not there: its host proves that it is absent", uri=game)
    value = open_carried(bundle.carry(path, cid)).value
    if not isinstance(value, dict):
        raise BadAtUri(f"{game} is no map, and so no root", uri=game)
    return value, identity
