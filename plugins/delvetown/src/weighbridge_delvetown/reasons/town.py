"""Why the town is as it is: crews and their heat, turf, rations, prompts, the gate (§1, §2, §7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge_delvetown.names import CREW, ROOT, SHEET, crew_id
from weighbridge_delvetown.reasons.facts import Facts, shown_day, signed

# --- crews -------------------------------------------------------------------------------------------------


def of_crew(facts: Facts) -> Iterator[str]:
    """Say why a crew changed: its heat, its members, its size."""
    before, after = facts.before, facts.after
    if after.get("heat", 0) != before.get("heat", 0):
        yield from _heat(facts, after.get("heat", 0) - before.get("heat", 0))
    if not before and facts.is_of(CREW):
        yield f"{facts.name} made the crew: it lists its sheets, and each signs by joining (§7)."
    if before.get("members", []) != after.get("members", []) or before.get("size", 0) != after.get("size", 0):
        yield from _members(facts)


def _heat(facts: Facts, rest: int) -> Iterator[str]:
    for amount, says in (*_risen(facts), *_fallen(facts)):
        rest -= amount
        yield f"heat {signed(amount)}: {says} (§7)."
    if rest and not facts.marked:
        yield f"heat {signed(rest)}: by what is attached to the game, or no more than the track holds."


def _risen(facts: Facts) -> Iterator[tuple[int, str]]:
    for ask in facts.asks:
        if crew_id(str(ask.act.get("crew", ""))) != facts.id:
            continue
        if ask.listed and ask.after.get("position") == "exposed":
            yield 1, f"{ask.name} was exposed and listed on {facts.day}"
        if ask.taken.get("heat"):
            yield ask.taken["heat"], f"the consequence of {ask.name}"
        if ask.given_back.get("heat"):
            yield -ask.given_back["heat"], f"the consequence of {ask.name} was resisted"


def _fallen(facts: Facts) -> Iterator[tuple[int, str]]:
    hot: Any = facts.change.cells.get(f"hot/{facts.id}", (facts.look(f"hot/{facts.id}"), None))[0] or {}
    heat = facts.before.get("heat", 0)
    for day in facts.ended:
        if heat > 0 and hot.get("exposed") != day:
            heat -= 1
            yield -1, f"{shown_day(day)} ended without an exposed action of the crew"


def _members(facts: Facts) -> Iterator[str]:
    before, after = facts.before.get("members", []), facts.after.get("members", [])
    for did in after:
        if did not in before:
            yield f"{facts.person(did)} is in it since {_how(facts)} (§7)."
    for did in before:
        if did not in after:
            yield f"{facts.person(did)} is in it no more since {_how(facts)} (§7)."
    size = facts.after.get("size", 0)
    if size != facts.before.get("size", 0):
        yield f"size {size}: distinct operators among its pinned sheets that have not retired (§7)."


def _how(facts: Facts) -> str:
    if facts.is_of(SHEET):
        return f"the sheet {facts.name}"
    return f"the {facts.kind or 'record'} {facts.name}"


# --- places ------------------------------------------------------------------------------------------------


def of_place(facts: Facts) -> Iterator[str]:
    """Say why a place changed: its landlord, the stance, whose turf it is."""
    if facts.is_of(ROOT):
        yield f"The root says who named the place: {facts.person(str(facts.after.get('namer', '')))} (§7)."
    if facts.before.get("stance") != facts.after.get("stance") and facts.kind == "stance":
        yield f"stance {facts.after['stance']}: the landlord's move {facts.name} (§7)."
    if facts.before and facts.before.get("crew") != facts.after.get("crew"):
        crew = facts.after.get("crew")
        whose = f"turf of {_crew_name(facts, crew)}" if crew else "nobody's turf"
        yield f"{whose}: stance {facts.after.get('stance')} of its landlord, after {facts.name} (§7)."


def _crew_name(facts: Facts, crew: str) -> str:
    cell = facts.look(f"crew/{crew_id(crew)}") or {}
    return str(cell.get("name") or facts.person(crew))


# --- days --------------------------------------------------------------------------------------------------


def of_ration(facts: Facts) -> Iterator[str]:
    """Say what used a day's ration."""
    day = str(facts.after.get("day", ""))
    same = facts.before.get("day") == day
    limits = {"action": facts.rules.per_action, "between": facts.rules.per_between}
    for kind, limit in limits.items():
        used = facts.after.get(kind, 0) - (facts.before.get(kind, 0) if same else 0)
        if used:
            yield f"{kind} {signed(used)} on {shown_day(day)}, of {limit} a day: {facts.name} (§2)."


def of_prompt(facts: Facts) -> Iterator[str]:
    """Say why a prompt opened or closed."""
    if not facts.before:
        yield f"The GM's prompt {facts.name} was listed (§2)."
    elif facts.kind == "close":
        yield f"{facts.name} ends the window with {shown_day(facts.after['to'])} (§2)."
    elif facts.after.get("open") and not facts.before.get("open"):
        yield "Its window has begun, and the gate is met (§1, §2)."
    elif facts.before.get("open"):
        yield "Its window is over (§2)."


def of_game(facts: Facts) -> Iterator[str]:
    """Say why the game's own cell changed."""
    if not facts.before:
        yield f"{facts.name} is the first well-formed root (§1)."
    if facts.ended:
        yield f"{shown_day(facts.ended[-1])} has ended: it is {shown_day(facts.after['day'])} (§2)."
    change = facts.after.get("players", 0) - facts.before.get("players", 0)
    if change:
        yield f"players {signed(change)}: pinned sheets that have not retired, seats of the house apart (§1)."
    if facts.after.get("open") and not facts.before.get("open"):
        yield f"The gate of {facts.rules.gate} players is met, and stays met (§1)."
