"""Why a sheet's numbers are what they are: drift, harm, XP, scars, abilities, dots (§3, §5, §6)."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge_delvetown.reasons.facts import Facts, signed
from weighbridge_delvetown.results import resist_cost


def of_sheet(facts: Facts) -> Iterator[str]:
    """Say why a sheet changed."""
    if not facts.before:
        yield f"The sheet was pinned on {facts.day} (§1)."
        return
    if not facts.after:
        yield f"{facts.name} struck the sheet (§9)."
        return
    changed = {
        name
        for name in (*facts.before, *facts.after)
        if facts.before.get(name) != facts.after.get(name)
    }  # fmt: skip
    for name, say in _OF.items():
        if name in changed:
            yield from say(facts)


# --- drift -------------------------------------------------------------------------------------------------


def _drift(facts: Facts) -> Iterator[str]:
    did, change = facts.id, facts.after["drift"] - facts.before["drift"]
    told = [*_costs(facts), *_relief(facts)]
    lost = _lost(facts)
    rest = 0 if lost else change - sum(amount for amount, _ in told)
    for amount, says in told:
        yield f"drift {signed(amount)}: {says}."
    for ask in facts.asks:
        push = facts.rules.push
        if ask.rolled and ask.act.get("by") == did and ask.act.get("extra") and rest >= push > 0:
            rest -= push
            yield f"drift {signed(push)}: {ask.name} was pushed, and rolled on {facts.day} (§4)."
    for name in facts.done(did):
        if rest < 0 and name not in {resist for resist, _ in facts.resists()}:
            yield f"drift {signed(rest)}: {name} showed rest or repair (§5)."
            rest = 0
    if rest and not facts.marked:
        yield f"drift {signed(rest)}: by what is attached to the game."
    if lost:
        yield f"drift reached {facts.rules.drift}: the thread is lost, a scar is owed, and drift is 0 (§5)."


def _costs(facts: Facts) -> Iterator[tuple[int, str]]:
    did = facts.id
    for ask in facts.asks:
        if ask.act.get("by") == did and ask.taken.get("drift"):
            yield ask.taken["drift"], f"the consequence of {ask.name}, {_chosen(ask.after)} (§4)"
    for name, resist in facts.resists():
        if resist["by"] == did and resist_cost(resist["dice"]):
            dice = " ".join(str(face) for face in resist["dice"])
            yield resist_cost(resist["dice"]), f"{name} resisted with {dice}: 6 less the best die (§4)"
    for key, (before, after) in sorted(facts.change.cells.items()):
        upheld = key.startswith("act/") and after and after.get("upheld") and not (before or {}).get("upheld")
        if upheld and after["by"] == did:
            yield facts.rules.vouch, "an audit showed that the vouch was wrong (§6)"


def _relief(facts: Facts) -> Iterator[tuple[int, str]]:
    for ask in facts.asks:
        back = min(ask.given_back.get("drift", 0), facts.before["drift"])  # drift does not fall below 0
        if ask.act.get("by") == facts.id and back:
            yield -back, f"the consequence of {ask.name} was resisted (§4)"


def _lost(facts: Facts) -> bool:
    before, after = facts.change.cells.get(f"who/{facts.id}", (None, None))
    return bool(before and after and after["lost"] > before["lost"])


def _chosen(ask: dict[str, object]) -> str:
    consequence = ask.get("consequence")
    by = consequence.get("by") if isinstance(consequence, dict) else ""
    return "which the GM picked" if by == "gm" else "the first of its list, since none was picked in time"


# --- harm --------------------------------------------------------------------------------------------------


def _harm(facts: Facts) -> Iterator[str]:
    before, after = facts.before["harm"], facts.after["harm"]
    for action in sorted({**before, **after}):
        change = after.get(action, 0) - before.get(action, 0)
        if change:
            yield from _harm_of(facts, action, change)


def _harm_of(facts: Facts, action: str, rest: int) -> Iterator[str]:
    did = facts.id
    for ask in facts.asks:
        if ask.act.get("by") == did and ask.after.get("consequence", {}).get("action") == action:
            for amount, says in (
                (ask.taken.get("harm", 0), _chosen(ask.after)),
                (-ask.given_back.get("harm", 0), ""),
            ):
                if amount:
                    rest -= amount
                    why = f"the consequence of {ask.name}, {says}" if says else f"{ask.name} was resisted"
                    yield f"harm of {action} {signed(amount)}: {why} (§4)."
    if rest < 0:
        yield f"harm of {action} {signed(rest)}: {_mended(facts)}."
    elif rest and not facts.marked:
        yield f"harm of {action} {signed(rest)}."


def _mended(facts: Facts) -> str:
    for ask in facts.asks:
        if ask.rolled and ask.act.get("action") == "mend" and ask.act.get("by") != facts.id:
            return f"{ask.name}, a mend by {facts.person(ask.act['by'])}, cleared it (§5)"
    done = facts.done(facts.id)
    return f"{done[0]} showed the fix: one level a between move (§5)" if done else "the past was counted anew"


# --- XP, advances, scars -----------------------------------------------------------------------------------


def _xp(facts: Facts) -> Iterator[str]:
    change = facts.after["xp"] - facts.before["xp"]
    if facts.kind == "claim":
        yield f"XP {signed(change)}: {facts.name} claims {facts.value['xp']}, once a kind and day (§6)."
    elif facts.kind == "advance":
        yield f"XP {signed(change)}: {facts.name} bought {_bought(facts)} at the root's price (§6)."
    elif facts.kind == "strike":
        yield f"XP {signed(change)}: {facts.name} struck the claim (§6)."
    else:
        yield (
            f"XP {signed(change)}: an audit showed that a vouch was wrong (§6)."
            if change > 0
            else f"XP {signed(change)}."
        )


def _bought(facts: Facts) -> str:
    return f"a dot of {facts.value['action']}" if facts.value["buys"] == "dot" else "an ability"


def _scars(facts: Facts) -> Iterator[str]:
    if facts.kind == "scar":
        count, most = len(facts.after["scars"]), facts.rules.scars
        yield f"scar {count} of {most}: the GM wrote it by {facts.name}, and it stays (§5)."


def _retired(facts: Facts) -> Iterator[str]:
    if facts.after["retired"]:
        why = f"{facts.rules.scars} scars" if facts.kind == "scar" else f"its own move {facts.name}"
        yield f"retired by {why} (§5)."


def _abilities(facts: Facts) -> Iterator[str]:
    if facts.kind == "advance":
        yield f"{facts.name} bought an ability (§6)."
    elif len(facts.after["abilities"]) < len(facts.before["abilities"]):
        yield f"{facts.name} struck an ability (§6)."
    else:
        yield f"{facts.name} let an ability stand again (§6)."


def _dots(facts: Facts) -> Iterator[str]:
    if facts.kind == "advance":
        yield f"{facts.name} bought a dot of {facts.value['action']}: {facts.rules.dots_max} at most (§6)."


def _crew(facts: Facts) -> Iterator[str]:
    crew = facts.after.get("crew")
    yield (
        f"{facts.name} put the sheet into {crew} (§7)."
        if crew
        else f"{facts.name} took the sheet out of its crew (§7)."
    )


_OF = {
    "drift": _drift, "harm": _harm, "xp": _xp, "dots": _dots, "abilities": _abilities, "scars": _scars,
    "retired": _retired, "crew": _crew,
}  # fmt: skip
