"""Rulings: what stands, what it voids or releases, and the stakes kept before the past changes.

Whether a ruling stands depends on root, signer and subject alone, never on a cell of the rule set's. What is
decided here is kept in the overlay (`_/mark/`, `_/ruling/`, `_/stake/`), which outlives the rewind it causes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from weighbridge.codec import cid_of
from weighbridge.contract import Docket, Ruling, Shape
from weighbridge.dice import round_after, round_time
from weighbridge.fold import answers
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.judging import may_roll, shape_of
from weighbridge.fold.records import DAY, Mark, Standing, place_of
from weighbridge.fold.world import World
from weighbridge.log.entries import Listed

MARKS = "_/mark/"
STAKES = "_/stake/-"
"""The cell that says that there are stakes at all."""


def take(world: World, listed: Listed, era_start: int) -> int | None:
    """Mark what a ruling voids, releases or replaces; return the entry from which the past is to be folded anew."""
    docket = _signed_by_gm(world, listed)
    ruling = _ruling(world, docket) if docket is not None else None
    if docket is None or ruling is None:
        return None
    subject = _subject(world, ruling, docket)
    if subject is None or not _may_rule(world, docket, subject):
        return None
    key = _key(subject, ruling)
    prior = world.cells.read(key, Standing)
    back = _voidable(world, subject, docket)
    voids = ruling.effect == "void" and back
    mark = world.mark_of(subject.uri)
    releases = not voids and prior is not None and mark is not None and mark.struck
    affected = [subject.seq, *_hinging(world, subject.uri)] if voids or releases else []
    affected += [prior.seq] if prior is not None else []
    if not affected:
        world.cells.set(key, Standing(docket.uri, ruling.effect, docket.seq))
        return None
    if _too_late(world, docket, affected, era_start):
        set_mark(world, docket.uri, late=True)
        return None
    if prior is not None:
        _inherit(world, prior.by, docket.uri)
        set_mark(world, prior.by, void=docket.uri)
    if voids:
        _strike(world, subject, docket)
    elif releases:
        set_mark(world, subject.uri, void=None, struck=False, reports={})
    world.cells.set(key, Standing(docket.uri, ruling.effect, docket.seq))
    return min(affected)


def _may_rule(world: World, ruling: Docket, subject: Docket) -> bool:
    keep = _keep_fault(world, ruling)
    ask = partial(world.ruleset.may_rule, ruling, subject)
    return world.guard("may_rule", ruling.uri, lambda: answers.yes_or_no(ask()), False, keep)


def _voidable(world: World, subject: Docket, ruling: Docket) -> bool:
    keep = _keep_fault(world, ruling)
    return (
        world.guard("voidable", ruling.uri, lambda: world.ruleset.voidable(subject), "forward", keep)
        == "back"
    )


def _hinging(world: World, uri: str) -> list[int]:
    """Return the entries of what a record had voided, directly or not: whether they stand hinges on whether it does."""
    voided = _voided(world)
    found, names = [], [uri]
    for name in names:
        fresh = [each for each, mark in voided if mark.void == name and each not in names]
        names += fresh
        found += [seq for each in fresh if (seq := world.history.first(each)) is not None]
    return found


def _inherit(world: World, old: str, new: str) -> None:
    """Let what a record had replaced be replaced by the record that now replaces it in turn."""
    for uri, mark in _voided(world):
        if mark.void == old and not mark.struck:
            set_mark(world, uri, void=new)


def _voided(world: World) -> list[tuple[str, Mark]]:
    marks = (world.cells.read(key, Mark) for key in world.cells.keys(MARKS))
    return [(mark.uri, mark) for mark in marks if mark is not None and mark.void is not None]


def _signed_by_gm(world: World, listed: Listed) -> Docket | None:
    entry = listed.entry
    uri = entry.uri or ""
    if listed.record is None or uri.split("/")[3] not in world.ruleset.collections or uri == world.game:
        return None
    held = world.root_at(entry.seq)
    if held is None or held[0].gm != entry.author or world.history.first(uri) != entry.seq:
        return None
    return world.docket(listed)


def _ruling(world: World, docket: Docket) -> Ruling | None:
    keep = _keep_fault(world, docket)
    shape: Shape | None = world.guard("shape", docket.uri, lambda: shape_of(world, docket), None, keep)
    if shape is None or shape.problems:
        return None
    return world.guard(
        "ruling", docket.uri, lambda: answers.ruling(world.ruleset.ruling(docket, docket.rules)), None, keep
    )


def _keep_fault(world: World, docket: Docket) -> Callable[[str], None]:
    # Marked and reported when the entry is folded: a report written here would not come back after a rewind.
    return lambda sentence: set_mark(world, docket.uri, fault=sentence)


def _subject(world: World, ruling: Ruling, docket: Docket) -> Docket | None:
    try:
        place_of(ruling.subject)
    except RuleBreach:
        return None
    if ruling.subject == world.game:
        return None
    subject = world.first_docket(ruling.subject, docket.seq)
    return subject if subject is not None and subject.collection in world.ruleset.collections else None


def _key(subject: Docket, ruling: Ruling) -> str:
    part = f"/{cid_of(ruling.part)}" if ruling.part else ""
    return f"_/ruling/{place_of(subject.uri)}{part}"


def _too_late(world: World, docket: Docket, affected: list[int], era_start: int) -> bool:
    held = world.root_at(docket.seq)
    if held is None:
        return True
    first = min(affected)
    day = world.history.listed(first).entry.at // DAY
    return first < era_start or docket.day > day + held[0].void_days


def _strike(world: World, subject: Docket, ruling: Docket) -> None:
    mark = world.mark_of(subject.uri)
    if mark is not None and mark.struck:
        set_mark(world, subject.uri, void=ruling.uri)
        return
    standing = world.cells.value(f"_/report/{place_of(subject.uri)}", {})
    set_mark(world, subject.uri, void=ruling.uri, struck=True, reports=standing)


def set_mark(world: World, uri: str, **changes: Any) -> None:
    """Change what is marked on a record; a mark that says nothing is no cell."""
    key = f"_/mark/{place_of(uri)}"
    none = Mark(uri)
    old = world.cells.read(key, Mark) or none
    fields = {name: getattr(old, name) for name in Mark.__struct_fields__}
    new = Mark(**{**fields, **changes})
    if new == none:
        world.cells.drop(key)
    else:
        world.cells.set(key, new)


def mark_wanted(world: World, wanted: Mapping[str, Mark]) -> int | None:
    """Mark what the entry just folded upheld or replaced; return the earliest entry that changes, if any does."""
    changed: list[int] = []
    for uri in sorted(wanted):
        old, want = world.mark_of(uri) or Mark(uri), wanted[uri]
        seq = world.history.first(uri)
        if (
            seq is None
            or seq >= world.seq
            or (want.upheld and old.upheld)
            or (want.void and world.is_void(uri))
        ):
            continue
        if want.void is not None:
            _inherit(world, uri, want.void)
        set_mark(world, uri, upheld=old.upheld or want.upheld, void=want.void or old.void)
        changed.append(seq)
    return min(changed) if changed else None


def keep_stakes(world: World, start: int, end: int) -> None:
    """Keep what each record of entries [start, end) that rolls on a public round stands to draw, once and for all."""
    for seq in range(start, end):
        listed = world.history.listed(seq)
        entry = listed.entry
        uri = entry.uri
        if uri is None or listed.record is None or uri.split("/")[3] not in world.ruleset.collections:
            continue
        key = f"_/stake/{place_of(uri)}"
        if uri == world.game or key in world.cells or world.history.first(uri) != seq or world.is_void(uri):
            continue
        docket = world.docket(listed)
        if not _is_public(world, docket):
            continue
        stake = world.guard("stake", uri, partial(_stake, world, docket), None)
        if stake is not None:
            world.cells.set(key, stake)
            world.cells.set(STAKES, True)


def _stake(world: World, docket: Docket) -> Any:
    return answers.value(world.ruleset.stake(world.table, docket))


def _is_public(world: World, docket: Docket) -> bool:
    held = world.root_at(docket.seq)
    needs = may_roll(world, docket)
    if held is None or not needs.dice:
        return False
    pending = world.pendings.get(place_of(docket.uri)) if needs.after == "trace" else None
    round = round_after(held[0].chain, docket.at, held[0].margin) if pending is None else pending.round
    return round is not None and round_time(held[0].chain, round) * 1_000_000 <= world.at
