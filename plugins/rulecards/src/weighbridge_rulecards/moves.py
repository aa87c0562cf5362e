"""Which move does what: its own change first, then the events that the cards answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.contract import NOTHING, Context, Docket, Needs, Table

from weighbridge_rulecards import effects
from weighbridge_rulecards.acts import act, improve, wait_for_act
from weighbridge_rulecards.blows import is_character, strike_blow
from weighbridge_rulecards.board import Reading, at_start
from weighbridge_rulecards.events import Happened, any_keys, named_keys
from weighbridge_rulecards.faults import fault_of, kind_of, read_grant, subject_of
from weighbridge_rulecards.moments import Moment
from weighbridge_rulecards.names import MOST_DAMAGE, MOVE, id_of
from weighbridge_rulecards.records import Record
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.scenes import open_scene, rule, strike

Json = dict[str, Any]
CARDS = "card:*"
"""The purposes of rolls by cards: `card:<card id>:<n>`, the record's n-th."""


def needs_of(docket: Docket, rules: Rules) -> Needs:
    """Return what a move awaits: its round, if it rolls or can set off a card that does."""
    kind = kind_of(docket)
    own = kind in ("act", "improve") or (kind == "blow" and "dice" in docket.value)
    purposes = ((kind,) if own else ()) + ((CARDS,) if rules.rolling.get(kind) else ())
    return Needs(purposes) if purposes else NOTHING


def judge(table: Table, docket: Docket, rules: Rules) -> Needs:
    """Judge a move at its listing: what it awaits, and the places that its rolls will go by."""
    needs = needs_of(docket, rules)
    if needs.nothing or fault_of(table, docket, rules) is not None:
        return NOTHING
    places = {did: str(table[f"char/{did}"].get("place", "")) for did in _who(docket)}
    table[f"await/{docket.id}"] = {"places": places}
    if kind_of(docket) == "act":
        wait_for_act(table, docket, rules)
    return needs


def _who(docket: Docket) -> list[str]:
    value = docket.value
    sides = [value[side] for side in ("to", "from") if side in value]
    named = [subject_of(docket), *value.get("who", []), *(side for side in sides if is_character(side))]
    return [did for did in dict.fromkeys(named) if did]


def apply_move(table: Table, docket: Docket, ctx: Context, rules: Rules) -> Record | None:
    """Let a complete move take effect. Returns what was done, or None where it was refused."""
    waited: Json = table.get(f"await/{docket.id}", {"places": {}})
    if f"await/{docket.id}" in table:
        del table[f"await/{docket.id}"]
    fault = fault_of(table, docket, rules)
    if fault is not None:
        ctx.report(fault.code, docket.uri, fault.says)
        return None
    record = Record(table, docket, ctx, rules, dict(waited["places"]))
    _APPLY[kind_of(docket)](record, ctx, subject_of(docket))
    record.end()
    return record


# --- what players do ---------------------------------------------------------------------------------------


def _turn(record: Record, ctx: Context, did: str) -> None:
    conditions: dict[str, Json] = record.board.character(did)["conditions"]
    standing = [each for each, cell in conditions.items() if "turns" in cell]
    _moment(record, Happened(did, 1, (("turn",),)))
    for each in standing:
        cell = conditions.get(each)
        if cell is None or "turns" not in cell or (did, each) in record.anew:
            continue
        cell["turns"] -= 1
        if cell["turns"] == 0:
            del conditions[each]


def _rest(record: Record, ctx: Context, did: str) -> None:
    moment = Moment(record)
    for effect in record.rules.system.rest:
        effects.do(moment, effect, did, 1, Reading(record.board, did))
    moment.happen(Happened(did, 1, (("rest",),)))
    moment.run()


def _enter(record: Record, ctx: Context, did: str) -> None:
    place = record.docket.value["place"]
    character = record.board.character(did)
    if character.get("place") == place:
        record.report("already", "They are there already.")
        return
    character["place"] = place
    record.places[did] = place
    _moment(record, Happened(did, 1, named_keys("place", record.rules.system, place)))


# --- what the GM tells -------------------------------------------------------------------------------------


def _call(record: Record, ctx: Context, did: str) -> None:
    value = record.docket.value
    given = {name: value[name] for name in ("check", "stat", "target", "edge") if name in value}
    record.table[f"call/{record.id}"] = {"for": did, **given}


