"""Clocks (§8): made by prompts, filled by the fold, full for good."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Event, Table

from weighbridge_delvetown.names import crew_id, ordered


def clock_for(table: Table, prompt: str, seq: int, clock: dict[str, Any], owner: str) -> str:
    """Return the id of the clock that a prompt fills: one with that name, kind and owner goes on, else it is new.

    `owner` is a project's sheet or a faction clock's target crew; empty for none.
    """
    group = _index(clock["kind"], owner)
    for key in table.keys(group):
        known: str = table[key]
        if table[f"clock/{known}"]["name"] == clock["name"]:
            return known
    cell = {"name": clock["name"], "size": clock["size"], "filled": 0, "kind": clock["kind"]}
    table[f"clock/{prompt}"] = {**cell, "owner": owner} if owner else cell
    table[group + ordered(seq)] = prompt
    return prompt


def _index(kind: str, owner: str) -> str:
    # One group of cells for each owner, so that a lookup reads that owner's clocks and no others.
    return f"{kind}-{crew_id(owner)}/"


def fill(table: Table, ctx: Context, clock: str, segments: int, ask: str, did: str) -> int:
    """Fill segments of a clock for an ask (at-uri) of a sheet and return how many it took. Spare ones are dropped."""
    cell: dict[str, Any] | None = table.get(f"clock/{clock}")
    if cell is None:
        return 0
    taken = min(segments, cell["size"] - cell["filled"])
    if taken <= 0:
        return 0
    cell["filled"] += taken
    table[f"clock/{clock}"] = cell
    if cell["filled"] == cell["size"]:
        if ask:
            ctx.report("clock-full", ask, f"This filled the clock {cell['name']} (§8).")
        ctx.emit(Event("clock-full", did, {"clock": cell["name"]}))
    return int(taken)


def take_back(table: Table, clock: str) -> None:
    """Take a consequence's tick back, unless the clock is full: a full clock stays full."""
    cell: dict[str, Any] | None = table.get(f"clock/{clock}")
    if cell is not None and 0 < cell["filled"] < cell["size"]:
        table[f"clock/{clock}"] = {**cell, "filled": cell["filled"] - 1}


def latest_project(table: Table, did: str) -> str:
    """Return the sheet's latest project clock that is not full; empty where there is none."""
    for key in reversed(table.keys(_index("project", did))):
        clock: str = table[key]
        cell = table[f"clock/{clock}"]
        if cell["filled"] < cell["size"]:
            return clock
    return ""
