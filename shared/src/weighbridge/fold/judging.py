"""A record at its listing, and a docket at its completion: the kernel's side of `judge`, `apply` and `voided`."""

from __future__ import annotations

from typing import Any, Literal

from weighbridge.contract import NOTHING, Docket, Needs, Shape, Trace
from weighbridge.dice import round_after
from weighbridge.fold import answers
from weighbridge.fold.breach import RuleBreach
from weighbridge.fold.context import call
from weighbridge.fold.deletions import is_of_lister_alone
from weighbridge.fold.grades import is_carried
from weighbridge.fold.records import CODES, DAY, Pending, place_of
from weighbridge.fold.world import World
from weighbridge.log.entries import Listed

TOO_LATE = (
    "Too many game days have passed, or the rules have moved to another version: "
    "the record can no longer be voided."
)


def list_record(world: World, listed: Listed) -> None:
    """Fold a record of one of the rule set's (or an attachment's) collections at its listing."""
    entry = listed.entry
    uri = entry.uri or ""
    collection = uri.split("/")[3]
    first = world.history.first(uri)
    later = first is not None and first < entry.seq
    mark = None if later else world.mark_of(uri)
    if mark is not None and mark.fault is not None:
        world.report("rule-fault", uri, mark.fault)
    if mark is not None and mark.late:
        world.report("too-late", uri, TOO_LATE)
        return
    strays = later and _names_another_game(world, listed)
    if collection not in world.ruleset.collections:
        if entry.record is not None and not strays:
            world.cells.set(f"_/attached/{entry.record}", entry.seq)
        return
    if strays or (later and collection not in world.ruleset.versions):
        _later_version(world, listed)
        return
    docket = world.docket(listed)
    if entry.op == "delete":
        if later:
            _judge(world, docket)
        return
    if _fits(world, docket):
        _judge(world, docket)


def _names_another_game(world: World, listed: Listed) -> bool:
    # Only of a repository's record is a version that names another game a version of this one at all.
    if listed.record is None or not is_carried(listed.entry):
        return False
    value = world.value_of(listed)
    return not isinstance(value, dict) or value.get("game") != world.game


def _later_version(world: World, listed: Listed) -> None:
    # The first listed version is the record: what comes later is reported and changes nothing it did.
    entry = listed.entry
    docket = world.first_docket(entry.uri or "", entry.seq)
    if docket is None or (entry.op != "delete" and entry.record == docket.cid):
        return
    op: Literal["update", "delete"] = "delete" if entry.op == "delete" else "update"
    code, says = ("deleted", "deleted") if op == "delete" else ("edited", "changed")
    code = world.guard("changed", docket.uri, lambda: _changed(world, docket, op), code)
    alone = (
        " The game names no operator beside the lister, who alone says so."
        if is_of_lister_alone(world, listed)
        else ""
    )
    world.report(
        code,
        docket.uri,
        f"This record was {says} after it was listed; its first listed version still counts.{alone}",
    )


def _changed(world: World, docket: Docket, op: Literal["update", "delete"]) -> str:
    code = answers.word(world.ruleset.changed(docket, op))
    if code not in CODES and code not in world.ruleset.codes:
        raise RuleBreach(
            f"changed answers {code[:200]!a}, which the rule set does not declare among its codes"
        )
    return code


def _fits(world: World, docket: Docket) -> bool:
    shape: Shape | None = world.guard("shape", docket.uri, lambda: shape_of(world, docket), None)
    if shape is None:
        return False
    if shape.problems:
        says = answers.told(shape.problems)
        world.report(
            "bad-shape", docket.uri, f"This record does not fit its type, so it changes nothing: {says}."
        )
        return False
    if shape.unknown:
        says = answers.listed(", ", list(shape.unknown))
        world.report(
            "unknown-field",
            docket.uri,
            f"Nobody knows these fields, which are kept and change nothing: {says}.",
        )
    return True


def shape_of(world: World, docket: Docket) -> Shape:
    """Return how the rule set says that a record fits its type; to be run within `World.guard`."""
    return answers.shape(world.ruleset.shape(docket.collection, docket.value))


