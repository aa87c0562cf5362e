"""Consequences (§4): what a roll owes, the GM's pick from the position's list, and what is taken back."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.clocks import fill, take_back
from weighbridge_delvetown.crews import lower_heat, raise_heat
from weighbridge_delvetown.days import day_end
from weighbridge_delvetown.drift import add_drift, add_harm, lower_drift, lower_harm
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.prompts import due_key
from weighbridge_delvetown.results import CONSEQUENCES
from weighbridge_delvetown.stakes import was_permitted
from weighbridge_delvetown.waiting import keep_waiting, take_waiting

Act = dict[str, Any]
Cell = dict[str, Any]


def owe(table: Table, docket: Docket, ctx: Context, cell: Cell) -> None:
    """Let a rolled ask owe its consequence, if it does: the GM is asked which, and what waited is taken up."""
    if cell["result"] == "clean":
        return
    act: Act = table[f"act/{docket.id}"]
    options, rules = CONSEQUENCES[cell["position"]], docket.rules
    window: dict[str, Any] = table[f"scene/{act['prompt']}"]
    act["due"] = max(window["to"], ctx.day) + 1
    table[f"act/{docket.id}"] = act
    by_default = rules.consequence_default == "first"
    words = "Which consequence does this roll have?"
    ctx.ask(
        "consequence", docket.uri, words, options,
        default=options[0] if by_default else None,
        due=day_end(act["due"]) if by_default else None,
    )  # fmt: skip
    table[due_key(act["due"], "3-pick", docket.seq)] = docket.id
    waiting = take_waiting(table, docket.id, "pick")
    if waiting is not None:
        _take(table, ctx, rules, docket.id, act, waiting)


def hasten_picks(table: Table, ctx: Context, prompt: str, day: int) -> None:
    """Let the picks of a prompt whose window ends sooner, with `day`, be due sooner too."""
    for _, ask in list(table.items(f"in-{prompt}/")):
        act: Act = table[f"act/{ask}"]
        if act.get("due", 0) <= day + 1:
            continue
        del table[due_key(act["due"], "3-pick", act["seq"])]
        table[due_key(day + 1, "3-pick", act["seq"])] = ask
        table[f"act/{ask}"] = {**act, "due": day + 1}
        asked = ctx.question("consequence", act["uri"])
        if asked is not None and asked.due is not None:
            ctx.close(asked.kind, asked.about)
            ctx.ask(asked.kind, asked.about, asked.words, asked.options, asked.default, day_end(day + 1))


def pick_consequence(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up the GM's pick, or report why it is none."""
    ask = move_id(docket.value["ask"])
    act: Act | None = table.get(f"act/{ask}") if ask else None
    cell: Cell | None = table.get(f"ask/{ask}") if ask else None
    pick = {"uri": docket.uri, "pick": docket.value["pick"], "action": docket.value.get("action", "")}
    why = _why_not(docket, ctx, act, cell)
    if why:
        if was_permitted(table, ask, docket):
            says = f"{why}, since a void changed the past: the default applies (§4)."
            ctx.report("overtaken", docket.uri, says)
        else:
            _bad(ctx, docket.uri, why)
    elif act is None or cell is None or cell["status"] == "pending":
        keep_waiting(table, ask, "pick", pick)
    elif "picked" in act:
        ctx.replace(act["picked"])
    else:
        _take(table, ctx, docket.rules, ask, act, pick)


def _why_not(docket: Docket, ctx: Context, act: Act | None, cell: Cell | None) -> str:
    if act is None or cell is None or cell["status"] not in ("pending", "rolled"):
        return "There is no such act that counts"
    if docket.value["pick"] not in CONSEQUENCES[cell["position"]]:
        return f"In {cell['position']} position it is one of {', '.join(CONSEQUENCES[cell['position']])}"
    if "action" in docket.value and docket.value["action"] not in docket.rules.actions:
        return f"{docket.value['action']} is no action of this game"
    if cell["status"] == "pending":
        return ""
    if cell["result"] == "clean" or cell.get("consequence", {}).get("resisted"):
        return "Nothing is owed"
    late = ctx.day > act["due"] and "consequence" in cell
    return "The pick was due earlier" if late else ""


def _bad(ctx: Context, uri: str, why: str) -> None:
    ctx.report("bad-consequence", uri, f"{why}: the pick changes nothing (§4).")


def _take(table: Table, ctx: Context, rules: Options, ask: str, act: Act, pick: dict[str, Any]) -> None:
    act["picked"] = pick["uri"]
    _apply(table, ctx, rules, ask, act, pick["pick"], pick["action"], "gm")


def apply_default(table: Table, ctx: Context, rules: Options, ask: str) -> None:
    """Let the first of the position's list apply to an ask whose pick is due and was not made."""
    act: Act = table[f"act/{ask}"]
    cell: Cell = table[f"ask/{ask}"]
    if cell["status"] != "rolled" or "consequence" in cell or rules.consequence_default != "first":
        return
    _apply(table, ctx, rules, ask, act, CONSEQUENCES[cell["position"]][0], "", "default")


def _apply(
    table: Table, ctx: Context, rules: Options, ask: str, act: Act, pick: str, action: str, by: str
) -> None:
    harmed = action or act["action"]
    taken: dict[str, int] = {}
    if pick == "drift":
        taken["drift"] = add_drift(table, ctx, act["by"], 1, rules.drift)
    if pick == "heat":
        taken["heat"] = raise_heat(table, ctx, act["crew"], act["by"], rules.heat)
    if pick in ("harm", "harm+tick", "harm2"):
        taken["harm"] = add_harm(table, act["by"], harmed, 2 if pick == "harm2" else 1)
    if pick in ("tick", "harm+tick") and "clock" in act:
        taken["tick"] = fill(table, ctx, act["clock"], 1, act["uri"], act["by"])
    consequence: dict[str, Any] = {"pick": pick, "by": by, "resisted": False}
    if "harm" in taken:
        consequence["action"] = harmed
    table[f"act/{ask}"] = {**act, "taken": taken, "applied": ctx.day}
    table[f"ask/{ask}"] = {**table[f"ask/{ask}"], "consequence": consequence}
    ctx.close("consequence", act["uri"])


# --- Resisted ----------------------------------------------------------------------------------------------


def relieve(table: Table, ctx: Context, ask: str, act: Act) -> None:
    """Take a resisted consequence back, or close the question where none was picked yet."""
    cell: Cell = table[f"ask/{ask}"]
    if "consequence" not in cell:
        ctx.close("consequence", act["uri"])
        table[f"ask/{ask}"] = {**cell, "consequence": {"resisted": True}}
        return
    taken, did = act["taken"], act["by"]
    lower_drift(table, did, taken.get("drift", 0))
    lower_heat(table, act["crew"], taken.get("heat", 0))
    lower_harm(table, did, cell["consequence"].get("action", ""), taken.get("harm", 0))
    if taken.get("tick") and "clock" in act:
        take_back(table, act["clock"])
    table[f"ask/{ask}"] = {**cell, "consequence": {**cell["consequence"], "resisted": True}}
