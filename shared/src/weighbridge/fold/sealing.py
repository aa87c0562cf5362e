"""Sealed choices: a record commits its author to a value for a slot, a later one opens it (DESIGN §3).

Cells: `_/seal/<place>` the commitment; `_/slot/<digest>` which record holds an author's slot; `_/sealed/<hash>`
which record first used a hash; `_/unopened/<place>` the time by which a seal must be opened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from weighbridge.codec import cid_of
from weighbridge.contract import Docket, Opened
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.records import Seal, place_of
from weighbridge.fold.world import World
from weighbridge.seals import MIN_SALT, seal_hash

HASH = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
HEX = re.compile(r"(?:[0-9a-f]{2})*\Z", re.ASCII)


def commit(
    world: World, docket: Docket, slot: Sequence[str], opens_from: int | None, opens_until: int | None
) -> bool:
    """Take a record's `seal` as its author's commitment for a slot; False with a report if it is none."""
    digest = docket.value.get("seal")
    if not isinstance(digest, str) or not HASH.match(digest):
        raise RuleBreach("a record without a seal of 64 lower-case hex digits was to commit")
    key = f"_/slot/{cid_of([docket.author, list(slot)])}"
    if key in world.cells:
        world.report(
            "second-seal", docket.uri, "You have committed to a value for this already; the first seal holds."
        )
        return False
    if f"_/sealed/{digest}" in world.cells:
        world.report(
            "copied-seal", docket.uri, "This seal is that of an earlier record; a copy commits to nothing."
        )
        return False
    world.cells.set(key, docket.uri)
    world.cells.set(f"_/sealed/{digest}", docket.uri)
    place = place_of(docket.uri)
    world.cells.set(f"_/seal/{place}", Seal(docket.author, tuple(slot), digest, opens_from, opens_until))
    if opens_until is not None:
        world.cells.set(f"_/unopened/{place}", {"uri": docket.uri, "until": opens_until})
    return True


def reveal(world: World, docket: Docket, at: int, opens: str, salt: str, value: Any) -> Opened | None:
    """Open the seal of the record `opens`; None, with the report that says why, if this does not."""
    try:
        key = f"_/seal/{place_of(opens)}"
    except RuleBreach:
        key = ""
    seal = world.cells.read(key, Seal)
    code = _judge(world, docket, at, seal, salt, value)
    if code is not None:
        world.report(code, docket.uri, SENTENCES[code])
        return None
    if seal is None:
        return None
    raw = bytes.fromhex(salt)
    world.cells.set(
        key, Seal(seal.author, seal.slot, seal.hash, seal.opens_from, seal.opens_until, True, raw, value)
    )
    world.cells.drop(f"_/unopened/{place_of(opens)}")
    return Opened(opens, seal.author, seal.slot, raw, value)


def _judge(world: World, docket: Docket, at: int, seal: Seal | None, salt: str, value: Any) -> str | None:
    if seal is None or seal.author != docket.author:
        return "bad-opening"
    if seal.opened:
        return "opened-twice"
    if seal.opens_from is not None and at < seal.opens_from:
        return "too-early"
    if seal.opens_until is not None and at >= seal.opens_until:
        return "opened-late"
    return _judge_value(world.game, seal, salt, value)


def _judge_value(game: str, seal: Seal, salt: str, value: Any) -> str | None:
    if not isinstance(salt, str) or not HEX.match(salt):
        return "bad-opening"
    raw = bytes.fromhex(salt)
    if len(raw) < MIN_SALT:
        return "short-salt"
    return None if seal_hash(game, seal.author, seal.slot, raw, value) == seal.hash else "bad-opening"


SENTENCES = {
    "bad-opening": "This does not open that seal: it is not yours, or the salt and value give another hash.",
    "opened-twice": "That seal was opened before.",
    "too-early": "That seal is not to be opened yet.",
    "opened-late": "The time to open that seal has passed.",
    "short-salt": "A salt has at least 16 bytes, or the value could be guessed.",
}


def opened(world: World, uri: str) -> Opened | None:
    """Return what a sealed record was opened to, if it was."""
    seal = world.cells.read(f"_/seal/{place_of(uri)}", Seal)
    if seal is None or not seal.opened or seal.salt is None:
        return None
    return Opened(uri, seal.author, seal.slot, seal.salt, seal.value)


def expire(world: World, time: int) -> None:
    """Report `not-opened` on each seal whose time to open has come to an end by `time`."""
    for key in world.cells.keys("_/unopened/"):
        waiting = world.cells.value(key)
        if waiting["until"] <= time:
            world.report("not-opened", waiting["uri"], "This seal was never opened.")
            world.cells.drop(key)


def next_expiry(world: World) -> int | None:
    """Return the earliest time by which a seal must be opened, if one waits."""
    keys = world.cells.keys("_/unopened/")
    return min([world.cells.value(key)["until"] for key in keys]) if keys else None
