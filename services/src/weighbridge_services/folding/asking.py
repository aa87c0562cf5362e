"""The forms of what services and commands ask a fold, and how they are read."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from weighbridge import codec
from weighbridge.errors import Refused

from weighbridge_services.folding.errors import BadQuestion

S = TypeVar("S", bound=msgspec.Struct)


class Subtree(msgspec.Struct, frozen=True):
    """`rpc.subtree`: the hash over some leaves of a transcript."""

    origin: str
    start: int
    end: int


class LeafOf(msgspec.Struct, frozen=True, omit_defaults=True):
    """`rpc.leaf`: a leaf by its place, with what proves it in the transcript of `size` leaves (0: all)."""

    origin: str
    index: int
    size: int = 0


class CellOf(msgspec.Struct, frozen=True):
    """`rpc.cell`, `rpc.explain`: a cell by its key."""

    key: str


class Me(msgspec.Struct, frozen=True):
    """`rpc.me`: what concerns one player."""

    did: str


class Entries(msgspec.Struct, frozen=True):
    """`rpc.entries`: some folded entries with the cells they changed."""

    start: int
    count: int


class Grades(msgspec.Struct, frozen=True):
    """`rpc.grades`: how far the log proves whose key signed some entries."""

    seqs: tuple[int, ...]


class Stop(msgspec.Struct, frozen=True):
    """`rpc.stop`: an `abstain` statement of this very node, as an envelope's bytes."""

    statement: bytes


def question(body: bytes, kind: type[S]) -> S:
    """Return a question. Raises BadQuestion."""
    try:
        return codec.decode_as(body, kind)
    except Refused as refused:
        raise BadQuestion(f"this is not asked so: {refused.message}") from refused
