"""Between moves (§4, §5): rest, repair, and resisting a consequence."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import NOTHING, Context, Docket, Needs, Table, Trace

from weighbridge_delvetown.calendar import game_day, use_ration
from weighbridge_delvetown.consequences import relieve
from weighbridge_delvetown.drift import add_drift, lower_drift, lower_harm
from weighbridge_delvetown.lines import Line, no_standing, over_ration
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.results import resist_cost
from weighbridge_delvetown.stakes import held_back
from weighbridge_delvetown.traces import Cited, is_unresolved, read_trace


def needs_of(docket: Docket) -> Needs:
    """Return what a between move awaits: a resist its dice, the others their trace's verdict."""
    return Needs(dice=("resist",)) if docket.value.get("purpose") == "resist" else Needs(trace=True)


def judge_between(table: Table, docket: Docket, ctx: Context) -> Needs:
    """Judge a between move at its listing and return what it awaits."""
    line = between_line(table, docket)
    if line is not None:
        ctx.report(line.code, docket.uri, line.says)
    resists = docket.value["purpose"] == "resist"
    line = (held_back(docket, ctx, line) if resists else None) or line
    if line is None or line.uses:
        use_ration(table, docket.author, game_day(docket), "between")
    if line is not None:
        return NOTHING
    if resists:
        ask = move_id(docket.value["ask"])
        table[f"act/{ask}"] = {**table[f"act/{ask}"], "resisted": docket.uri}
        table[f"resist/{docket.id}"] = {"ask": ask, "status": "pending"}
    return needs_of(docket)


def between_line(table: Table, docket: Docket) -> Line | None:
    """Return the first line that refuses a between move, or None."""
    line = no_standing(table.get(f"sheet/{docket.author}"))
    if line is not None:
        return line
    if docket.value["purpose"] == "resist":
        return _bad_resist(table, docket) or over_ration(table, docket, "between")
    return over_ration(table, docket, "between") or _untraced(docket)


def _untraced(docket: Docket) -> Line | None:
    if "trace" not in docket.value:
        return Line(
            "refused", "no-trace", "Rest and repair point to a trace, and this has none (§5).", uses=True
        )
    if _cited(docket) is None:
        return Line("refused", "bad-form", "The trace has no form that a trace may have (§3).", uses=True)
    return None


def _cited(docket: Docket) -> Cited | None:
    return read_trace("", docket.value.get("trace"), docket.author)


def _bad_resist(table: Table, docket: Docket) -> Line | None:
    ask = move_id(docket.value.get("ask"))
    act: dict[str, Any] | None = table.get(f"act/{ask}") if ask else None
    cell: dict[str, Any] | None = table.get(f"ask/{ask}") if ask else None
    owes = cell is not None and cell["status"] == "rolled" and cell["result"] != "clean"
    if act is None or not owes or act["by"] != docket.author:
        return _bad("Only the sheet that owes a consequence resists it, once the ask has rolled")
    if act.get("resisted") is not None:
        return _bad("A consequence is resisted once")
    if "applied" in act and game_day(docket) > act["applied"] + 1:
        return _bad("A consequence is resisted by the end of the day after it")
    return None


def _bad(why: str) -> Line:
    return Line("refused", "bad-resist", f"{why}: this resists nothing, and uses no move (§4).")


def complete_between(table: Table, docket: Docket, ctx: Context) -> None:
    """Let a between move whose evidence is complete take effect."""
    if docket.value["purpose"] != "resist":
        _recover(table, docket, ctx)
        return
    if docket.roll is None:
        return  # refused at its listing
    resist: dict[str, Any] = table[f"resist/{docket.id}"]
    faces = ctx.dice("resist").roll(2, 6) if docket.has_dice else []
    status = "untimely" if docket.roll == "untimely" else "rolled"
    table[f"resist/{docket.id}"] = {**resist, "status": status, "dice": faces}
    if status == "untimely":
        return
    act: dict[str, Any] = table[f"act/{resist['ask']}"]
    relieve(table, ctx, resist["ask"], act)
    add_drift(table, ctx, docket.author, resist_cost(faces), docket.rules.drift)


def _recover(table: Table, docket: Docket, ctx: Context) -> None:
    rules, trace = docket.rules, docket.trace
    if trace is None:
        return  # refused at its listing
    unsettled = trace.verdict == "unsettled"
    if unsettled:
        ctx.report(
            "unsettled-trace", docket.uri, "No verdict on the trace came in time; the move goes on (§3)."
        )
    if _shows_nothing(docket, trace) or (unsettled and rules.unsettled_trace == "no-dots"):
        ctx.report(
            "bad-trace", docket.uri, "The trace does not show what it should: the move does nothing (§5)."
        )
        return
    action = docket.value.get("harm")
    if action is None:
        lower_drift(table, docket.author, rules.rest)
        return
    sheet: dict[str, Any] | None = table.get(f"sheet/{docket.author}")
    if sheet is not None and sheet["harm"].get(action, 0) >= 3:
        ctx.report(
            "torn", docket.uri, f"Harm of level 3 on {action} is cleared by somebody else's mend alone (§5)."
        )
        return
    lower_harm(table, docket.author, action, 1)


def _shows_nothing(docket: Docket, trace: Trace) -> bool:
    cited = _cited(docket) if trace.verdict == "unresolved" else None
    return cited is not None and is_unresolved(trace, cited.opens, cited.broken)


def void_between(table: Table, docket: Docket) -> None:
    """Leave of a struck between move its use of the ration."""
    line = between_line(table, docket)
    if line is None or line.uses:
        use_ration(table, docket.author, game_day(docket), "between")
