"""Prompts (§2): the scores the GM opens, their windows, and what happens when one closes."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.clocks import clock_for
from weighbridge_delvetown.days import number_of, text_of
from weighbridge_delvetown.game import is_open
from weighbridge_delvetown.names import move_id, ordered
from weighbridge_delvetown.options import Options


def open_prompt(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up a prompt: its window, its target, who is invited, and its clock."""
    value, rules, today = docket.value, docket.rules, docket.day
    if not _has_fair_clock(docket, ctx, rules):
        return
    first, last = number_of(value["from"]), number_of(value["to"])
    scene: dict[str, Any] = {"uri": docket.uri, "from": first, "to": last, "closed": last < today}
    for field in ("target", "invited"):
        if field in value:
            scene[field] = value[field]
    if "clock" in value:
        scene["kind"] = value["clock"]["kind"]
        scene["clock"] = clock_for(table, docket.id, docket.seq, value["clock"], _owner(value))
    table[f"scene/{docket.id}"] = scene
    gate = is_open(table)
    if not gate:
        says = f"The game opens with {rules.gate} players; this prompt waits for them (§1)."
        ctx.report("gate", docket.uri, says)
    shown = {"from": value["from"], "to": value["to"], "open": gate and first <= today <= last}
    table[f"prompt/{docket.id}"] = shown
    if first > today:
        table[due_key(first - 1, "1-open", docket.seq)] = docket.id
    if last >= today:
        table[due_key(last, "2-close", docket.seq)] = docket.id


def due_key(day: int, what: str, seq: int) -> str:
    """Return the key of what a day's end is due to do: one group of cells a day, in order of kind and listing."""
    return f"due-{text_of(day)}/{what}:{ordered(seq)}"


def _has_fair_clock(docket: Docket, ctx: Context, rules: Options) -> bool:
    clock = docket.value.get("clock")
    if clock is None or clock["size"] in rules.clocks:
        return True
    sizes = ", ".join(str(size) for size in rules.clocks)
    ctx.report("bad-shape", docket.uri, f"$.clock.size: this game's clocks have {sizes} segments (§8).")
    return False


def _owner(value: dict[str, Any]) -> str:
    if value["clock"]["kind"] == "project":
        return str(value["invited"][0])
    return str(value.get("target", {}).get("crew", ""))


def close_prompt(table: Table, docket: Docket, ctx: Context) -> str:
    """End a prompt's window with the current day; the id of the prompt that ends sooner by it, or nothing."""
    prompt, today = move_id(docket.value["prompt"]), docket.day
    scene: dict[str, Any] | None = table.get(f"scene/{prompt}") if prompt else None
    if scene is None:
        ctx.report("bad-ruling", docket.uri, "There is no such prompt to close (§2).")
        return ""
    if scene["closed"] or scene["to"] <= today:
        return ""
    scene["to"] = today
    table[f"scene/{prompt}"] = scene
    shown: dict[str, Any] = table[f"prompt/{prompt}"]
    table[f"prompt/{prompt}"] = {**shown, "to": text_of(today)}
    table[due_key(today, "2-close", docket.seq)] = prompt
    return prompt


def begin_window(table: Table, prompt: str, day: int) -> None:
    """Open a window that begins with the day after `day`."""
    scene: dict[str, Any] = table[f"scene/{prompt}"]
    if scene["from"] == day + 1 <= scene["to"] and is_open(table):
        shown: dict[str, Any] = table[f"prompt/{prompt}"]
        table[f"prompt/{prompt}"] = {**shown, "open": True}


def end_window(table: Table, prompt: str, day: int) -> bool:
    """Close a window whose last day has ended; whether this day was it."""
    scene: dict[str, Any] = table[f"scene/{prompt}"]
    if scene["closed"] or scene["to"] != day:
        return False
    table[f"scene/{prompt}"] = {**scene, "closed": True}
    shown: dict[str, Any] = table[f"prompt/{prompt}"]
    table[f"prompt/{prompt}"] = {**shown, "open": False}
    return True
