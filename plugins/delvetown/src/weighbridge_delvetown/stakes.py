"""What an ask stood to draw when its round came out: a void may take dice away and never adds any (K-fold, §4)."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table, Value

from weighbridge_delvetown.lines import Line
from weighbridge_delvetown.names import MOVE
from weighbridge_delvetown.results import pool_of

COUNTS = "counts"


def stake_of(table: Table, docket: Docket) -> Value:
    """Return what an ask or a resist stands to draw as the table has it, and the rulings that stand on it."""
    value = docket.value if isinstance(docket.value, dict) else {}
    if value.get("kind") == "between":
        resist: dict[str, Any] | None = table.get(f"resist/{docket.id}")
        return {"status": "refused" if resist is None else COUNTS}
    cell: dict[str, Any] | None = table.get(f"ask/{docket.id}")
    act: dict[str, Any] | None = table.get(f"act/{docket.id}")
    if cell is not None and cell["status"] == "void":
        return None  # struck before the past changed: what it had is not known any more
    if cell is None or act is None:
        return {"status": "refused" if cell is None else cell["status"]}
    stake: dict[str, Any] = {
        "status": COUNTS,
        "dots": act["dots"],
        "harm": act["harm"],
        "extra": act["extra"],
    }
    return {**stake, "rulings": [act[name] for name in ("picked", "ruled") if name in act]}


def held_back(docket: Docket, ctx: Context, line: Line | None) -> Line | None:
    """Return the line that a stake holds a record to, if it stood to draw less than it would now.

    `overtaken` is reported whenever the past has changed what becomes of the record.
    """
    stake: dict[str, Any] | None = docket.stake
    now = COUNTS if line is None else line.status
    if stake is None or stake["status"] == now:
        return None
    says = f"The past changed after its dice were public: it was {stake['status']} then and would be {now} now (§4)."
    ctx.report("overtaken", docket.uri, says)
    if stake["status"] == "refused" or (stake["status"] == "unwitnessed" and now == COUNTS):
        return Line(stake["status"], "overtaken", says)
    return None


def hold_pool(docket: Docket, ctx: Context, act: dict[str, Any], dots: int) -> int:
    """Return an ask's pool: no more dice than it stood to draw when its round came out."""
    pool = pool_of(dots, act["harm"], act["extra"])
    stake: dict[str, Any] | None = docket.stake
    if stake is None or stake["status"] != COUNTS:
        return pool
    # The verdict on the trace is no void: what it leaves of the dots holds for the stake as well.
    then = pool_of(
        min(stake["dots"], dots if dots < act["dots"] else stake["dots"]), stake["harm"], stake["extra"]
    )
    if then != pool:
        says = (
            f"The past changed after its dice were public: it had {then} dice and would have {pool} now (§4)."
        )
        ctx.report("overtaken", docket.uri, says)
    return min(pool, then)


def was_permitted(table: Table, ask: str, ruling: Docket) -> bool:
    """Say whether a ruling stood on an ask (id) before a void changed the past, or the ask itself was struck."""
    stake: dict[str, Any] | None = table.get(f"_/stake/{MOVE}/{ask}")
    if stake is not None and ruling.uri in stake.get("rulings", ()):
        return True
    mark: dict[str, Any] = table.get(f"_/mark/{MOVE}/{ask}", {})
    strike: dict[str, Any] = table.get(f"_/ruling/{MOVE}/{ask}", {})
    return "void" in mark and strike.get("seq", 0) > ruling.seq
