"""Strikes and answers (§9): what the GM rules on words. Voids from the listing on are the kernel's."""

from __future__ import annotations

from typing import Any, Literal

from weighbridge.contract import Context, Docket, Ruling, Table

from weighbridge_delvetown.names import MOVE, SHEET, id_of, move_id, split
from weighbridge_delvetown.places import refresh_turf
from weighbridge_delvetown.sheets import allow_abilities, strike_abilities, strike_sheet
from weighbridge_delvetown.vouches import ANSWERS, rule_vouch
from weighbridge_delvetown.xp import strike_claim

_OPTIONS = ("allow", "strike", *ANSWERS)

Ability = tuple[str, int]
"""Whose ability and which: the sheet's DID and a number from 1."""


def ruling_of(docket: Docket) -> Ruling | None:
    """Return what a record rules on, as far as the kernel must know. An answer that is no option rules on nothing."""
    value = docket.value if isinstance(docket.value, dict) else {}
    kind = value.get("kind")
    if docket.collection != MOVE or kind not in ("strike", "rule"):
        return None
    if kind == "rule" and value["answer"] not in _OPTIONS:
        return None
    effect: Literal["void", "release", "answer"] = "answer"
    if kind == "strike":
        effect = "void"
    elif value["answer"] == "allow":
        effect = "release"
    return Ruling(value["subject"], str(value.get("what", "")), effect)


def may_rule(docket: Docket, subject: Docket) -> bool:
    """Whether an answer is one of those that its subject's question allows; anything may be struck or allowed."""
    answer = docket.value.get("answer")
    value = subject.value if isinstance(subject.value, dict) else {}
    if answer in ANSWERS:
        return subject.collection == MOVE and (value.get("kind"), value.get("action")) == ("ask", "audit")
    if answer == "strike":
        return subject.collection == SHEET or (value.get("kind"), value.get("buys")) == ("advance", "ability")
    return True


def voidable(docket: Docket) -> Literal["back", "forward"]:
    """Say what a strike on a record means: moves and crews are void from their listing on."""
    if docket.collection == SHEET:
        return "forward"
    value = docket.value if isinstance(docket.value, dict) else {}
    kind = value.get("kind")
    bought = kind == "advance" and value.get("buys") == "ability"
    return "forward" if kind == "claim" or bought else "back"


def strike(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up a strike: on a sheet, an ability or a claim it counts from here on; the rest the kernel has done."""
    subject, rules = docket.value["subject"], docket.rules
    parts = split(subject)
    if parts is None:
        _nothing(docket, ctx)
        return
    did, collection, _ = parts
    if collection == SHEET and "what" not in docket.value:
        who: dict[str, Any] = table.get(f"who/{did}", {})
        if who.get("uri") != subject or f"sheet/{did}" not in table:
            _nothing(docket, ctx)
            return
        strike_sheet(table, did, rules)
        refresh_turf(table)
        _struck(ctx, subject)
    elif collection == SHEET or f"bought/{id_of(subject, MOVE)}" in table:
        _strike_ability(table, docket, ctx, _abilities(table, docket))
    elif f"claim/{id_of(subject, MOVE)}" in table:
        strike_claim(table, id_of(subject, MOVE), rules)
        _struck(ctx, subject)
    elif _mark(table, subject).get("void") != docket.uri:
        _nothing(docket, ctx)


def _struck(ctx: Context, subject: str) -> None:
    ctx.report("struck", subject, "The GM struck this; it no longer counts (§9).")
    ctx.close("ability", subject)


def _strike_ability(table: Table, docket: Docket, ctx: Context, found: list[Ability]) -> None:
    if not found:
        _nothing(docket, ctx)
        return
    did = found[0][0]
    who: dict[str, Any] = table[f"who/{did}"]
    strike_abilities(table, did, [number for _, number in found], docket.uri)
    _struck(ctx, docket.value["subject"])
    for _, number in found:
        ctx.close("ability", who["abilities"][number - 1].get("by", who["uri"]))


def _abilities(table: Table, docket: Docket, *, struck: bool = False) -> list[Ability]:
    """Return the abilities a ruling is about, by its `what` or its subject: those that stand, or that are struck."""
    subject, what = docket.value["subject"], docket.value.get("what")
    parts = split(subject)
    who: dict[str, Any] = table.get(f"who/{parts[0]}", {}) if parts is not None else {}
    if parts is None or not who or (parts[1] == SHEET and who["uri"] != subject):
        return []
    found = []
    for number, ability in enumerate(who["abilities"], 1):
        about = ability.get("by", who["uri"])
        named = number == what if what is not None and parts[1] == SHEET else about == subject
        if named and ("struck" in ability) == struck:
            found.append((parts[0], number))
    return found


def _mark(table: Table, subject: str) -> dict[str, Any]:
    parts = split(subject)
    found: dict[str, Any] = table.get(f"_/mark/{parts[1]}/{parts[0]}:{parts[2]}", {}) if parts else {}
    return found


def _nothing(docket: Docket, ctx: Context) -> None:
    ctx.report(
        "bad-ruling", docket.uri, "This rules on nothing that stands, or answers no open question (§9)."
    )


# --- Answers -----------------------------------------------------------------------------------------------


def rule(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up an answer to an open question, or the release of what was struck."""
    subject, answer = docket.value["subject"], docket.value["answer"]
    ask = move_id(subject)
    if ask and rule_vouch(table, docket, ctx, ask):
        return
    if answer == "strike":
        _strike_ability(table, docket, ctx, _abilities(table, docket))
    elif answer == "allow":
        _allow(table, docket, ctx, subject)
    else:
        _nothing(docket, ctx)


def _allow(table: Table, docket: Docket, ctx: Context, subject: str) -> None:
    struck = _abilities(table, docket, struck=True)
    if struck:
        allow_abilities(table, struck[0][0], [number for _, number in struck])
        ctx.withdraw("struck", subject)
    asked = ctx.close("ability", subject) if split(subject) is not None else False
    if not (struck or asked or f"released/{_place(subject)}" in table):
        _nothing(docket, ctx)


def _place(subject: str) -> str:
    parts = split(subject)
    return f"{parts[1]}/{parts[0]}:{parts[2]}" if parts is not None else ""


def void_strike(table: Table, docket: Docket) -> None:
    """Remember of a strike that was replaced that its subject had been struck: a release has something to release."""
    if split(docket.value["subject"]) is not None:
        table[f"released/{_place(docket.value['subject'])}"] = True
