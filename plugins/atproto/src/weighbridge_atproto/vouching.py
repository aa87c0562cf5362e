"""Whose a key is, found out by this node itself: by the history of a did:plc, or the document of a did:web.

Only a history contradicts: nobody can add a key to it, and it only grows. That there is no more of it than a
directory gives is its word, and one may lag: so the follower believes a contradiction only of an old listing, and
only when it is said again. A document that names another key does not contradict. A did:web's host may show each
asker another one, so whoever has such a DID could have a lister accused by its followers; and it keeps no history,
so a key that was changed since is no longer to be found.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from hashlib import sha256
from time import time_ns
from typing import Any, Final, Generic, TypeVar

from weighbridge.ports import Given, KeyAsked, Pause, Refused, Source, Told, Unavailable, Vouched

from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.keeping import Keeping
from weighbridge_atproto.plc import MAX_LOG, Span, check_grown, read_history
from weighbridge_atproto.resolving import DIRECTORY, Resolver
from weighbridge_atproto.settings import path_in, read_settings

LATE: Final = 600_000_000
"""How long (µs) after another key took its place a record may be listed under one: commits wait to be verified."""
FRESH: Final = 60_000_000
"""How old (µs) a history may be to be asked about another key of the same DID."""

S = TypeVar("S", bound=Source)


class DidVoucher:
    """Asks directories and hosts. `clock`: the time (µs)."""

    def __init__(
        self,
        client: Guarded,
        keeping: Keeping,
        directory: str = DIRECTORY,
        *,
        clock: Callable[[], int] = lambda: time_ns() // 1000,
    ) -> None:
        self._client = client
        self._keeping = keeping
        self._directory = directory.rstrip("/")
        self._resolver = Resolver(client, keeping, directory)
        self._clock = clock

    async def close(self) -> None:
        """Let go of connections and the file."""
        await self._client.close()
        self._keeping.close()

    async def vouch(self, asked: KeyAsked) -> Vouched:
        """Return what is found out about a key. Raises KeepingBroken."""
        if asked.did.startswith("did:key:"):
            return _of_did_key(asked)
        if asked.did.startswith("did:plc:"):
            return await self._by_history(asked)
        return await self._by_document(asked)

    # --- did:plc -------------------------------------------------------------------------------------------

    async def _by_history(self, asked: KeyAsked) -> Vouched:
        found = await self._by_kept(asked, self._clock() - FRESH)
        if found is not None:
            return found
        try:
            return judged(await self._fetch(asked.did), asked)
        except (Refused, Unavailable) as error:
            # No directory can take back what this node has verified of one.
            found = await self._by_kept(asked, asked.listed - LATE)
            if found is not None:
                return found
            says = f"the history of {asked.did}: {error.message} ({error.code})"
        # A directory of another make may have no histories.
        found = await self._by_document(asked)
        return found if found.verdict == "vouched" else Vouched("unavailable", says)

    async def _by_kept(self, asked: KeyAsked, since: int) -> Vouched | None:
        """Return what the history kept since a time (µs) vouches for; None for nothing."""
        kept = self._keeping.history(asked.did)
        if kept is None or kept[1] < since:
            return None
        found = judged(await self._read(asked.did, kept[0]), asked)
        return found if found.verdict == "vouched" else None

    async def _fetch(self, did: str) -> tuple[Span, ...]:
        data = await self._client.get(f"{self._directory}/{did}/log/audit", MAX_LOG)
        at, spans = self._clock(), await self._read(did, data)
        kept = self._keeping.history(did)
        if kept is not None:
            check_grown(did, kept[0], data)
        self._keeping.keep_history(did, data, at)
        return spans

    async def _read(self, did: str, data: bytes) -> tuple[Span, ...]:
        # Of a history of a thousand operations this takes a second, in which the node has other things to do.
        return await asyncio.to_thread(read_history, did, data)

    # --- documents -----------------------------------------------------------------------------------------

    async def _by_document(self, asked: KeyAsked) -> Vouched:
        try:
            identity = await self._resolver.again(asked.did) or await self._resolver.identity(asked.did)
        except (Refused, Unavailable) as error:
            return Vouched("unavailable", f"the document of {asked.did}: {error.message} ({error.code})")
        if identity.key.did_key == asked.key:
            says = f"the document of {asked.did} names the key"
            return Vouched("vouched", says, "document", str(identity.cid))
        says = f"the document of {asked.did} names {identity.key.did_key} now, which proves nothing of before"
        return Vouched("unavailable", says, evidence=str(identity.cid))


def judged(spans: Sequence[Span], asked: KeyAsked) -> Vouched:
    """Return what a history says of a key. Pure."""
    named = [span for span in spans if span.key == asked.key]
    if not named:
        now = spans[-1]
        says = (
            f"{asked.key} never was the key of {asked.did} by its history of {len(spans)} operations, up to "
            f"{now.operation}, all verified"
        )
        return Vouched("contradicted", says, "plc-log", str(now.operation))
    for span in reversed(named):
        if span.until is None or asked.listed <= span.until + LATE:
            says = f"the history of {asked.did} names the key"
            return Vouched("vouched", says, "plc-log", str(span.operation), span.until)
    # Whoever has got hold of a key that was given up signs with it as well as its owner did.
    says = f"{asked.key} was the key of {asked.did}, and another took its place well before the listing"
    return Vouched("unavailable", says, evidence=str(named[-1].operation))


def _of_did_key(asked: KeyAsked) -> Vouched:
    if asked.did == asked.key:
        return Vouched("vouched", "a did:key is its own key", "did-key")
    return Vouched("contradicted", f"{asked.did} is its own key, and {asked.key} is another", "did-key")


# --- as part of a source -----------------------------------------------------------------------------------


class WithVoucher(Generic[S]):
    """How a source of this plugin is opened, and what finds out whose its records' keys are."""

    def __init__(self, open_source: Callable[[Mapping[str, Any], str], S]) -> None:
        self._open_source = open_source

    def __call__(self, settings: Mapping[str, Any], folder: str) -> S:
        """Open the source. Raises what it does."""
        return self._open_source(settings, folder)

    def open_voucher(self, settings: Mapping[str, Any], folder: str) -> DidVoucher:
        """Open the voucher. Raises BadSettings, KeepingBroken."""
        read = read_settings(settings)
        name = sha256(read.game.encode()).hexdigest()[:16]
        keeping = Keeping(path_in(folder, f"atproto-keys-{name}.db"))
        return DidVoucher(Guarded(loopback=read.development), keeping, read.directory)


class NoRecords:
    """A source for a follower that only finds out whose keys are whose: nothing comes from it."""

    name = "keys"

    async def read(self, position: int) -> AsyncIterator[tuple[int, Given | Told | Pause]]:
        """Yield nothing, for ever."""
        await asyncio.Event().wait()
        yield position, Pause()

    async def close(self) -> None:
        """Let go of nothing."""


def open_keys(settings: Mapping[str, Any], folder: str) -> NoRecords:
    """Open a source of nothing. Raises BadSettings."""
    read_settings(settings)
    return NoRecords()
