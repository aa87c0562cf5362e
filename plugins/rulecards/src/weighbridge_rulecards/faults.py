"""Why a move is refused: the first thing that stands against it, as a code and a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weighbridge.contract import Docket, Table

from weighbridge_rulecards.documents import GM_KINDS
from weighbridge_rulecards.effect_reading import GRANTED, EffectReader, Where
from weighbridge_rulecards.knowing import known_in
from weighbridge_rulecards.names import (
    DID,
    MOST,
    MOST_BLOWS,
    MOST_DAMAGE,
    MOST_DICE,
    MOST_EFFECTS,
    MOST_IN_FIGHT,
    MOST_SIDES,
    MOVE,
    id_of,
)
from weighbridge_rulecards.nearest import hint
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.system import GIVEN, Effect

Json = dict[str, Any]
WITHOUT_FOR = ("foe", "blow", "fight", "rule", "strike")
"""The GM's kinds that name no character."""


class Fault(NamedTuple):
    """Why a move is refused."""

    code: str
    says: str


def kind_of(docket: Docket) -> str:
    """Return the kind of a move; empty for anything else, however it is shaped."""
    value = docket.value
    kind = value.get("kind") if docket.collection == MOVE and isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def subject_of(docket: Docket) -> str:
    """Return whose character a move is about: the GM's names it, a player's is their own. Empty: nobody's."""
    if kind_of(docket) in WITHOUT_FOR:
        return ""
    return str(docket.value.get("for", "" if docket.author == docket.gm else docket.author))


