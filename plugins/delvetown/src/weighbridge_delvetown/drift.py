"""Memory (§5): drift and the lost thread, scars, harm, and retiring."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Event, Table

from weighbridge_delvetown.crews import refresh_of
from weighbridge_delvetown.game import count_player
from weighbridge_delvetown.options import Options


def add_drift(table: Table, ctx: Context, did: str, cost: int, limit: int) -> int:
    """Let a sheet pay drift and return what it took. At the track's end the thread is lost and a scar is owed."""
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is None or cost <= 0:
        return 0
    before: int = sheet["drift"]
    lost = before + cost >= limit
    sheet["drift"] = 0 if lost else before + cost
    table[f"sheet/{did}"] = sheet
    if lost:
        _lose_thread(table, ctx, did)
    return min(cost, limit - before)


def lower_drift(table: Table, did: str, amount: int) -> None:
    """Take drift off a sheet, not below 0."""
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is not None and amount > 0 and sheet["drift"] > 0:
        sheet["drift"] = max(0, sheet["drift"] - amount)
        table[f"sheet/{did}"] = sheet


def _lose_thread(table: Table, ctx: Context, did: str) -> None:
    who: dict[str, Any] = table[f"who/{did}"]
    who["lost"] += 1
    who["owed"] = [*who["owed"], who["lost"]]
    table[f"who/{did}"] = who
    _ask_scar(ctx, who["uri"], who["lost"])
    ctx.emit(Event("lost-thread", did))


def _ask_scar(ctx: Context, sheet: str, number: int) -> None:
    words = f"The thread was lost for the {number}. time: which scar does it leave, in one line?"
    ctx.ask("scar", sheet, words, (str(number),))


def scar(table: Table, docket: Docket, ctx: Context) -> None:
    """List a scar of the GM's on a sheet. It answers the oldest lost thread; the last that is allowed retires."""
    did, rules = docket.value["sheet"], docket.rules
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is None:
        ctx.report("bad-ruling", docket.uri, "There is no sheet of that account to write a scar on (§5).")
        return
    sheet["scars"] = [*sheet["scars"], docket.value["text"]]
    table[f"sheet/{did}"] = sheet
    who: dict[str, Any] = table[f"who/{did}"]
    if who["owed"]:
        who["owed"] = who["owed"][1:]
        table[f"who/{did}"] = who
        ctx.close("scar", who["uri"])
        for number in who["owed"]:
            _ask_scar(ctx, who["uri"], number)
    if len(sheet["scars"]) >= rules.scars and not sheet["retired"]:
        retire(table, ctx, did, rules)


def retire(table: Table, ctx: Context, did: str, rules: Options) -> None:
    """Retire a sheet: it makes no more moves, and counts for no crew and no gate."""
    sheet: dict[str, Any] = table[f"sheet/{did}"]
    sheet["retired"] = True
    table[f"sheet/{did}"] = sheet
    refresh_of(table, did)
    count_player(table, did, -1, rules)


# --- Harm --------------------------------------------------------------------------------------------------


def add_harm(table: Table, did: str, action: str, levels: int) -> int:
    """Add levels of harm to an action of a sheet, up to 3, and return how many it took."""
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is None:
        return 0
    before = sheet["harm"].get(action, 0)
    _set_harm(table, did, sheet, action, min(3, before + levels))
    return int(min(3, before + levels) - before)


def lower_harm(table: Table, did: str, action: str, levels: int) -> None:
    """Take levels of harm off an action of a sheet, not below 0."""
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is not None and levels > 0 and sheet["harm"].get(action, 0) > 0:
        _set_harm(table, did, sheet, action, max(0, sheet["harm"][action] - levels))


def _set_harm(table: Table, did: str, sheet: dict[str, Any], action: str, level: int) -> None:
    harm = {name: old for name, old in sheet["harm"].items() if name != action}
    sheet["harm"] = {**harm, action: level} if level else harm
    table[f"sheet/{did}"] = sheet


def mend_for(table: Table, docket: Docket) -> None:
    """Let a successful mend clear level 3 harm of the sheet it names, if another operator runs that."""
    did, action = docket.value.get("for"), docket.value.get("harm")
    if did is None or action is None:
        return
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is None or sheet["harm"].get(action) != 3:
        return
    if operator_of(table, did) != operator_of(table, docket.author):
        _set_harm(table, did, sheet, action, 0)


def operator_of(table: Table, did: str) -> str:
    """Return who runs an account: its sheet's operator, or without a sheet the account itself."""
    who: dict[str, Any] | None = table.get(f"who/{did}")
    return did if who is None else str(who["operator"])
