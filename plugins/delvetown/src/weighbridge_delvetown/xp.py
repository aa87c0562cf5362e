"""XP and advances (§6): five kinds of claim, and what XP buys."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.calendar import game_day
from weighbridge_delvetown.days import text_of
from weighbridge_delvetown.names import move_id
from weighbridge_delvetown.options import Options, Price
from weighbridge_delvetown.sheets import add_ability
from weighbridge_delvetown.traces import uri_of


def add_xp(table: Table, did: str, rules: Options, amount: int = 1) -> None:
    """Mark XP on a sheet, no more than the price's track can hold, nor below 0."""
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is None:
        return
    most = rules.advance.track if rules.advance is not None else None
    wanted = max(0, sheet["xp"] + amount)
    sheet["xp"] = wanted if most is None or amount < 0 else max(sheet["xp"], min(most, wanted))
    table[f"sheet/{did}"] = sheet


def take_claim(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up a claim of XP: one a kind and game day, and a lost roll once an ask."""
    kind, did, day = docket.value["xp"], docket.author, game_day(docket)
    if not uri_of(docket.value["post"]):
        ctx.report("bad-form", docket.uri, "A claim cites a post by URL or at-uri (§6).")
        return
    earned = f"earned/{did}:{text_of(day)}"
    kinds: list[str] = table.get(earned, [])
    if kind in kinds:
        ctx.report(
            "double-claim", docket.uri, f"XP for {kind} was claimed today already: one a kind and day (§6)."
        )
        return
    if kind == "lost-roll" and not _lose(table, docket, ctx):
        return
    table[earned] = [*kinds, kind]
    table[f"claim/{docket.id}"] = did
    add_xp(table, did, docket.rules)


def _lose(table: Table, docket: Docket, ctx: Context) -> bool:
    ask, today = move_id(docket.value.get("about")), game_day(docket)
    act: dict[str, Any] | None = table.get(f"act/{ask}") if ask else None
    cell: dict[str, Any] = table.get(f"ask/{ask}", {}) if ask else {}
    lost = cell.get("status") == "rolled" and cell.get("result") == "failed"
    if act is None or not lost or act["by"] != docket.author or act.get("claimed"):
        why = "names an ask of yours that rolled and failed, once"
    elif not today - 1 <= act["day"] <= today:
        why = "is about an ask of today or yesterday"
    else:
        table[f"act/{ask}"] = {**act, "claimed": True}
        return True
    ctx.report("bad-claim", docket.uri, f"A claim for a lost roll {why} (§6).")
    return False


def strike_claim(table: Table, claim: str, rules: Options) -> None:
    """Take back the XP of a struck claim (id), if it was paid; its kind stays used for the day."""
    did: str | None = table.get(f"claim/{claim}")
    if did is not None:
        add_xp(table, did, rules, -1)
        del table[f"claim/{claim}"]


# --- Advances ----------------------------------------------------------------------------------------------


def take_advance(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up an advance: it is paid at the GM's price or not at all."""
    rules: Options = docket.rules
    price = rules.advance
    if price is None:
        ctx.report("no-price", docket.uri, "The root sets no price for advances, so none is paid (§6).")
        return
    sheet: dict[str, Any] = table[f"sheet/{docket.author}"]
    why = _unpaid(docket.value, sheet, price, rules)
    if why:
        ctx.report("not-paid", docket.uri, f"{why}: nothing is bought and nothing paid (§6).")
        return
    sheet["xp"] -= price.cost
    if docket.value["buys"] == "dot":
        action = docket.value["action"]
        sheet["dots"] = {**sheet["dots"], action: sheet["dots"].get(action, 0) + 1}
    table[f"sheet/{docket.author}"] = sheet
    if docket.value["buys"] == "ability":
        add_ability(table, ctx, docket.author, docket.value["text"], docket.uri)
        table[f"bought/{docket.id}"] = True


def _unpaid(value: dict[str, Any], sheet: dict[str, Any], price: Price, rules: Options) -> str:
    if value["buys"] not in price.buys:
        return f"The root sells no {value['buys']}"
    if sheet["xp"] < price.cost:
        return f"An advance costs {price.cost} XP, and there is {sheet['xp']}"
    if value["buys"] == "ability":
        if 0 < len(value.get("text", "")) <= rules.abilities_max:
            return ""
        return f"An ability is a text of 1 to {rules.abilities_max} characters"
    action = value.get("action")
    if action not in rules.actions:
        return "A dot is for an action of this game"
    return (
        f"{action} has {rules.dots_max} dots, the most"
        if sheet["dots"].get(action, 0) >= rules.dots_max
        else ""
    )
