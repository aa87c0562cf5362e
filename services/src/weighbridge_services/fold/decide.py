"""What the fold service decides: what to publish of a transcript, when, and what to say with it.

Pure. Whether a record counts is the fold's to say (`weighbridge.fold`); here is what becomes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.fold import Root
from weighbridge.fold.operators import listing_origin
from weighbridge.identity import OperatorRecord, open_note
from weighbridge.log.checkpoint import Checkpoint

from weighbridge_services.folding.store import Era

MESSAGE_BYTES: Final = 4 << 20
"""Bytes of leaves and deltas in one message of the transcript, above which another begins."""
QUESTION: Final = "_/question/"


class Batch(NamedTuple):
    """One message of the transcript: some `leaves` of an origin, from `start` on."""

    origin: str
    start: int
    leaves: int


def batches(leaves: Iterable[tuple[str, int, int]]) -> Iterator[Batch]:
    """Yield the messages for leaves in order, each given as its origin, place, and size in bytes."""
    origin, start, count, weight = "", 0, 0, 0
    for of, place, size in leaves:
        if count and (of != origin or weight + size > MESSAGE_BYTES):
            yield Batch(origin, start, count)
            count = 0
        if not count:
            origin, start, weight = of, place, 0
        count, weight = count + 1, weight + size
    if count:
        yield Batch(origin, start, count)


def new_leaves(eras: Sequence[Era], done: int, size: int) -> Iterator[tuple[str, int]]:
    """Yield origin and place of the leaves that entries from `done` to before `size` brought, in order.

    A genesis leaf comes with the first entry of its era: it says nothing that the old root does not.
    """
    for number, era in enumerate(eras):
        end = eras[number + 1].start if number + 1 < len(eras) else size
        first, last = max(era.start, done), min(end, size)
        if first < last:
            begin = 0 if first == era.start else era.index_of(first)
            yield from ((era.origin, place) for place in range(begin, era.index_of(last)))


def to_sign(sizes: Iterable[int], folded: int, done: int) -> list[int]:
    """Return the lister's checkpoint sizes that are to be cosigned now, ascending: folded, and above the last one."""
    return sorted(size for size in set(sizes) if done < size <= folded)


def weaknesses(root: Root | None) -> list[str]:
    """Return what a statement says of the game itself, where less is shown than a reader might think."""
    if root is None:
        return []
    said = [
        ("private chain", root.chain.private),
        ("lister-timed", not root.operators()),
        ("no witnesses", root.witnesses is None),
    ]
    return [word for word, holds in said if holds]


def listing_checkpoint(
    data: bytes, game: str, lister: OperatorRecord | None
) -> tuple[Checkpoint, bytes] | str:
    """Return the lister's checkpoint that a message holds, and its note; or the code of why it is none.

    Without the lister's keys nothing is verified but the form. That suffices here: only the root that this
    node's own log has at that size makes anything of it.
    """
    try:
        value: Any = codec.decode(data)
        note = value.get("note") if isinstance(value, dict) else None
        if not isinstance(note, str):
            return "no-note"
        text = note.split("\n\n", 1)[0] + "\n"
        if lister is not None:
            text = open_note(note.encode(), [lister.log]).text
        return Checkpoint.parse(text, listing_origin(game)), note.encode()
    except Refused as refused:
        return refused.code


def opened_questions(delta: Mapping[str, bytes | None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the cell of each question that a delta's cells open."""
    for key, data in delta.items():
        if key.startswith(QUESTION) and data is not None:
            value: Any = codec.decode_own(data)
            yield key.removeprefix(QUESTION), value


def question_message(game: str, id: str, cell: Mapping[str, Any]) -> bytes:
    """Return the message of a question: its cell, with its id and the game."""
    kept = {name: value for name, value in cell.items() if value is not None and name != "id"}
    return codec.encode({**kept, "id": id, "game": game})


def addressee(cell: Mapping[str, Any], gm: str | None) -> str:
    """Return whom a question is to: the GM's DID, or the role as the rule set names it."""
    to = cell.get("to", "gm")
    return gm if to == "gm" and gm is not None else str(to)


def transcript_message(batch: Batch, leaves: Sequence[bytes], deltas: Sequence[bytes]) -> bytes:
    """Return one message of the transcript."""
    return codec.encode(
        {"origin": batch.origin, "from": batch.start, "leaves": list(leaves), "deltas": list(deltas)}
    )


def contradicts(signed: Mapping[tuple[str, int], bytes], roots: Mapping[tuple[str, int], bytes]) -> bool:
    """Whether this node's key has signed, for any origin and size, another root than it finds now."""
    return any(roots.get(at, root) != root for at, root in signed.items())
