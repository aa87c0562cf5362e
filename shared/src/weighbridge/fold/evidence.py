"""What the log says about pending dockets: beacons, trace reports, receipts, and what a scenario states outright."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from weighbridge.beacon import BadSignatureLength, verify, verify_many
from weighbridge.chain import Chain
from weighbridge.cid import BadCid, Cid
from weighbridge.codec import decode
from weighbridge.dice import round_time
from weighbridge.errors import Refused
from weighbridge.fold import deletions
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.handover import read_handover
from weighbridge.fold.judging import complete, fix_round
from weighbridge.fold.operators import Receipt, read_operator, read_receipt
from weighbridge.fold.records import (
    ACCOUNT,
    BEACON,
    DAY,
    HANDOVER,
    OPERATOR,
    RECEIPT,
    SCENARIO,
    TRACE,
    BeaconRecord,
    HandoverRecord,
    KernelRecord,
    Pending,
    ReceiptRecord,
    ScenarioRecord,
    TraceRecord,
    Word,
    place_of,
)
from weighbridge.fold.roots import Root
from weighbridge.fold.world import World
from weighbridge.log.entries import Listed

R = TypeVar("R", bound=KernelRecord)

SIGNATURE = 48
"""The bytes of a beacon's signature."""

MAX_VERIFIED = 4_096
"""Beacons whose verification is remembered: a refold meets them again."""


