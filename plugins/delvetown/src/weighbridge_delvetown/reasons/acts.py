"""Why an ask stands, rolled and ticked as it did, and why a clock is filled as far as it is (§3, §4, §7, §8)."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge_delvetown.reasons.facts import Ask, Facts, signed
from weighbridge_delvetown.results import pool_of


def of_ask(facts: Facts) -> Iterator[str]:
    """Say why an ask changed."""
    (ask,) = [each for each in facts.asks if each.id == facts.id] or [
        Ask(facts.id, facts.before, facts.after, {})
    ]
    yield from facts.reports(ask.id)
    status = ask.after.get("status")
    if status == "untimely":
        yield "Its roll was not timely: the day's move is used, and nothing else (§4)."
    if status == "void":
        yield "It is void: nothing of it remains but this, its reports and its use of the day's move (§9)."
    elif ask.listed and ask.act:
        yield from _stands(facts, ask)
    if ask.rolled:
        yield from _rolled(ask)
    elif "dice" in ask.after and "dice" not in ask.before:
        yield "Its dice are shown, and nothing follows from them (§2, §4)."
    yield from _ticks(facts, ask)
    yield from _consequence(facts, ask)


def _stands(facts: Facts, ask: Ask) -> Iterator[str]:
    act = ask.act
    yield f"listed on {facts.day}, and counts."
    # The prompt's target and the ask's own often give the same reason, which is said once.
    for reason in dict.fromkeys(act.get("why", ())):
        yield f"position {reason} (§7)." if not reason.startswith("effect") else f"{reason} (§7)."
    yield f"position {ask.after['position']}, effect {ask.after['effect']}, from the board as it stood then (§7)."
    yield f"pool {ask.after['pool']}: {_pool(ask)} (§4)."


def _pool(ask: Ask) -> str:
    act = ask.act
    parts = [f"{act['dots']} dots of {act['action']}"]
    if act["harm"] >= 2:
        parts = [f"no dots of {act['action']} at harm {act['harm']}"]
    if act["extra"]:
        parts.append(f"{act['extra']} for help or push")
    if act["harm"] == 1:
        parts.append("one die less at harm 1")
    if ask.after["pool"] == 0:
        parts.append("so it rolls two and keeps the lower")
    return ", ".join(parts)


def _rolled(ask: Ask) -> Iterator[str]:
    after, act = ask.after, ask.act
    if act and after["pool"] != pool_of(act["dots"], act["harm"], act["extra"]):
        yield f"pool {after['pool']}: its evidence left it no more (§3)."
    dice = " ".join(str(face) for face in after["dice"])
    kept = "the lower" if after["zero"] else "the highest"
    bands = {
        "clean": "6 is clean",
        "mixed": "4 or 5 succeeds with a consequence",
        "failed": "1 to 3 fails with one",
    }
    yield f"result {after['result']}: of {dice} {kept}, {after['kept']}, counts, and {bands[after['result']]} (§4)."
    if after["crit"]:
        yield f"a crit: two 6s, and so effect {after['effect']} (§4)."


def _ticks(facts: Facts, ask: Ask) -> Iterator[str]:
    change = ask.after.get("ticks", 0) - ask.before.get("ticks", 0)
    if not change:
        return
    clock = facts.look(f"clock/{ask.act.get('clock', '')}") if ask.act.get("answered") else None
    if clock:
        yield f"ticks {signed(change)}: contested, and its effect fills {clock['name']} (§8)."
    elif change > 0:
        yield f"ticks {signed(change)}: nobody contested it, so it fills the sheet's own project (§8)."


def _consequence(facts: Facts, ask: Ask) -> Iterator[str]:
    was, now = ask.before.get("consequence", {}), ask.after.get("consequence", {})
    if now.get("pick") and now.get("pick") != was.get("pick"):
        by = (
            "the GM picked it"
            if now["by"] == "gm"
            else "none was picked in time, so the first of its list counts"
        )
        yield f"consequence {now['pick']}: {by} (§4)."
    if now.get("resisted") and not was.get("resisted"):
        names = [name for name, resist in facts.resists() if resist["ask"] == ask.id]
        yield f"resisted by {names[0] if names else 'a between move'} (§4)."


# --- clocks ------------------------------------------------------------------------------------------------


def of_clock(facts: Facts) -> Iterator[str]:
    """Say why a clock changed."""
    if not facts.before and facts.after:
        yield f"{facts.name} made the clock, of {facts.after['size']} segments (§8)."
        return
    rest = facts.after.get("filled", 0) - facts.before.get("filled", 0)
    for amount, says in _fills(facts):
        rest -= amount
        yield f"filled {signed(amount)}: {says}."
    if rest and not facts.marked:
        yield f"filled {signed(rest)}: by what is attached to the game."
    if facts.after and facts.after["filled"] == facts.after["size"]:
        yield "It is full, and stays full (§8)."


def _fills(facts: Facts) -> Iterator[tuple[int, str]]:
    for ask in facts.asks:
        if ask.act.get("clock") != facts.id:
            continue
        change = ask.after.get("ticks", 0) - ask.before.get("ticks", 0)
        if change > 0 and ask.act.get("answered"):
            effect = ask.after["effect"]
            yield change, f"{ask.name} succeeded with {effect} effect, and was contested (§8)"
        if ask.taken.get("tick"):
            yield ask.taken["tick"], f"the consequence of {ask.name}, a tick against who rolled (§4)"
        if ask.given_back.get("tick"):
            yield -ask.given_back["tick"], f"the consequence of {ask.name} was resisted (§4)"
    for ask in _project_asks(facts):
        yield 1, f"{ask.name} succeeded, and nobody contested it while its window was open (§8)"


def _project_asks(facts: Facts) -> list[Ask]:
    """Return the uncontested asks that filled this project: the latest fills first, then the one before it."""
    owner = facts.after.get("owner")
    if facts.after.get("kind") != "project":
        return []
    asks = [
        ask
        for ask in facts.asks
        if ask.act.get("by") == owner
        and not ask.act.get("answered")
        and ask.after.get("ticks", 0) > ask.before.get("ticks", 0)
    ]
    first = 0
    for key, grown, _ in sorted(_grown(facts, owner), key=lambda each: (not each[2], each[0])):
        if key == facts.change.key:
            return sorted(asks, key=lambda ask: ask.act["seq"])[first : first + grown]
        first += grown
    return []


def _grown(facts: Facts, owner: object) -> Iterator[tuple[str, int, bool]]:
    """Yield the projects of an owner that the entry filled: key, segments, and whether each is full."""
    for key, (before, after) in facts.change.cells.items():
        if key.startswith("clock/") and before and after and after.get("owner") == owner:
            yield key, max(0, after["filled"] - before["filled"]), after["filled"] == after["size"]
