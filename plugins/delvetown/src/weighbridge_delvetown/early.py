"""Before the first well-formed root: sheets, crews and joins are kept, and judged by it once it comes."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.crews import take_crew, take_join, take_leave
from weighbridge_delvetown.game import keep_rules
from weighbridge_delvetown.names import CREW, MOVE, SHEET, ordered
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.places import keep_places, refresh_turf
from weighbridge_delvetown.sheets import take_sheet


def keep_early(table: Table, docket: Docket, ctx: Context) -> None:
    """Keep what was listed before there were rules, or say that the game is not open."""
    kind = docket.value.get("kind") if docket.collection == MOVE else ""
    if docket.collection in (SHEET, CREW) or kind in ("join", "leave"):
        table[f"early/{ordered(docket.seq)}"] = record_of(docket, docket.day)
        if docket.collection == SHEET:
            table[f"waiting/{docket.author}"] = True
    elif kind != "say":
        _refuse(table, docket, ctx)


def _refuse(table: Table, docket: Docket, ctx: Context) -> None:
    known = f"waiting/{docket.author}" in table
    if known or docket.value["kind"] in (
        "stance",
        "prompt",
        "close",
        "consequence",
        "scar",
        "strike",
        "rule",
        "outage",
    ):
        ctx.report("gate", docket.uri, "The game has no well-formed root yet: nothing opens before it (§1).")
    else:
        ctx.report("no-sheet", docket.uri, "This account has no sheet, so it makes no moves (§1).")
    if docket.value["kind"] == "ask":
        table[f"ask/{docket.id}"] = {"status": "unwitnessed" if known else "refused"}


_FIELDS = ("kind", "crew", "name", "sheets", "dots", "abilities", "operator")


def record_of(docket: Docket, day: int) -> dict[str, Any]:
    """Return what `take_sheet` and its like need of a docket."""
    value = {name: docket.value[name] for name in _FIELDS if name in docket.value} if docket.value else None
    return {
        "uri": docket.uri, "cid": str(docket.cid), "author": docket.author, "op": docket.op,
        "collection": docket.collection, "day": day, "value": value,
    }  # fmt: skip


def take_root(table: Table, docket: Docket, ctx: Context) -> None:
    """Bring a well-formed root's options into force, and judge by the first what was kept for it."""
    rules: Options = docket.rules
    keep_rules(table, docket.value, docket.day, rules)
    keep_places(table, rules)
    for key, record in list(table.items("early/")):
        del table[key]
        _settle(table, ctx, {**record, "day": docket.day}, rules)
    for key in table.keys("waiting/"):
        del table[key]
    refresh_turf(table)


def _settle(table: Table, ctx: Context, record: dict[str, Any], rules: Options) -> None:
    value, did, uri = record["value"], record["author"], record["uri"]
    if record["collection"] == SHEET:
        take_sheet(table, ctx, record, rules)
    elif record["collection"] == CREW:
        take_crew(table, uri, value, rules)
    elif value["kind"] == "join":
        take_join(table, ctx, uri, did, value["crew"], rules)
    else:
        take_leave(table, did)