def fault_of(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    """Return why a move is refused at its listing, or None."""
    kind, value = kind_of(docket), docket.value
    if kind in GM_KINDS and docket.author != docket.gm:
        return Fault("not-gm", f"A {kind} is the GM's move; signed by anybody else it changes nothing.")
    if kind not in WITHOUT_FOR:
        fault = _subject(table, docket, value)
        if fault is not None:
            return fault
    return _FAULTS[kind](table, docket, rules) if kind in _FAULTS else None


def _subject(table: Table, docket: Docket, value: Json) -> Fault | None:
    if docket.author != docket.gm and value.get("for", docket.author) != docket.author:
        return Fault("not-yours", "A player makes moves for their own character.")
    if docket.author == docket.gm and "for" not in value:
        return Fault("bad-move", "The GM names whose character it is (`for`).")
    return no_sheet(table, subject_of(docket))


def no_sheet(table: Table, did: str) -> Fault | None:
    """Return the fault of an account without a character."""
    return None if f"char/{did}" in table else Fault("no-sheet", f"{did} has no sheet, so no character.")


def _unknown(value: Any, entries: Any, what: str) -> Fault | None:
    if isinstance(value, str) and value in entries:
        return None
    return Fault("unknown-name", f"The system knows {hint(str(value), entries, what)}.")


def _bad(says: str) -> Fault:
    return Fault("bad-move", says)


# --- acts and calls ----------------------------------------------------------------------------------------


def _act(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    value = docket.value
    if ("call" in value) == ("check" in value):
        return _bad("An act names a check, or the call that it answers: one of the two.")
    fault = _answer(table, docket) if "call" in value else _own_check(docket, rules)
    if fault is not None or "spend" not in value:
        return fault
    own = rules.system.own_tracks
    fault = _unknown(value["spend"], own, "track")
    if fault is None and not rules.system.tracks[value["spend"]].spend:
        return _bad(f"{rules.system.tracks[value['spend']].name} buys nothing.")
    return fault


def _answer(table: Table, docket: Docket) -> Fault | None:
    value = docket.value
    if any(name in value for name in ("stat", "target", "edge")):
        return _bad("Check, stat, target and edge are the call's.")
    call: Json | None = table.get(f"call/{id_of(value['call'], MOVE)}")
    if call is None or call["for"] != subject_of(docket):
        return Fault("no-call", "This is no call for this character.")
    if call.get("used", docket.uri) != docket.uri:
        return Fault("no-call", "This call has been answered: a call is good for one act.")
    return None


def _own_check(docket: Docket, rules: Rules) -> Fault | None:
    value = docket.value
    fault = _check(value, rules)
    if fault is not None:
        return fault
    if docket.author == docket.gm:
        return _target(value, rules)
    if rules.system.checks[value["check"]].target == GIVEN:
        return Fault("no-call", f"The GM gives {value['check']} its target: an act answers a call.")
    if "target" in value or "edge" in value:
        return _bad("Target and edge are the GM's to give.")
    return None


def _check(value: Json, rules: Rules) -> Fault | None:
    fault = _unknown(value["check"], rules.system.checks, "check")
    if fault is None and "stat" in value:
        fault = _unknown(value["stat"], rules.system.stats, "stat")
    return fault


def _target(value: Json, rules: Rules) -> Fault | None:
    given = rules.system.checks[value["check"]].target == GIVEN
    if given != ("target" in value):
        return _bad(f"{value['check']} {'needs a target' if given else 'takes no target'}.")
    if given and not -MOST <= value["target"] <= MOST:
        return _bad(f"A target stays within {MOST}.")
    return None


def _call(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    return _check(docket.value, rules) or _target(docket.value, rules)


# --- the rest ----------------------------------------------------------------------------------------------


def _improve(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    stat = docket.value["stat"]
    fault = _unknown(stat, rules.system.stats, "stat")
    if fault is None and not rules.system.improve:
        return _bad("This system has no improvement rolls.")
    if fault is None and stat not in table[f"char/{subject_of(docket)}"]["marked"]:
        return _bad(f"{rules.system.stats[stat].name} is not marked to improve.")
    return fault


def _named(field: str, entries: str) -> Callable[[Table, Docket, Rules], Fault | None]:
    def fault(table: Table, docket: Docket, rules: Rules) -> Fault | None:
        return _unknown(docket.value[field], getattr(rules.system, entries), field)

    return fault


def _blow(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    value = docket.value
    for side in ("to", "from"):
        fault = _side(table, value[side]) if side in value else None
        if fault is not None:
            return fault
    if ("amounts" in value) == ("dice" in value):
        return _bad("A blow has amounts or dice: one of the two.")
    if "dice" in value:
        return (
            None
            if _fine_dice(value["dice"])
            else _bad(f"A blow's dice are n (1 to {MOST_DICE}), sides and perhaps add.")
        )
    amounts = value["amounts"]
    if not 1 <= len(amounts) <= MOST_BLOWS or not all(0 <= each <= MOST_DAMAGE for each in amounts):
        return _bad(f"1 to {MOST_BLOWS} blows of 0 to {MOST_DAMAGE} each.")
    return None


def _side(table: Table, who: str) -> Fault | None:
    if DID.fullmatch(who):
        return no_sheet(table, who)
    if not who.startswith("at://"):
        return _bad("A side of a blow is a DID, or the at-uri of a foe on the stage.")
    return (
        None
        if f"foe/{id_of(who, MOVE)}" in table
        else Fault("unknown-name", "There is no such foe on the stage.")
    )


def _fine_dice(dice: Any) -> bool:
    if not isinstance(dice, dict) or sorted(dice) not in (["n", "sides"], ["add", "n", "sides"]):
        return False
    bounds = {"n": (1, MOST_DICE), "sides": (2, MOST_SIDES), "add": (-MOST_DAMAGE, MOST_DAMAGE)}
    return all(type(n) is int and bounds[name][0] <= n <= bounds[name][1] for name, n in dice.items())


def _fight(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    value = docket.value
    if (value["is"] == "start") != ("who" in value):
        return _bad("A fight starts with who is in it, and ends without.")
    who = value.get("who", [])
    if "who" in value and not 1 <= len(who) <= MOST_IN_FIGHT:
        return _bad(f"1 to {MOST_IN_FIGHT} are in a fight.")
    if len(dict.fromkeys(who)) != len(who):
        return _bad("Each is in a fight once.")
    return next((fault for did in who if (fault := no_sheet(table, did)) is not None), None)


def _grant(table: Table, docket: Docket, rules: Rules) -> Fault | None:
    return read_grant(docket, rules)[1]


def read_grant(docket: Docket, rules: Rules) -> tuple[tuple[Effect, ...], Fault | None]:
    """Return the effects of a grant, or why it is refused."""
    reader = Reader()
    effects = EffectReader(reader, rules.system, known_in(rules.system))
    read = effects.read_all(docket.value["then"], "$.then", Where(GRANTED), MOST_EFFECTS, 1)
    if not reader.problems:
        return read, None
    code = "unknown-name" if reader.unknown == len(reader.problems) else "bad-move"
    return (), Fault(code, "; ".join(f"{each.path}: {each.says}" for each in reader.problems) + ".")


_FAULTS: dict[str, Callable[[Table, Docket, Rules], Fault | None]] = {
    "act": _act,
    "call": _call,
    "improve": _improve,
    "enter": _named("place", "places"),
    "meet": _named("person", "people"),
    "item": _named("item", "items"),
    "foe": _named("foe", "foes"),
    "blow": _blow,
    "fight": _fight,
    "grant": _grant,
}