def _meet(record: Record, ctx: Context, did: str) -> None:
    person = record.docket.value["person"]
    met: list[str] = record.board.character(did)["met"]
    if person in met:
        record.report("already", "They have met before: only the first meeting counts.")
        return
    met.append(person)
    _moment(record, Happened(did, 1, named_keys("meet", record.rules.system, person)))


def _item(record: Record, ctx: Context, did: str) -> None:
    value = record.docket.value
    items: dict[str, Json] = record.board.character(did)["items"]
    name = value["item"]
    if value["is"] == "lose":
        if name not in items:
            record.report("not-owned", "They do not have it, so they cannot lose it.")
            return
        items[name]["n"] -= 1
        if items[name]["n"] == 0:
            del items[name]
    elif name in items:
        items[name]["n"] += 1
    else:
        items[name] = _new_item(record, name)
    _moment(record, Happened(did, 1, any_keys("item", value["is"], name)))


def _new_item(record: Record, name: str) -> Json:
    system = record.rules.system
    tracks = {each: at_start(system.tracks[each]) for each in system.items[name].tracks}
    return {"n": 1, "tracks": tracks} if tracks else {"n": 1}


def _foe(record: Record, ctx: Context, did: str) -> None:
    foe = record.rules.system.foes[record.docket.value["foe"]]
    record.table[f"foe/{record.id}"] = {"foe": foe.id, "hp": foe.hp, "defeated": False}


def _blow(record: Record, ctx: Context, did: str) -> None:
    value = record.docket.value
    to, source = value["to"], value.get("from", "")
    for number, amount in enumerate(_amounts(record), 1):
        foe = None if is_character(to) else record.board.cell(f"foe/{id_of(to, MOVE)}")
        if foe is not None and foe["defeated"]:
            record.report("bad-move", "The foe is defeated: no blow falls on it any more.")
            return
        strike_blow(record, number, amount, to, source)


def _amounts(record: Record) -> list[int]:
    value = record.docket.value
    if "amounts" in value:
        amounts: list[int] = value["amounts"]
        return amounts
    if record.stake.own("blow") == {}:
        record.stake.overtaken("this blow rolled no dice then")
        return []
    if not record.docket.has_dice:
        return []
    dice = value["dice"]
    total = sum(record.dice("blow").roll(dice["n"], dice["sides"])) + dice.get("add", 0)
    return [max(0, min(MOST_DAMAGE, total))]


def _fight(record: Record, ctx: Context, did: str) -> None:
    value = record.docket.value
    fight = record.board.cell("fight/-") or {"on": False, "who": []}
    starts = value["is"] == "start"
    if fight["on"] == starts:
        record.report("already", "A fight is on." if starts else "No fight is on.")
        return
    who = value["who"] if starts else fight["who"]
    record.board.put("fight/-", {"on": starts, "who": who})
    _moment(record, *(Happened(each, 1, (("fight", value["is"]),)) for each in who))


def _quest(record: Record, ctx: Context, did: str) -> None:
    value = record.docket.value
    key = f"quest/{value['quest']}"
    quest = record.board.cell(key) or {"steps": 0, "finished": False}
    if quest["finished"]:
        record.report("already", "This quest is finished.")
        return
    step = value["is"] == "step"
    record.board.put(key, {"steps": quest["steps"] + step, "finished": not step})
    _moment(record, Happened(did, 1, (("quest", value["is"]),)))


def _grant(record: Record, ctx: Context, did: str) -> None:
    moment = Moment(record)
    for effect in read_grant(record.docket, record.rules)[0]:
        effects.do(moment, effect, did, 1, Reading(record.board, did))
    moment.run()


def _moment(record: Record, *events: Happened) -> None:
    moment = Moment(record)
    for event in events:
        moment.happen(event)
    moment.run()


_APPLY: dict[str, Callable[[Record, Context, str], None]] = {
    "act": act, "improve": improve, "turn": _turn, "rest": _rest, "enter": _enter, "call": _call, "meet": _meet,
    "item": _item, "foe": _foe, "blow": _blow, "fight": _fight, "quest": _quest, "grant": _grant,
    "scene": open_scene, "rule": rule, "strike": strike,
}  # fmt: skip