def take(world: World, listed: Listed, collection: str) -> None:
    """Fold a record of one of the kernel's collections, and complete what it completes, in listing order."""
    uri = listed.entry.uri or ""
    if collection == ACCOUNT:
        return
    first = world.history.first(uri)
    if listed.record is None or (first is not None and first < listed.entry.seq and collection != OPERATOR):
        return
    {
        BEACON: _beacon, TRACE: _trace, RECEIPT: _receipt, OPERATOR: _operator, SCENARIO: _scenario,
        HANDOVER: _handover,
    }[collection](world, listed)  # fmt: skip
    complete_all(world, world.at, world.at // DAY)


def complete_all(world: World, at: int, day: int) -> None:
    """Let every docket whose evidence is now all in the log take effect, in listing order.

    Only those that changed since the last time can have become complete; the others' cells are written.
    """
    changed = [
        (pending.seq, place, pending) for place in world.touched if (pending := world.pendings.get(place))
    ]
    world.touched.clear()
    for _, place, pending in changed:
        if not pending.complete:
            world.keep(place, pending)
    for _, place, pending in sorted(changed, key=lambda each: each[0]):
        if pending.complete:
            complete(world, place, pending, at, day)


def _read(world: World, listed: Listed, kind: type[R], code: str) -> R | None:
    uri = listed.entry.uri or ""
    try:
        record = msgspec.convert(decode(listed.record or b""), kind)
    except (msgspec.ValidationError, Refused):
        world.report(code, uri, "This record does not fit its type, so it is no evidence.")
        return None
    if record.game != world.game:
        world.report(code, uri, "This record names another game.")
        return None
    return record


# --- beacons -----------------------------------------------------------------------------------------------


def _beacon(world: World, listed: Listed) -> None:
    record = _read(world, listed, BeaconRecord, "bad-beacon")
    if record is not None:
        _use_beacon(world, listed.entry.uri or "", record.round, record.signature, record.chain)


def _use_beacon(world: World, uri: str, round: int, signature: bytes, chain: str | None = None) -> None:
    root = world.first_root()
    awaiting = [
        p for p in world.pendings.values() if p.round == round and p.beacon is None and p.values is None
    ]
    if root is None or not awaiting:
        return
    if chain is not None and chain != root.chain.hash:
        world.report("bad-beacon", uri, "This beacon is of another chain than the game's.")
        return
    answer = _verified(world, root.chain, round, signature)
    if isinstance(answer, Refused):
        world.report("bad-beacon", uri, f"This beacon does not verify ({answer.code}); the rolls still wait.")
        return
    for pending in awaiting:
        pending.beacon = answer
        world.change(place_of(pending.uri))


def _verified(world: World, chain: Chain, round: int, signature: bytes) -> bytes | Refused:
    key = (chain.hash, round, signature)
    if len(signature) != SIGNATURE:
        return BadSignatureLength(f"a signature has {SIGNATURE} bytes, not {len(signature)}")
    if key not in world.verified:
        try:
            world.verified[key] = verify(chain, round, signature)
        except Refused as refusal:
            world.verified[key] = refusal
        if len(world.verified) > MAX_VERIFIED:
            world.verified = {key: world.verified[key]}
    return world.verified[key]


def verify_ahead(world: World, batch: Iterable[Listed]) -> None:
    """Verify the beacons of entries that are about to be folded, together: a batch costs two pairings.

    Whether a beacon verifies is a function of its bytes and the chain alone, so when it is found out is not seen.
    """
    root = world.first_root()
    if len(world.verified) > MAX_VERIFIED:
        world.verified.clear()
    found: dict[tuple[int, bytes], None] = {}
    for listed in batch:
        uri = listed.entry.uri
        if uri is None or listed.record is None or uri.split("/")[3] != BEACON:
            continue
        try:
            record = msgspec.convert(decode(listed.record), BeaconRecord)
        except (msgspec.ValidationError, Refused):
            continue
        if len(record.signature) != SIGNATURE:
            continue
        if root is not None and (root.chain.hash, record.round, record.signature) not in world.verified:
            found[record.round, record.signature] = None
    if root is not None and len(found) > 1:
        for (round, signature), answer in zip(found, verify_many(root.chain, list(found)), strict=True):
            world.verified[root.chain.hash, round, signature] = answer


# --- traces ------------------------------------------------------------------------------------------------


def _trace(world: World, listed: Listed) -> None:
    record = _read(world, listed, TraceRecord, "bad-trace-report")
    if record is None:
        return
    uri, author = listed.entry.uri or "", listed.entry.author or ""
    pending = _pending(world, record.subject.uri)
    if pending is None or not pending.trace or pending.verdict is not None:
        return
    held = world.root_at(pending.seq)
    root = held[0] if held else None
    if root is None or author not in witnesses(root):
        world.report("not-witness", uri, "The game's root does not name this author as a witness of traces.")
        return
    if not _names(record.subject.cid, world.history.listed(pending.seq).entry.record):
        world.report("bad-trace-report", uri, "This report is about another version of the record.")
        return
    said = pending.words.get(author)
    if said is None or said.verdict == "unavailable":
        pending.words = {**pending.words, author: Word(record.verdict, record.dated)}
        _weigh(world, pending, root)
        world.change(place_of(pending.uri))


def _names(text: str, cid: Cid | None) -> bool:
    # A CID has one spelling; to read it costs a third of writing the other.
    try:
        return Cid.parse(text) == cid
    except BadCid:
        return False


def witnesses(root: Root) -> tuple[str, ...]:
    """Return whose trace reports settle: the root's witnesses, or without any the lister."""
    if root.witnesses is not None:
        return root.witnesses.members()
    return () if root.lister is None else (root.lister,)


def _weigh(world: World, pending: Pending, root: Root) -> None:
    # The quorum counts words; a word wins once the witnesses who said it make the quorum.
    final = {who: word for who, word in pending.words.items() if word.verdict != "unavailable"}
    open_witnesses = [who for who in witnesses(root) if who not in final]
    possible = False
    for verdict in ("ok", "unresolved"):
        said = [who for who in sorted(final) if final[who].verdict == verdict]
        if _reached(root, said):
            dates = sorted(d for who in said if (d := final[who].dated) is not None)
            settle_trace(world, pending, verdict, dates[(len(dates) - 1) // 2] if dates else None)
            return
        possible = possible or _reached(root, said + open_witnesses)
    if not possible:
        settle_trace(world, pending, "unsettled", None)


def _reached(root: Root, who: Iterable[str]) -> bool:
    names = frozenset(who)
    return root.witnesses.reached(names) if root.witnesses is not None else root.lister in names


def settle_trace(world: World, pending: Pending, verdict: str, dated: int | None) -> None:
    """Settle a docket's trace; where its round follows the trace, fix the round by this entry."""
    pending.verdict, pending.dated = verdict, dated
    if pending.dice and pending.after == "trace" and pending.round is None:
        fix_round(world, pending, world.seq, world.at)


# --- operators and receipts --------------------------------------------------------------------------------


def _operator(world: World, listed: Listed) -> None:
    read_operator(world, listed)


def _handover(world: World, listed: Listed) -> None:
    record = _read(world, listed, HandoverRecord, "bad-handover")
    if record is not None:
        read_handover(world, listed, record)


def _receipt(world: World, listed: Listed) -> None:
    record = _read(world, listed, ReceiptRecord, "bad-receipt")
    before = deletions.held_before(world)
    prior = world.cells.value(f"_/receipt/{listed.entry.author}", {"size": 0})
    receipt = read_receipt(world, listed, record) if record is not None else None
    if receipt is not None:
        deletions.see(world, receipt, before, prior)
        _use_receipt(world, receipt)


def _use_receipt(world: World, receipt: Receipt) -> None:
    for pending in list(world.pendings.values()):
        if pending.since is None or pending.since >= receipt.size or pending.roll is not None:
            continue
        _hold(world, pending, [receipt.operator], receipt.time)


def _hold(world: World, pending: Pending, operators: Iterable[str], time: int) -> None:
    # Timely: receipts of a majority of the named operators other than the lister, each EARLIER than the round.
    held = world.root_at(pending.seq)
    if held is None or pending.round is None or time >= round_time(held[0].chain, pending.round):
        return
    named = held[0].operators()
    early = sorted({*pending.early, *(o for o in operators if o in named)})
    if early == pending.early:
        return
    pending.early = early
    if 2 * len(early) > len(named):
        pending.roll = "timely"
    world.change(place_of(pending.uri))


def _pending(world: World, uri: str) -> Pending | None:
    try:
        return world.pendings.get(place_of(uri))
    except RuleBreach:
        return None


# --- scenarios ---------------------------------------------------------------------------------------------


def _scenario(world: World, listed: Listed) -> None:
    uri = listed.entry.uri or ""
    if not world.scenario:
        world.report("unknown-type", uri, "Stated evidence counts in scenarios only.")
        return
    record = _read(world, listed, ScenarioRecord, "bad-shape")
    pending = _pending(world, record.subject) if record is not None else None
    if record is None or pending is None:
        return
    _STATED[record.kind](world, pending, record)


def _stated_trace(world: World, pending: Pending, record: ScenarioRecord) -> None:
    if pending.trace and pending.verdict is None and record.verdict is not None:
        settle_trace(world, pending, record.verdict, record.dated)
        world.change(place_of(pending.uri))


def _stated_dice(world: World, pending: Pending, record: ScenarioRecord) -> None:
    if not pending.dice or pending.beacon is not None or pending.values is not None:
        return
    pending.values = record.values or []
    _imply_timely(world, pending, record)


def _imply_timely(world: World, pending: Pending, record: ScenarioRecord) -> None:
    # A dice step says that the roll was timely, unless the file gives this record receipts of its own.
    if record.timely:
        pending.roll = "timely"
    world.change(place_of(pending.uri))


def _stated_beacon(world: World, pending: Pending, record: ScenarioRecord) -> None:
    if record.round is None or record.signature is None or record.round != pending.round:
        return
    _use_beacon(world, pending.uri, record.round, record.signature)
    if pending.beacon is not None:
        _imply_timely(world, pending, record)


def _stated_receipt(world: World, pending: Pending, record: ScenarioRecord) -> None:
    if record.at is not None and pending.dice and pending.roll is None:
        # Cosignature times are whole seconds: a receipt given at a time within a second says that second.
        _hold(world, pending, record.operators or [], record.at // 1_000_000)


_STATED: dict[str, Callable[[World, Pending, ScenarioRecord], None]] = {
    "trace": _stated_trace,
    "dice": _stated_dice,
    "beacon": _stated_beacon,
    "receipt": _stated_receipt,
}
