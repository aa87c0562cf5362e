"""Under what a record counts towards the limits of a day's log: the lister and its followers count alike. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, Final

from weighbridge.errors import Refused
from weighbridge.fold.records import ACCOUNT, BEACON, KERNEL_COLLECTIONS, RECEIPT
from weighbridge.log.checkpoint import Checkpoint

EVIDENCE: Final = "evidence/"
LOOSE: Final = "loose/"
"""Before a DID: under what an operator's evidence counts, and what of it is bounded by nothing else."""


def counts_as(author: str | None, uri: str | None, game: str, operators: Set[str]) -> str | None:
    """Return under what a record counts towards the limits of a day; None: it does not, as the root does not.

    Its author; of operators' evidence `EVIDENCE` and its author, which has a wide limit; `ACCOUNT`. What a lister
    hears of accounts nobody has signed, and whoever runs a host says as much of it as they like: all of it together
    has a limit, which takes no author's place. Operators' receipts and beacons are bounded by what there is to
    receipt and by rounds; those that are not count as `LOOSE`, see `is_loose`.
    """
    if author is None or uri is None or uri == game:
        return None
    collection = uri.split("/")[3]
    if author not in operators or collection not in KERNEL_COLLECTIONS:
        return author
    if collection in (RECEIPT, BEACON):
        return None
    return ACCOUNT if collection == ACCOUNT else EVIDENCE + author


def is_loose(collection: str, value: Mapping[str, Any], seq: int, sound: bool) -> bool:
    """Whether an operator's record, listed as `seq`, is a receipt or a beacon that nothing bounds: it is of no
    checkpoint that there can be, or of no round that verifies (`sound`)."""
    if collection == BEACON:
        return not sound
    size = size_in(value) if collection == RECEIPT else 0
    return size is None or size > seq


def round_in(value: Mapping[str, Any]) -> int | None:
    """Return the round that a beacon record names, if it names one."""
    number = value.get("round")
    return number if type(number) is int else None


def is_receipt(uri: str | None) -> bool:
    """Whether a uri is that of a receipt."""
    return uri is not None and uri.split("/")[3] == RECEIPT


def size_in(value: Mapping[str, Any]) -> int | None:
    """Return the size of the checkpoint that a receipt cosigns, if it can be read."""
    note = value.get("checkpoint")
    if not isinstance(note, str):
        return None
    try:
        return Checkpoint.parse(note.split("\n\n", 1)[0] + "\n").size
    except Refused:
        return None
