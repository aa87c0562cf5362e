"""Contested acts (§8): answers, and what a success fills."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.calendar import game_day
from weighbridge_delvetown.clocks import fill, latest_project
from weighbridge_delvetown.crews import crew_of
from weighbridge_delvetown.drift import operator_of
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.results import segments


def take_answer(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up an answer: another crew contests an act that is aimed at it or at its turf."""
    ask = move_id(docket.value["ask"])
    act: dict[str, Any] | None = table.get(f"act/{ask}") if ask else None
    cell: dict[str, Any] | None = table.get(f"ask/{ask}") if ask else None
    if act is None or cell is None or cell["status"] not in ("pending", "rolled"):
        _bad(docket, ctx, "There is no such act that counts")
    elif act.get("answered"):
        _bad(docket, ctx, "This act has been answered already")
    elif not _is_in_time(table, docket, act):
        _bad(docket, ctx, "The prompt's window is over")
    elif not _may_contest(table, docket, act):
        says = "Only a member of the crew whose turf or whom it is aimed at, of another operator, answers an act (§8)."
        ctx.report("not-your-crew", docket.uri, says)
    else:
        act["answered"] = True
        table[f"act/{ask}"] = act
        if cell["status"] == "rolled" and cell["result"] != "failed":
            _fill_faction(table, ctx, ask, act, cell, docket.rules)


def _bad(docket: Docket, ctx: Context, why: str) -> None:
    ctx.report("bad-answer", docket.uri, f"{why}: the answer changes nothing (§8).")


def _is_in_time(table: Table, docket: Docket, act: dict[str, Any]) -> bool:
    scene: dict[str, Any] = table[f"scene/{act['prompt']}"]
    return bool(game_day(docket) <= scene["to"])


def _may_contest(table: Table, docket: Docket, act: dict[str, Any]) -> bool:
    did, against = docket.author, act["against"]
    if not against or f"sheet/{did}" not in table or crew_of(table, did) != against:
        return False
    return operator_of(table, did) != operator_of(table, act["by"])


# --- What a success fills --------------------------------------------------------------------------------


def settle_success(
    table: Table, ctx: Context, ask: str, act: dict[str, Any], cell: dict[str, Any], rules: Options
) -> None:
    """Let a success fill what it may: contested a faction clock; uncontested, once its window closed, a project."""
    if act.get("answered"):
        _fill_faction(table, ctx, ask, act, cell, rules)
    elif table[f"scene/{act['prompt']}"]["closed"]:
        fill_project(table, ctx, ask, act, cell)


def _fill_faction(
    table: Table, ctx: Context, ask: str, act: dict[str, Any], cell: dict[str, Any], rules: Options
) -> None:
    if "clock" in act:
        ticks = fill(table, ctx, act["clock"], segments(rules, cell["effect"]), act["uri"], act["by"])
        table[f"ask/{ask}"] = {**cell, "ticks": ticks}


def fill_project(table: Table, ctx: Context, ask: str, act: dict[str, Any], cell: dict[str, Any]) -> None:
    """Fill one segment of the sheet's latest project clock that is not full."""
    clock = latest_project(table, act["by"])
    if clock:
        ticks = fill(table, ctx, clock, 1, act["uri"], act["by"])
        table[f"ask/{ask}"] = {**cell, "ticks": ticks}


def close_acts(table: Table, ctx: Context, prompt: str) -> None:
    """Settle the acts of a prompt whose window has closed: projects fill, and what still waits says so."""
    for key, ask in list(table.items(f"in-{prompt}/")):
        act: dict[str, Any] = table[f"act/{ask}"]
        cell: dict[str, Any] = table[f"ask/{ask}"]
        if cell["status"] == "pending" and _awaits_trace(table, ask):
            says = "The window is over and no verdict on the trace is in the log yet (§3)."
            ctx.report("pending-trace", act["uri"], says)
        elif cell["status"] == "rolled" and cell["result"] != "failed" and not act.get("answered"):
            fill_project(table, ctx, ask, act, cell)
        del table[key]


def _awaits_trace(table: Table, ask: str) -> bool:
    pending: dict[str, Any] = table.get(f"_/pending/town.delve.move/{ask}", {})
    return bool(pending) and "verdict" not in pending
