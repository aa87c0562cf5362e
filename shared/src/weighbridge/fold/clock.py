"""The passing of time: day ends and due times, in order, before the entry that shows that they have passed."""

from __future__ import annotations

from weighbridge.contract import RuleSet
from weighbridge.fold import answers, sealing
from weighbridge.fold.context import call
from weighbridge.fold.evidence import complete_all, settle_trace
from weighbridge.fold.records import DAY
from weighbridge.fold.world import DAY_KEY, World

MAX_DUES = 10_000
"""Due times that one entry may find passed; a rule set that names more is at fault."""


def pass_time(world: World) -> bool:
    """Let pass what lies before the current entry: each day's end and due time. Whether a day ended."""
    day = world.day()
    if day is None:
        world.cells.set(DAY_KEY, world.at // DAY)
        return False
    ended, dues, after = False, 0, -1
    while True:
        due = _next_due(world, after)
        midnight = (day + 1) * DAY
        if due is not None and due <= world.at and due <= midnight:
            dues += 1
            after = _fall_due(world, due, day) if dues < MAX_DUES else world.at
        elif midnight <= world.at:
            _end_day(world, day)
            day, ended = day + 1, True
        else:
            return ended


def _next_due(world: World, after: int) -> int | None:
    # A time at or before `after` has had its turn: one that is still named then is not asked again.
    found = [time for time in _named(world) if time > after]
    expiry = sealing.next_expiry(world)
    if expiry is not None and expiry > after:
        found.append(expiry)
    return min(found) if found else None


def _named(world: World) -> list[int]:
    none: list[int] = []
    if type(world.ruleset).due is RuleSet.due:
        return none  # asked at every entry, so not at all of a rule set that has nothing to say
    return world.guard("due", world.game, lambda: answers.times(world.ruleset.due(world.table)), none)


def _fall_due(world: World, time: int, day: int) -> int:
    sealing.expire(world, time)
    call(
        world, "at_due", world.game, (time, day),
        lambda ctx: world.ruleset.at_due(world.table, time, ctx),
    )  # fmt: skip
    return time


def _end_day(world: World, day: int) -> None:
    # What waited too long is settled first, then the rule set's own day ends; what completes here is of that day.
    midnight = (day + 1) * DAY
    for place, pending in list(world.pendings.items()):
        changed = False
        if pending.trace and pending.verdict is None and day > pending.day:
            settle_trace(world, pending, "unsettled", None)
            changed = True
        if pending.roll is None and pending.round_day is not None and day > pending.round_day:
            pending.roll = "untimely"
            changed = True
        if changed:
            world.change(place)
    complete_all(world, midnight, day)
    call(
        world, "day_end", world.game, (midnight, day),
        lambda ctx: world.ruleset.day_end(world.table, day, ctx),
    )  # fmt: skip
    world.cells.set(DAY_KEY, day + 1)


def due_times(world: World) -> list[int]:
    """Return the times at which the lister lists a tick: the day's end, and what falls due before it."""
    day = world.day()
    if day is None:
        return []
    midnight = (day + 1) * DAY
    named = [time for time in _named(world) if time <= midnight]
    expiry = sealing.next_expiry(world)
    return sorted({*named, midnight, *([expiry] if expiry is not None and expiry <= midnight else [])})
