"""Which accounts a value names: DIDs and at-uris among its texts, of methods that have repositories. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from weighbridge.repos import is_did

MAX_DID: Final = 256
"""Characters of a DID that is followed up; those in use have 32, or are a host's name."""


def has_repository(did: object) -> bool:
    """Whether a DID is of a method whose accounts have repositories."""
    return (
        isinstance(did, str)
        and len(did) <= MAX_DID
        and did.startswith(("did:plc:", "did:web:"))
        and is_did(did)
    )


def dids_in(value: Any) -> Iterator[str]:
    """Yield the DIDs that a record names, in its order, each once; of at-uris their authority."""
    seen: set[str] = set()
    # A stack of its own: how deep a record goes is its author's to say.
    left: list[Any] = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += reversed(each.values())
        elif isinstance(each, list):
            left += reversed(each)
        elif isinstance(each, str):
            did = each.removeprefix("at://").partition("/")[0] if each.startswith("at://") else each
            if has_repository(did) and did not in seen:
                seen.add(did)
                yield did