def _judge(world: World, docket: Docket) -> None:
    if world.is_void(docket.uri):
        _void(world, docket)
        return
    needs = judge_docket(world, docket)
    if needs is None:
        return
    if needs.nothing:
        apply_docket(world, docket, None)
    else:
        _await(world, docket, needs)


def judge_docket(world: World, docket: Docket) -> Needs | None:
    """Let the rule set judge a docket at its listing; None where it fails to."""
    answer: Needs | None = call(
        world, "judge", docket.uri, (docket.at, docket.day),
        lambda ctx: _checked_needs(world, docket, world.ruleset.judge(world.table, docket, ctx)), docket,
    )  # fmt: skip
    return answer


def _checked_needs(world: World, docket: Docket, answer: Any) -> Needs:
    needs = answers.needs(answer)
    most = answers.needs(world.ruleset.needs(docket, docket.rules))
    if any(purpose not in most.dice for purpose in needs.dice) or (needs.trace and not most.trace):
        raise RuleBreach("judge awaits more than the record's needs")
    return needs


def _void(world: World, docket: Docket) -> None:
    mark = world.mark_of(docket.uri)
    if mark is None:
        return
    for code in sorted(mark.reports):
        world.report(code, docket.uri, mark.reports[code])
    if mark.struck:
        world.report("struck", docket.uri, "The GM struck this: all is as if it had never been made.")
    call(
        world, "voided", docket.uri, (docket.at, docket.day),
        lambda ctx: world.ruleset.voided(world.table, docket, ctx), docket,
    )  # fmt: skip


def _await(world: World, docket: Docket, needs: Needs) -> None:
    pending = Pending(
        seq=docket.seq, day=docket.day, uri=docket.uri, dice=needs.dice, trace=needs.trace, after=needs.after
    )
    if needs.dice and (needs.after == "listing" or not needs.trace):
        fix_round(world, pending, docket.seq, docket.at)
    world.keep(place_of(docket.uri), pending)


def fix_round(world: World, pending: Pending, seq: int, at: int) -> None:
    """Fix the round a docket rolls on: the first published strictly after `at` and the margin."""
    held = world.root_at(pending.seq)
    if held is None:
        return
    root = held[0]
    pending.round = round_after(root.chain, at, root.margin)
    pending.since = seq
    pending.round_day = at // DAY
    if not root.operators():
        pending.roll = "lister-timed"


def complete(world: World, place: str, pending: Pending, at: int, day: int) -> None:
    """Let a complete docket take effect, judged by the rules of its own listing."""
    listed = world.history.listed(pending.seq)
    trace = None
    if pending.trace:
        trace = Trace(pending.verdict or "unsettled", pending.dated)  # type: ignore[arg-type]
    has_dice = pending.beacon is not None or pending.values is not None
    docket = world.docket(listed, checked=True, trace=trace, roll=pending.roll, has_dice=has_dice)
    if pending.roll == "untimely":
        world.report(
            "untimely", pending.uri, "No majority of operators held this before its round: nothing follows."
        )
    if pending.roll == "lister-timed":
        world.report(
            "lister-timed",
            pending.uri,
            "The game names no operator but the lister, who alone timed this roll.",
        )
    world.keep(place, None)
    apply_docket(world, docket, pending, (at, day))


def apply_docket(
    world: World, docket: Docket, pending: Pending | None, moment: tuple[int, int] | None = None
) -> None:
    """Let a complete docket change the table."""
    call(
        world, "apply", docket.uri, moment or (docket.at, docket.day),
        lambda ctx: world.ruleset.apply(world.table, docket, ctx), docket, pending,
    )  # fmt: skip


def may_roll(world: World, docket: Docket) -> Needs:
    """Return the most a record may await, or NOTHING where the rule set fails to say."""
    return world.guard(
        "needs", docket.uri, lambda: answers.needs(world.ruleset.needs(docket, docket.rules)), NOTHING
    )
