"""The root record in the log: which version holds, from which entry on, and what makes one `bad-root`."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Problem
from weighbridge.fold import answers
from weighbridge.fold.context import attached_record
from weighbridge.fold.judging import apply_docket, judge_docket
from weighbridge.fold.resolving import contradictions
from weighbridge.fold.roots import Root, read_root
from weighbridge.fold.world import ROOT_KEY, RootCell, World
from weighbridge.log.entries import Listed

KERNEL_FIELDS = frozenset(
    f"$.{name}"
    for name in ("gm", "beacon", "lister", "policy", "witnesses", "fold", "voidDays", "floods", "succeeds")
)
"""The fields of a root that are the kernel's, whatever a rule set's Lexicon says of them."""


def list_root(world: World, listed: Listed) -> None:
    """Fold a version of the root. A well-formed one comes into force; a malformed one leaves the last in force."""
    uri = listed.entry.uri or ""
    if uri != world.game:
        world.report("bad-root", uri, "This game's root is another record; this one opens nothing.")
        return
    if listed.record is None:
        world.report("deleted", uri, "The root was deleted; its last well-formed version still holds.")
        return
    cell = world.root_cell()
    if cell.versions and world.history.listed(cell.versions[-1][1]).entry.record == listed.entry.record:
        if cell.waiting is not None:
            # Said anew, what is in force takes back what still waits for its quorum.
            world.cells.set(ROOT_KEY, RootCell(cell.versions))
        return
    value = world.value_of(listed)
    root, problems = _read(world, value)
    if root is None or problems:
        says = answers.told(problems)
        world.report("bad-root", uri, f"This version of the root opens nothing: {says}.")
        return
    world.withdraw("bad-root", uri)
    held = world.root_at(world.seq)
    if held is not None and held[0].policy is not None and root.authority() != held[0].authority():
        # GM, lister and operators change only once the quorum in force has cosigned a checkpoint that holds it.
        world.cells.set(ROOT_KEY, RootCell(cell.versions, world.seq))
        return
    _enforce(world, listed)


def _read(world: World, value: Any) -> tuple[Root | None, list[Problem]]:
    if not isinstance(value, dict):
        return None, [Problem("$", "a root is a map")]
    root, problems = read_root(value, world.first_root())
    none: tuple[Any, tuple[Problem, ...]] = (None, (Problem("$", "the rule set fails on it"),))
    _, more = world.guard("rules", world.game, lambda: answers.rules(world.ruleset.rules(value)), none)
    problems = [*problems, *more]
    shape = world.guard(
        "shape", world.game, lambda: answers.shape(world.ruleset.shape(world.ruleset.root, value)), None
    )
    if shape is not None:
        known = {p.path for p in problems}
        problems += [p for p in shape.problems if p.path not in known]
        unknown = [path for path in shape.unknown if path not in KERNEL_FIELDS]
        if unknown and not problems:
            says = answers.listed(", ", unknown)
            world.report("unknown-field", world.game, f"Nobody knows these fields of the root: {says}.")
    held = world.root_at(world.seq)
    if root is not None and held is not None:
        problems += contradictions(held[0].fold, root.fold, world.pin)
    hopeless = bool(problems)
    for settings in root.fold.attached if root is not None else ():
        if not hopeless or world.attach is None or settings["name"] in world.attachments:
            problems += _attach(world, settings)
    return root, problems


def _attach(world: World, settings: dict[str, Any]) -> list[Problem]:
    attachment = world.attachments.get(settings["name"])
    if attachment is None and world.attach is not None:
        # Whether a node has it is no outcome: without it this entry is not folded here.
        attachment = world.attach(settings)
    if attachment is None:
        return [Problem("$.fold.with", f"no attachment named {settings['name']} is loaded here")]
    record = attached_record(world, settings)
    if "cards" in settings and record is None:
        return [Problem("$.fold.with.cards", "no record with this CID is in the log")]
    found: tuple[Problem, ...] = world.guard(
        "attach",
        world.game,
        lambda: answers.problems(attachment.attach(settings, world.ruleset.vocabulary(), record)),
        (Problem("$.fold.with", "it fails"),),
    )
    return list(found)


def _enforce(world: World, listed: Listed) -> None:
    cell = world.root_cell()
    world.cells.set(ROOT_KEY, RootCell((*cell.versions, (world.seq, listed.entry.seq)), None))
    docket = world.docket(listed, rules_at=world.seq)
    if judge_docket(world, docket) is not None:
        apply_docket(world, docket, None)


def read_again(world: World) -> None:
    """Say what a rule set that begins to fold a game finds wrong with the root in force, if anything."""
    versions = world.root_cell().versions
    value = world.value_of(world.history.listed(versions[-1][1])) if versions else None
    if value is None:
        return
    none: tuple[Any, tuple[Problem, ...]] = (None, ())
    _, problems = world.guard("rules", world.game, lambda: answers.rules(world.ruleset.rules(value)), none)
    if problems:
        says = f"The game has no rules until the root is mended: {answers.told(problems)}."
        world.report("bad-root", world.game, says)


def settle_waiting(world: World) -> None:
    """Bring a waiting root into force, once receipts of the quorum in force hold the entry that listed it."""
    cell = world.root_cell()
    held = world.root_at(world.seq)
    if cell.waiting is None or held is None or held[0].policy is None:
        return
    sizes = {
        key.removeprefix("_/receipt/"): world.cells.value(key)["size"]
        for key in world.cells.keys("_/receipt/")
    }
    holders = frozenset(did for did, size in sizes.items() if size > cell.waiting)
    if held[0].policy.reached(holders):
        _enforce(world, world.history.listed(cell.waiting))
