"""Asking an index who may play: a relay by collection, or a host for all it has. What it says is a hint, no more.

Who answers may name anybody, the same ones again, or a next page for ever: what is asked of it is bounded, and what
is not the form of an answer ends the asking. Source: the Lexicons `com.atproto.sync.listReposByCollection` and
`com.atproto.sync.listRepos`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from weighbridge.ports import Refused

from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.naming import has_repository

RELAY: Final = "https://relay1.us-east.bsky.network"
"""The public relay that is asked where no other is named."""
PAGE: Final = 1000
"""DIDs that are asked for at a time: what both methods give at most."""
PAGES: Final = 64
"""Pages of one question."""
STALE: Final = 2
"""Pages in a row that may name nobody new."""
MAX_CURSOR: Final = 2048


class IndexForm(Refused):
    """An index answers what is no list of repositories."""

    code = "index-form"


class Page(NamedTuple):
    """One answer: the accounts that are active and may have a repository, and where to go on."""

    dids: tuple[str, ...]
    cursor: str | None


async def by_collection(client: Guarded, relay: str, collection: str, most: int) -> AsyncIterator[str]:
    """Yield the DIDs, `most` of them, that a relay says have records of a collection.

    Raises IndexForm, and what the client raises.
    """
    asked = {"collection": collection}
    async for did in _named(client, relay, "listReposByCollection", asked, most):
        yield did


async def of_host(client: Guarded, host: str, most: int) -> AsyncIterator[str]:
    """Yield the DIDs, `most` of them, of the active accounts of a host. Raises as `by_collection`."""
    async for did in _named(client, host, "listRepos", {}, most):
        yield did


async def _named(
    client: Guarded, host: str, method: str, asked: dict[str, str], most: int
) -> AsyncIterator[str]:
    seen: set[str] = set()
    cursors: set[str] = set()
    stale = 0
    cursor: str | None = None
    for _ in range(PAGES):
        query = {**asked, "limit": str(PAGE), **({} if cursor is None else {"cursor": cursor})}
        page = read_page(
            await client.get(f"{host.rstrip('/')}/xrpc/com.atproto.sync.{method}?{urlencode(query)}")
        )
        fresh = [did for did in dict.fromkeys(page.dids) if did not in seen]
        for did in fresh[: most - len(seen)]:
            seen.add(did)
            yield did
        stale = 0 if fresh else stale + 1
        if page.cursor is None or page.cursor in cursors or stale >= STALE or len(seen) >= most:
            return
        cursor = page.cursor
        cursors.add(cursor)


def read_page(data: bytes) -> Page:
    """Return what an answer says. An account that is said not to be active is left out. Raises IndexForm."""
    try:
        answer: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IndexForm(f"the index answers no JSON: {error}") from error
    repos = answer.get("repos") if isinstance(answer, dict) else None
    if not isinstance(repos, list) or not all(isinstance(each, dict) for each in repos):
        raise IndexForm("the index answers no list of repositories")
    cursor = answer.get("cursor")
    if cursor is not None and (not isinstance(cursor, str) or len(cursor) > MAX_CURSOR):
        raise IndexForm("the index answers a cursor that is none")
    active = [
        each["did"] for each in repos if each.get("active") is not False and has_repository(each.get("did"))
    ]
    return Page(tuple(active), cursor or None)
