"""Handles: names for people, which mean an account only where the name's own host and the account both say so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from weighbridge.ports import Refused, Unavailable

from weighbridge_atproto.documents import Identity
from weighbridge_atproto.guarded import Guarded

NOT_VERIFIED: Final = "handle not verified"
MAX_HANDLE_ANSWER: Final = 2_048

Holds = Callable[[str, str], Awaitable[bool]]
"""Whether the host of a handle names an account."""


async def handle_holds(client: Guarded, handle: str, did: str) -> bool:
    """Whether the host of a handle names the account. What only its DNS says is not asked for."""
    try:
        answer = await client.get(f"https://{handle}/.well-known/atproto-did", MAX_HANDLE_ANSWER)
    except (Refused, Unavailable):
        return False
    return answer.strip() == did.encode()


def asking(client: Guarded) -> Holds:
    """Return what asks the hosts of handles over https."""
    return partial(handle_holds, client)


async def is_verified(handle: str, identity: Identity, holds: Holds) -> bool:
    """Whether a handle is the account's: its document claims it, and the handle's host names the account."""
    claimed = identity.handle is not None and identity.handle.lower() == handle.lower()
    return claimed and await holds(handle, identity.did)
