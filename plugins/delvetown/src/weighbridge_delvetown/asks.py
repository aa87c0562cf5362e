"""Asks (§3, §4): judged at the listing, rolled once all evidence is in the log."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import NOTHING, Context, Docket, Event, Needs, Table

from weighbridge_delvetown.assists import has_help, use_help
from weighbridge_delvetown.calendar import game_day, use_ration
from weighbridge_delvetown.consequences import owe
from weighbridge_delvetown.contests import settle_success
from weighbridge_delvetown.crews import note_exposed, raise_heat
from weighbridge_delvetown.days import day_of
from weighbridge_delvetown.drift import add_drift, mend_for
from weighbridge_delvetown.lines import Line, Scene, Sheet, ask_line, cited_by, scene_of
from weighbridge_delvetown.names import ordered
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.position import Stand, stand_of
from weighbridge_delvetown.results import Outcome, dice_count, outcome_of, pool_of, stepped
from weighbridge_delvetown.stakes import held_back, hold_pool
from weighbridge_delvetown.traces import Cited, date_of, first_cited, is_unresolved
from weighbridge_delvetown.vouches import note_success
from weighbridge_delvetown.waiting import drop_waiting

Act = dict[str, Any]


def needs_of(docket: Docket, rules: Options) -> Needs:
    """Return what an ask awaits: its dice and its trace's verdict."""
    return Needs(dice=("ask",), trace=True, after=rules.roll_after)


def judge_ask(table: Table, docket: Docket, ctx: Context) -> Needs:
    """Judge an ask at its listing and return what it awaits."""
    rules: Options = docket.rules
    if docket.value["action"] not in rules.actions:
        ctx.report("bad-shape", docket.uri, "$.action: no action of this game (§3).")
        return NOTHING
    sheet: Sheet | None = table.get(f"sheet/{docket.author}")
    scene, cited = scene_of(table, docket), cited_by(docket)
    line = ask_line(table, docket, sheet, scene, cited)
    if line is not None:
        ctx.report(line.code, docket.uri, line.says)
    line = held_back(docket, ctx, line) or line
    if line is not None and line.status == "refused":
        return _refuse(table, docket, line)
    if sheet is None or cited is None or line is not None or scene is None:
        return _unwitnessed(table, docket, sheet, cited)
    _put_up(table, docket, ctx, sheet, scene, cited)
    return needs_of(docket, rules)


def _refuse(table: Table, docket: Docket, line: Line) -> Needs:
    if line.uses:
        use_ration(table, docket.author, game_day(docket), "action")
    table[f"ask/{docket.id}"] = {"status": "refused"}
    return NOTHING


def _unwitnessed(table: Table, docket: Docket, sheet: Sheet | None, cited: Cited | None) -> Needs:
    table[f"ask/{docket.id}"] = {"status": "unwitnessed"}
    if sheet is None or cited is None:
        return NOTHING
    first_cited(table, docket.author, cited, docket.at)
    action, extra = docket.value["action"], 1 if docket.value.get("push") else 0
    pool = pool_of(sheet["dots"].get(action, 0), sheet["harm"].get(action, 0), extra)
    table[f"ask/{docket.id}"] = {"status": "unwitnessed", "pool": pool, "zero": pool == 0}
    return Needs(dice=("ask",))


def _put_up(table: Table, docket: Docket, ctx: Context, sheet: Sheet, scene: Scene, cited: Cited) -> None:
    value, rules, did, day = docket.value, docket.rules, docket.author, game_day(docket)
    use_ration(table, did, day, "action")
    stand = stand_of(table, did, value.get("target"), scene, cited, rules)
    act = _act(table, docket, ctx, sheet, scene, cited, stand)
    if stand.position == "exposed":
        raise_heat(table, ctx, stand.crew, did, rules.heat)
        note_exposed(table, stand.crew, day)
    table[f"act/{docket.id}"] = act
    if not scene["closed"]:
        table[f"in-{act['prompt']}/{ordered(docket.seq)}"] = docket.id
    pool = pool_of(act["dots"], act["harm"], act["extra"])
    table[f"ask/{docket.id}"] = {
        "status": "pending", "pool": pool, "zero": pool == 0,
        "position": stand.position, "effect": stand.effect, "ticks": 0,
    }  # fmt: skip


