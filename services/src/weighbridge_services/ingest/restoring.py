"""A lister that starts lists nothing before the newest checkpoint it ever signed: its followers hold what it lost.

A ledger that was lost, or restored from an old backup, does not know what its key has signed. Going on from there
would sign a second root of a size, which is the one thing a log key must never do. So each follower's newest
receipt is looked at first: it carries this node's own signed note, and the follower's log holds the entries. So do
this node's own streams, where a broker still has them.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final, NamedTuple

import structlog
from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.records import RECEIPT
from weighbridge.identity import SIGNATURE, open_envelope, open_note, verifier_key
from weighbridge.log import Checkpoint, CompactRange
from weighbridge.log.entries import Listed

from weighbridge_services.ingest.errors import CannotRestore
from weighbridge_services.ingest.following import Fault, Taken, check_follows
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.ingest.taking import take_all
from weighbridge_services.wire import BrokerUnavailable
from weighbridge_services.wire.elsewhere import last_of, message_of

CHUNK: Final = 512
PATIENCE: Final = 15.0
"""Seconds for a follower's broker to be reached where this node may have lost what it signed."""
RETRY: Final = 0.25

log = structlog.get_logger()


class Signed(NamedTuple):
    """A checkpoint that this node's key has signed, and whose log has its entries: a follower's, or its own."""

    checkpoint: Checkpoint
    follower: str


async def restore(setting: Setting) -> int:
    """Bring the ledger up to the newest checkpoint of this node's that anybody holds; return how many entries came.

    Raises CannotRestore where there is such a checkpoint and the log of whoever holds it does not give the entries.
    """
    patience = PATIENCE if await _may_have_lost(setting) else 0.0
    theirs = (_newest(setting, did, patience) for did in setting.peers)
    asked = await asyncio.gather(*theirs, _newest_here(setting))
    found = [each for each in asked if each is not None]
    newest = max(found, key=lambda each: each.checkpoint.size, default=None)
    size = setting.store.size
    if newest is None or newest.checkpoint.size <= size:
        return 0
    signed = newest.checkpoint.size
    log.warning("the ledger is behind what this node has signed", game=setting.uri, size=size, signed=signed)
    entries = await _entries(setting, newest)
    entries += await _longest_tail(setting, entries[-1])
    await setting.store.run(setting.store.keep_restored, entries)
    return len(entries)


async def _longest_tail(setting: Setting, last: Listed) -> list[Listed]:
    """Return the most that somebody holds beyond the newest checkpoint that was found, entry by entry verified.

    What was published and not yet signed is in no checkpoint. Listed anew it would stand at other times, and a
    follower that holds it would rightly see two logs. It is looked for only where the ledger is known to have
    lost something, since nothing but the chain and the authors' signatures speaks for it.
    """
    tails = [await _tail(setting, did, last) for did in (*setting.peers, setting.node.did)]
    return max(tails, key=len, default=[])


async def _tail(setting: Setting, did: str, last: Listed) -> list[Listed]:
    found: list[Listed] = []
    while (data := await _message(setting, did, last.entry.seq + 2)) is not None:
        (taken,) = await take_all(setting.openers, [data], setting.uri)
        if isinstance(taken, Fault) or check_follows(last, taken.listed, setting.uri) is not None:
            break
        last = taken.listed
        found.append(last)
    return found


async def _message(setting: Setting, did: str, sequence: int) -> bytes | None:
    try:
        return await _read(setting, did, sequence)
    except BrokerUnavailable:
        return None  # a follower that cannot be asked holds nothing that can be taken up


async def _read(setting: Setting, did: str, sequence: int) -> bytes | None:
    theirs = setting.node.subjects(setting.uri, did)
    return await message_of(setting.bus, setting.node, theirs, "LOG", sequence)


async def _may_have_lost(setting: Setting) -> bool:
    """Whether the ledger or the broker holds nothing: at the very beginning, and after a loss."""
    own = setting.own
    return not setting.store.size or await setting.bus.last(own.stream("LOG"), own.log) is None


