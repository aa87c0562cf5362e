"""What is asked of the host of a repository, and verified whole before it is believed."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from weighbridge.repos import (
    MAX_REPO,
    MAX_SLICE,
    check_commit,
    load,
    lookup,
    proved,
    read_commit,
    read_repo,
    read_slice,
)

from weighbridge_atproto.documents import Identity
from weighbridge_atproto.guarded import Guarded
from weighbridge_atproto.watching import Bundle

SYNC: Final = "/xrpc/com.atproto.sync."


async def fetch_repo(client: Guarded, identity: Identity, host: str | None = None) -> Bundle:
    """Return a whole repository from a host (None: its own), verified: every block, the commit, the tree.

    Raises what the client, CARs, commits and trees do.
    """
    pieces = [piece async for piece in client.pieces(repo_address(identity, host), MAX_REPO)]
    return whole_repo(pieces, identity)


def repo_address(identity: Identity, host: str | None = None) -> str:
    """Return where a whole repository is fetched: at a host (None: its own)."""
    return f"{host or identity.host}{SYNC}getRepo?{urlencode({'did': identity.did})}"


def whole_repo(pieces: list[bytes], identity: Identity) -> Bundle:
    """Return a whole repository from the pieces of a CAR, verified against an identity. Raises as `fetch_repo`."""
    car = read_repo(pieces)
    commit = read_commit(car.head)
    check_commit(commit, identity.did, identity.key)
    return Bundle(identity, commit, load(car.blocks, commit.data), car)


async def fetch_record(client: Guarded, identity: Identity, path: str) -> Bundle:
    """Return what the host proves of one path: a record, or that there is none. Raises as `fetch_repo`."""
    collection, _, rkey = path.partition("/")
    asked = urlencode({"did": identity.did, "collection": collection, "rkey": rkey})
    data = await client.get(f"{identity.host}{SYNC}getRecord?{asked}", MAX_SLICE)
    car = read_slice(data)
    commit = read_commit(car.head)
    check_commit(commit, identity.did, identity.key)
    lookup(commit.data, path, car.blocks)
    proved(commit, path, car)
    return Bundle(identity, commit, load(car.blocks, commit.data, partial=True), car)
