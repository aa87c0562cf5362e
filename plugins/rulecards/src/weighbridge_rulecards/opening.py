"""The root in force, and what was listed before the first well-formed one."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_rulecards.names import MOVE, SHEET
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.sheets import join_tracks, record_of, take_sheet

GAME = "game/-"


def keep_early(table: Table, docket: Docket, ctx: Context) -> None:
    """Keep a sheet for the first well-formed root; of a move say that there are no rules yet."""
    if docket.collection == SHEET:
        table[f"early/{docket.seq:012}"] = record_of(docket)
    elif docket.collection == MOVE:
        ctx.report("no-rules", docket.uri, "The game has no well-formed root yet, so no move counts.")


def take_root(table: Table, docket: Docket, ctx: Context) -> None:
    """Bring a root into force: its pools and tracks stand from here on, and sheets that waited are judged by it."""
    rules: Rules = docket.rules
    table[GAME] = {"rules": docket.value["rules"]}
    join_tracks(table, rules.system)
    for pool in rules.system.pools.values():
        cell: dict[str, Any] = table.get(f"pool/{pool.id}", {"value": pool.start})
        table[f"pool/{pool.id}"] = {"value": min(pool.max, cell["value"])}
    for key, record in list(table.items("early/")):
        del table[key]
        take_sheet(table, ctx, record, rules)