async def _receipt(setting: Setting, did: str, patience: float) -> bytes | None:
    """Return a follower's newest receipt from its own stream. Raises BrokerUnavailable after some seconds of patience.

    Of one with a broker of its own the mirror does not do: new, as after a loss, it is empty whatever was receipted.
    """
    theirs = setting.node.subjects(setting.uri, did)
    elsewhere = setting.node.domain_of(theirs.operator, theirs.game) is not None
    deadline = time.monotonic() + (patience if elsewhere else 0.0)
    while True:
        try:
            subject = f"{theirs.prefix}.checkpoint.*"
            return await last_of(setting.bus, setting.node, theirs, "RECORDS", subject)
        except BrokerUnavailable:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(RETRY)


async def _newest(setting: Setting, did: str, patience: float) -> Signed | None:
    """Return the newest checkpoint of this node's that a follower has receipted, if it can be had."""
    try:
        found = await _receipt(setting, did, patience)
    except BrokerUnavailable as error:
        log.warning("a follower cannot be asked what it has receipted", did=did, says=error.message)
        return None
    if found is None:
        return None  # nothing yet, or it has no streams yet
    try:
        message: Any = codec.decode(found)
        envelope = open_envelope(message["envelope"])
        if (envelope.author, envelope.collection) != (did, RECEIPT):
            return None
        return Signed(_checkpoint_in(setting, envelope.value["checkpoint"].encode()), did)
    except (Refused, KeyError, TypeError, AttributeError):
        return None  # nothing that this node has signed


async def _newest_here(setting: Setting) -> Signed | None:
    """Return the newest checkpoint in this node's own stream; none for an empty ledger.

    Whoever starts with no ledger at all, while the stream is full, may be a second lister with one key: `bring_up`
    stops it.
    """
    if not setting.store.size:
        return None
    subject = f"{setting.own.prefix}.checkpoint.*"
    found = await last_of(setting.bus, setting.node, setting.own, "RECORDS", subject)
    try:
        message: Any = codec.decode(found or b"")
        return Signed(_checkpoint_in(setting, message["note"].encode()), setting.node.did)
    except (Refused, KeyError, TypeError, AttributeError):
        return None


def _checkpoint_in(setting: Setting, note: bytes) -> Checkpoint:
    own = verifier_key(setting.node.name, SIGNATURE, setting.node.keys.log.public)
    return Checkpoint.parse(open_note(note, [own]).text, listing_origin(setting.uri))


async def _entries(setting: Setting, signed: Signed) -> list[Listed]:
    """Return the entries that the ledger lacks, verified as a follower verifies them, and against the checkpoint."""
    size, last = setting.store.size, await setting.store.run(setting.store.last)
    frontier = CompactRange()
    for at in range(0, size, CHUNK):
        for own in await setting.store.run(setting.store.listed, at, min(at + CHUNK, size)):
            frontier.append(own.data)
    found: list[Listed] = []
    for at in range(size, signed.checkpoint.size, CHUNK):
        for taken in await _taken(setting, signed, at, min(at + CHUNK, signed.checkpoint.size)):
            fault = taken if isinstance(taken, Fault) else check_follows(last, taken.listed, setting.uri)
            if isinstance(taken, Fault) or fault is not None:
                raise _cannot(setting, signed, fault.says if fault is not None else "")
            last = taken.listed
            frontier.append(last.data)
            found.append(last)
    if frontier.root() != signed.checkpoint.root:
        raise _cannot(setting, signed, "its entries hash to another root than the one signed")
    return found


async def _taken(setting: Setting, signed: Signed, start: int, stop: int) -> list[Taken | Fault]:
    """Return some entries of the follower's log, each verified by itself."""
    asked = (_read(setting, signed.follower, seq + 1) for seq in range(start, stop))
    messages = [each for each in await asyncio.gather(*asked) if each is not None]
    if len(messages) < stop - start:
        raise _cannot(setting, signed, "it does not hold all of them")
    return await take_all(setting.openers, messages, setting.uri)


def _cannot(setting: Setting, signed: Signed, why: str) -> CannotRestore:
    return CannotRestore(
        f"this node has signed {signed.checkpoint.size} entries of {setting.uri} and its ledger has"
        f" {setting.store.size}; the log of {signed.follower} does not give the rest: {why}. Restore a newer backup of"
        " the ledger",
        size=signed.checkpoint.size,
    )
