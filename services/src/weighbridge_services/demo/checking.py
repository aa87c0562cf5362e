"""The demo's own word on what the nodes agreed on: everything again from the log, with none of their memory.

Nothing here asks a node. From the bytes of the log alone: the chain of entries, every record's signature,
every beacon against quicknet's public key, the fold, and each die from its beacon's randomness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.beacon import verify
from weighbridge.contract import RuleSet
from weighbridge.dice import QUICKNET, Stream, round_after
from weighbridge.errors import Refused
from weighbridge.fold import Fold
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.records import BEACON
from weighbridge.identity import VerifierKey, open_envelope, open_note
from weighbridge.log import MerkleLog
from weighbridge.log.chain import check_next
from weighbridge.log.checkpoint import Checkpoint
from weighbridge.log.entries import Listed, read_listed

from weighbridge_services.demo.errors import DemoUntrue
from weighbridge_services.demo.season import GAME, MARGIN

PURPOSES: Final = {"ask": "ask", "between": "resist"}
"""By kind of move, the purpose of its dice: also the first part of the key of the cell that shows them."""
LATE: Final = frozenset(
    (
        "untimely",
        "lister-timed",
        "bad-receipt",
        "bad-beacon",
        "pending-trace",
        "unsettled-trace",
        "rule-fault",
    )
)
"""Reports that no record of a recorded season has: its followers are punctual."""


class Message(NamedTuple):
    """One message of a log stream: the entry's bytes, its record's, and the envelope that proves it."""

    entry: bytes
    record: bytes | None
    proof: bytes | None


class Roll(NamedTuple):
    """A roll whose dice were worked out again: whose record, listed when (µs), on which round, and its faces."""

    seq: int
    uri: str
    at: int
    round: int
    signature: bytes
    purpose: str
    faces: tuple[int, ...]


class Checked(NamedTuple):
    """What came of checking: the fold, its log, and every roll, oldest first. All rolls are timely."""

    fold: Fold
    listed: list[Listed]
    rolls: list[Roll]

    @property
    def dice(self) -> int:
        """How many dice were checked."""
        return sum(len(roll.faces) for roll in self.rolls)


def check(messages: Sequence[Message], note: bytes, key: VerifierKey, ruleset: RuleSet, pin: str) -> Checked:
    """Check a log up to the lister's checkpoint `note`, signed with `key`, and fold it. Raises DemoUntrue.

    `messages` are at least the entries that the checkpoint is over; what comes after them is left alone.
    """
    try:
        checkpoint = Checkpoint.parse(open_note(note, [key]).text, listing_origin(GAME))
        listed = _chain(messages[: checkpoint.size], checkpoint)
        fold = Fold(GAME, ruleset, pin=pin)
        for each in listed:
            fold.fold(each)
        _timely(fold)
        return Checked(fold, listed, _rolls(fold, listed, _beacons(listed)))
    except Refused as refused:
        raise DemoUntrue(f"the log does not hold: {refused.message} ({refused.code})") from refused


def _chain(messages: Sequence[Message], checkpoint: Checkpoint) -> list[Listed]:
    found: list[Listed] = []
    log = MerkleLog()
    for message in messages:
        listed = read_listed(message.entry, message.record)
        last = found[-1] if found else None
        check_next(last.entry if last else None, last.cid if last else None, listed.entry, GAME)
        _proven(listed, message.proof)
        found.append(listed)
        log.append(listed.data)
    if (log.size, log.root()) != (checkpoint.size, checkpoint.root):
        raise DemoUntrue("the log is not the one that the lister's checkpoint is over")
    return found


def _proven(listed: Listed, proof: bytes | None) -> None:
    entry = listed.entry
    if entry.uri is None:
        return
    envelope = open_envelope(proof or b"")
    if (envelope.uri, envelope.author, envelope.record) != (entry.uri, entry.author, listed.record):
        raise DemoUntrue(f"entry {entry.seq} is not what its author signed")


def _beacons(listed: Sequence[Listed]) -> dict[int, tuple[bytes, bytes]]:
    """Return each round's signature and randomness, verified against quicknet's public key."""
    found: dict[int, tuple[bytes, bytes]] = {}
    for each in listed:
        if each.entry.uri is None or each.record is None or each.entry.uri.split("/")[3] != BEACON:
            continue
        value: Any = codec.decode(each.record)
        found[value["round"]] = (value["signature"], verify(QUICKNET, value["round"], value["signature"]))
    return found


def _timely(fold: Fold) -> None:
    for key, codes in fold.table.items("_/report/"):
        found = sorted(LATE & codes.keys())
        if found:
            raise DemoUntrue(f"{key.removeprefix('_/report/')} is {found[0]}: {codes[found[0]]}")
    for pending in fold.world.pendings.values():
        raise DemoUntrue(f"{pending.uri} still waits for its evidence")


def _rolls(fold: Fold, listed: Sequence[Listed], beacons: Mapping[int, tuple[bytes, bytes]]) -> list[Roll]:
    found: list[Roll] = []
    for each in listed:
        entry = each.entry
        value: Any = None if each.record is None else codec.decode(each.record)
        purpose = PURPOSES.get(value.get("kind", "")) if isinstance(value, dict) else None
        if purpose is None or entry.uri is None or entry.record is None or entry.op != "create":
            continue
        faces = _shown(fold, purpose, entry.uri)
        if faces is None:
            continue
        number = round_after(QUICKNET, entry.at, MARGIN)
        if number not in beacons:
            raise DemoUntrue(
                f"{entry.uri} shows dice, and the beacon of its round {number} is not in the log"
            )
        signature, randomness = beacons[number]
        drawn = tuple(Stream(randomness, GAME, entry.uri, entry.record, purpose).roll(len(faces), 6))
        if drawn != faces:
            raise DemoUntrue(f"{entry.uri} shows {faces}, and its beacon gives {drawn}")
        found.append(Roll(entry.seq, entry.uri, entry.at, number, signature, purpose, faces))
    return found


def _shown(fold: Fold, purpose: str, uri: str) -> tuple[int, ...] | None:
    did, _, rkey = uri.removeprefix("at://").split("/")
    cell: Any = fold.table.get(f"{purpose}/{did}:{rkey}")
    return tuple(cell["dice"]) if cell is not None and cell.get("dice") else None
