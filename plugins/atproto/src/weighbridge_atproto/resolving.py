"""From a DID to who it is, asked of its directory or its host, kept, and asked again when that may have changed."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

from weighbridge_atproto.documents import MAX_DOCUMENT, Identity, document_address, read_document
from weighbridge_atproto.errors import DidGone
from weighbridge_atproto.guarded import AnswerStatus, Guarded
from weighbridge_atproto.keeping import Keeping

DIRECTORY: Final = "https://plc.directory"
REFRESH: Final = 60.0
"""Seconds between two askings for one DID because a signature did not hold."""


class Resolver:
    """Resolves DIDs. `clock`: seconds that only grow."""

    def __init__(
        self,
        client: Guarded,
        keeping: Keeping,
        directory: str = DIRECTORY,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._client = client
        self._keeping = keeping
        self._directory = directory
        self._clock = clock
        self._refreshed: dict[str, float] = {}
        self._pruned = clock()

    async def identity(self, did: str) -> Identity:
        """Return who a DID is, as last fetched. Raises what documents and the client do, and DidGone."""
        kept = self._keeping.document(did)
        return read_document(did, kept) if kept is not None else await self._fetch(did)

    async def again(self, did: str) -> Identity | None:
        """Return who a DID is now, asked again; None where it was asked again a moment ago."""
        now, before = self._clock(), self._refreshed.get(did)
        if before is not None and now - before < REFRESH:
            return None
        if now - self._pruned >= REFRESH:
            # Anybody has as many DIDs as they like.
            self._refreshed = {each: at for each, at in self._refreshed.items() if now - at < REFRESH}
            self._pruned = now
        self._refreshed[did] = now
        return await self._fetch(did)

    def forget(self, did: str) -> None:
        """Ask again next time: something about it may have changed."""
        self._keeping.drop_document(did)

    async def _fetch(self, did: str) -> Identity:
        address = document_address(did, self._directory)
        try:
            data = await self._client.get(address, MAX_DOCUMENT)
        except AnswerStatus as error:
            raise DidGone(f"{did} has no document: {error.message}", did=did) from error
        identity = read_document(did, data)
        self._keeping.keep_document(did, identity.cid, data)
        return identity