def _act(
    table: Table, docket: Docket, ctx: Context, sheet: Sheet, scene: Scene, cited: Cited, stand: Stand
) -> Act:
    value, did = docket.value, docket.author
    action, prompt = value["action"], scene["uri"].removeprefix("at://").replace("/town.delve.move/", ":")
    helped = has_help(table, did, prompt, game_day(docket))
    if helped:
        use_help(table, did, prompt)
    dated = first_cited(table, did, cited, docket.at)
    dots = sheet["dots"].get(action, 0)
    if cited.by_listing and day_of(dated) < scene["from"]:
        dots = 0
        _report_stale(docket, ctx)
    act: Act = {
        "uri": docket.uri, "seq": docket.seq, "by": did, "action": action, "prompt": prompt, "day": game_day(docket),
        "from": scene["from"], "crew": stand.crew, "against": stand.against,
        "why": list(stand.why),
        "dots": dots, "harm": sheet["harm"].get(action, 0),
        "listing": cited.by_listing, "opens": cited.opens, "broken": cited.broken,
        "extra": (1 if helped else 0) + (1 if value.get("push") else 0),
    }  # fmt: skip
    if scene.get("kind") == "faction":
        act["clock"] = scene["clock"]
    return act


def _report_stale(docket: Docket, ctx: Context) -> None:
    ctx.report(
        "stale-trace", docket.uri, "The trace is older than the prompt's window: it rolls without dots (§3)."
    )


# --- The roll ----------------------------------------------------------------------------------------------


def roll_ask(table: Table, docket: Docket, ctx: Context) -> None:
    """Let an ask whose evidence is complete roll, and what follows from it follow."""
    if docket.roll is None:
        return  # refused at its listing, or shown without dice
    cell: dict[str, Any] = table[f"ask/{docket.id}"]
    act: Act | None = table.get(f"act/{docket.id}")
    if act is None:
        _show(table, docket, ctx, cell, cell.get("pool", 0))
        return
    pool = hold_pool(docket, ctx, act, _dots(docket, ctx, act))
    if docket.roll == "untimely":
        _show(table, docket, ctx, {**cell, "status": "untimely"}, pool)
        drop_waiting(table, ctx, docket.id)
        return
    cell = {**cell, "status": "rolled", **_roll(docket, ctx, pool)}
    if cell["crit"]:
        cell["effect"] = stepped(cell["effect"], docket.rules.crit_effect)
    table[f"ask/{docket.id}"] = cell
    _follow(table, docket, ctx, cell, act)


def _roll(docket: Docket, ctx: Context, pool: int) -> dict[str, Any]:
    faces = ctx.dice("ask").roll(dice_count(pool), 6)
    outcome: Outcome = outcome_of(pool, faces)
    return {
        "pool": pool, "zero": pool == 0, "dice": faces,
        "kept": outcome.kept, "result": outcome.result, "crit": outcome.crit,
    }  # fmt: skip


def _show(table: Table, docket: Docket, ctx: Context, cell: dict[str, Any], pool: int) -> None:
    # Dice that are shown and from which nothing follows; without a beacon there are none to show.
    shown = _roll(docket, ctx, pool) if docket.has_dice else {"pool": pool, "zero": pool == 0}
    table[f"ask/{docket.id}"] = {**cell, **shown}


def _dots(docket: Docket, ctx: Context, act: Act) -> int:
    trace, rules = docket.trace, docket.rules
    ctx.withdraw("pending-trace", docket.uri)
    if trace is None:
        return int(act["dots"])
    if trace.verdict == "unsettled":
        ctx.report(
            "unsettled-trace", docket.uri, "No verdict on the trace came in time; the roll goes on (§3)."
        )
    if trace.verdict == "unsettled" and rules.unsettled_trace == "no-dots":
        return 0
    if is_unresolved(trace, act["opens"], act["broken"]):
        ctx.report(
            "bad-trace", docket.uri, "The trace does not show what it should: it rolls without dots (§3)."
        )
        return 0
    dated = None if act["listing"] or trace.verdict == "unsettled" else date_of(trace, docket.at)
    if dated is not None and day_of(dated) < act["from"]:
        _report_stale(docket, ctx)
        return 0
    return int(act["dots"])


def _follow(table: Table, docket: Docket, ctx: Context, cell: dict[str, Any], act: Act) -> None:
    value, rules, did = docket.value, docket.rules, docket.author
    ctx.emit(Event("roll", did, {"kept": cell["kept"]}))
    if value.get("push"):
        add_drift(table, ctx, did, rules.push, rules.drift)
    if cell["result"] != "failed":
        settle_success(table, ctx, docket.id, act, cell, rules)
        if value["action"] == "mend":
            mend_for(table, docket)
        if value["action"] == "audit":
            note_success(table, docket, ctx, act)
    owe(table, docket, ctx, cell)
    drop_waiting(table, ctx, docket.id)


def void_ask(table: Table, docket: Docket) -> None:
    """Leave of a struck ask its cell and its use of the ration."""
    if docket.rules is not None and docket.value["action"] in docket.rules.actions:
        sheet: Sheet | None = table.get(f"sheet/{docket.author}")
        line = ask_line(table, docket, sheet, scene_of(table, docket), cited_by(docket))
        if line is None or line.uses:
            use_ration(table, docket.author, game_day(docket), "action")
    table[f"ask/{docket.id}"] = {"status": "void"}
