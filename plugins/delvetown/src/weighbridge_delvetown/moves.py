"""Which move goes where: one table of the kinds, and what a record of each does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.contract import NOTHING, Context, Docket, Needs, Table

from weighbridge_delvetown import asks, betweens
from weighbridge_delvetown.assists import assist_line, take_assist
from weighbridge_delvetown.calendar import game_day, record_outage, report_skew, use_ration
from weighbridge_delvetown.consequences import hasten_picks, pick_consequence
from weighbridge_delvetown.contests import take_answer
from weighbridge_delvetown.crews import take_crew, take_join, take_leave
from weighbridge_delvetown.documents import GM_KINDS
from weighbridge_delvetown.drift import retire, scar
from weighbridge_delvetown.early import keep_early, record_of, take_root
from weighbridge_delvetown.lines import no_standing
from weighbridge_delvetown.names import CREW, MOVE, ROOT, SHEET
from weighbridge_delvetown.places import refresh_turf, take_stance
from weighbridge_delvetown.prompts import close_prompt, open_prompt
from weighbridge_delvetown.rulings import rule, strike, void_strike
from weighbridge_delvetown.sheets import take_sheet
from weighbridge_delvetown.xp import take_advance, take_claim

WITHOUT_SHEET = ("join", "leave", "stance", "say")
"""Moves that an account without a sheet may make."""


def needs_of(docket: Docket) -> Needs:
    """Return the most a record awaits."""
    kind = kind_of(docket)
    if docket.rules is None:
        return NOTHING
    if kind == "ask":
        return asks.needs_of(docket, docket.rules)
    return betweens.needs_of(docket) if kind == "between" else NOTHING


def judge(table: Table, docket: Docket, ctx: Context) -> Needs:
    """Judge a record at its listing."""
    if docket.rules is None or docket.collection != MOVE:
        return NOTHING
    report_skew(docket, ctx)
    if kind_of(docket) == "ask":
        return asks.judge_ask(table, docket, ctx)
    return betweens.judge_between(table, docket, ctx) if kind_of(docket) == "between" else NOTHING


def apply(table: Table, docket: Docket, ctx: Context) -> None:
    """Let a complete record take effect."""
    if docket.collection == ROOT:
        take_root(table, docket, ctx)
    elif docket.rules is None:
        keep_early(table, docket, ctx)
    elif docket.collection == SHEET:
        take_sheet(table, ctx, record_of(docket, docket.day), docket.rules)
        refresh_turf(table)
    elif docket.collection == CREW:
        take_crew(table, docket.uri, docket.value, docket.rules)
        refresh_turf(table)
    elif kind_of(docket) in GM_KINDS:
        _gm_move(table, docket, ctx)
    else:
        _move(table, docket, ctx)


def kind_of(docket: Docket) -> str:
    """Return the kind of a move; empty for anything else, however it is shaped."""
    value = docket.value
    kind = value.get("kind") if docket.collection == MOVE and isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _gm_move(table: Table, docket: Docket, ctx: Context) -> None:
    if docket.author != docket.gm:
        says = f"A {kind_of(docket)} is the GM's move; signed by anybody else it changes nothing (§1)."
        ctx.report("not-gm", docket.uri, says)
        return
    _GM[kind_of(docket)](table, docket, ctx)


def _move(table: Table, docket: Docket, ctx: Context) -> None:
    kind = kind_of(docket)
    if kind not in _JUDGED:
        sheet: dict[str, Any] | None = table.get(f"sheet/{docket.author}")
        line = None if sheet is None and kind in WITHOUT_SHEET else no_standing(sheet)
        if line is not None:
            ctx.report(line.code, docket.uri, line.says)
            return
    _PLAYERS[kind](table, docket, ctx)


def _join(table: Table, docket: Docket, ctx: Context) -> None:
    take_join(table, ctx, docket.uri, docket.author, docket.value["crew"], docket.rules)
    refresh_turf(table)


def _leave(table: Table, docket: Docket, ctx: Context) -> None:
    take_leave(table, docket.author)
    refresh_turf(table)


def _say(table: Table, docket: Docket, ctx: Context) -> None:
    """Talk is free, and counts for nothing (§2)."""


def _close(table: Table, docket: Docket, ctx: Context) -> None:
    prompt = close_prompt(table, docket, ctx)
    if prompt:
        hasten_picks(table, ctx, prompt, docket.day)


def _retire(table: Table, docket: Docket, ctx: Context) -> None:
    retire(table, ctx, docket.author, docket.rules)


_JUDGED = ("ask", "between", "assist")
_PLAYERS: dict[str, Callable[[Table, Docket, Context], None]] = {
    "ask": asks.roll_ask,
    "between": betweens.complete_between,
    "assist": take_assist,
    "claim": take_claim,
    "advance": take_advance,
    "join": _join,
    "leave": _leave,
    "answer": take_answer,
    "stance": take_stance,
    "say": _say,
    "retire": _retire,
}
_GM: dict[str, Callable[[Table, Docket, Context], None]] = {
    "prompt": open_prompt,
    "close": _close,
    "consequence": pick_consequence,
    "scar": scar,
    "strike": strike,
    "rule": rule,
    "outage": record_outage,
}


def voided(table: Table, docket: Docket) -> None:
    """Say what remains of a void move: of an ask its cell, and of what uses a ration that use."""
    kind = kind_of(docket)
    if kind == "strike":
        void_strike(table, docket)
    if docket.rules is None:
        return
    if kind == "ask":
        asks.void_ask(table, docket)
    elif kind == "between":
        betweens.void_between(table, docket)
    elif kind == "assist" and assist_line(table, docket) is None:
        use_ration(table, docket.author, game_day(docket), docket.rules.assist_cost)
