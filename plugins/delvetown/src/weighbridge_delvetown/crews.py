"""Crews (§7): who is in which, how many operators that makes, and heat."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Event, Table

from weighbridge_delvetown.days import text_of
from weighbridge_delvetown.names import CREW, crew_id, crew_key, id_of
from weighbridge_delvetown.options import Options


def crew_of(table: Table, did: str) -> str:
    """Return the crew an account is in: an at-uri, or its own DID where it is in none."""
    seat: dict[str, Any] | None = table.get(f"seat/{did}")
    return str(seat["crew"]) if seat is not None and seat["in"] else did


def size_of(table: Table, name: str) -> int:
    """Return a crew's size in operators; 0 for a crew nobody knows."""
    crew: dict[str, Any] | None = table.get(crew_key(name))
    return 0 if crew is None else int(crew["size"])


# --- Membership --------------------------------------------------------------------------------------------


def take_crew(table: Table, uri: str, value: dict[str, Any], rules: Options) -> None:
    """Take up a crew record: those it lists who have joined it are its members."""
    listed = list(dict.fromkeys(value["sheets"]))
    table[f"roster/{crew_id(uri)}"] = listed
    table[crew_key(uri)] = {"name": value["name"], "members": [], "size": 0, "heat": 0}
    for did in listed:
        seat: dict[str, Any] = table.get(f"seat/{did}", {"crew": "", "in": False})
        if rules.crew_signing == "record" or seat["crew"] == uri:
            _seat(table, did, uri)


def take_join(table: Table, ctx: Context, uri: str, did: str, crew: str, rules: Options) -> None:
    """Take up a join: it signs the crew record that lists the account."""
    if rules.crew_signing == "record":
        return
    roster: list[str] | None = table.get(f"roster/{id_of(crew, CREW)}")
    if roster is not None and did not in roster:
        ctx.report(
            "not-your-crew", uri, "The crew's record does not list you, so there is nothing to sign (§7)."
        )
    _seat(table, did, crew)


def take_leave(table: Table, did: str) -> None:
    """Take up a leave: the account is in no crew."""
    _seat(table, did, "")


def _seat(table: Table, did: str, crew: str) -> None:
    before = crew_of(table, did)
    roster: list[str] = table.get(f"roster/{id_of(crew, CREW)}", []) if crew else []
    table[f"seat/{did}"] = {"crew": crew, "in": did in roster}
    after = crew_of(table, did)
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    if sheet is not None:
        kept = {name: value for name, value in sheet.items() if name != "crew"}
        table[f"sheet/{did}"] = kept if after == did else {**kept, "crew": after}
    for name in dict.fromkeys((before, after, did)):
        refresh(table, name)


def refresh_of(table: Table, did: str) -> None:
    """Count again the crew that a sheet is in, after the sheet was pinned, retired or struck."""
    for name in dict.fromkeys((crew_of(table, did), did)):
        refresh(table, name)


def refresh(table: Table, name: str) -> None:
    """Count a crew's members and operators again. A crew of one stands only while it is one, or has heat."""
    old: dict[str, Any] | None = table.get(crew_key(name))
    if not name.startswith("at://"):
        _refresh_single(table, name, old)
        return
    if old is None:
        return
    roster: list[str] = table.get(f"roster/{crew_id(name)}", [])
    members = [did for did in roster if crew_of(table, did) == name]
    operators = {op: True for did in members if (op := _active_operator(table, did)) is not None}
    table[crew_key(name)] = {**old, "members": members, "size": len(operators)}


def _refresh_single(table: Table, did: str, old: dict[str, Any] | None) -> None:
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    alone = sheet is not None and crew_of(table, did) == did
    heat = 0 if old is None else old["heat"]
    if not alone and heat == 0:
        if old is not None:
            del table[f"crew/{did}"]
        return
    active = alone and sheet is not None and not sheet["retired"]
    name = sheet["name"] if sheet is not None else "" if old is None else old["name"]
    members = [did] if alone else []
    table[f"crew/{did}"] = {"name": name, "members": members, "size": 1 if active else 0, "heat": heat}


def _active_operator(table: Table, did: str) -> str | None:
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    who: dict[str, Any] | None = table.get(f"who/{did}")
    return None if sheet is None or who is None or sheet["retired"] else str(who["operator"])


# --- Heat --------------------------------------------------------------------------------------------------


def raise_heat(table: Table, ctx: Context, crew: str, did: str, limit: int, amount: int = 1) -> int:
    """Add heat to a crew, up to the track's end, for what a sheet did; return how much it took."""
    cell: dict[str, Any] = table.get(crew_key(crew)) or {"name": "", "members": [], "size": 0, "heat": 0}
    taken = min(limit, cell["heat"] + amount) - cell["heat"]
    if taken <= 0:
        return 0
    if cell["heat"] == 0 and f"hot/{crew_id(crew)}" not in table:
        table[f"hot/{crew_id(crew)}"] = {"crew": crew, "exposed": ""}
    cell["heat"] += taken
    table[crew_key(crew)] = cell
    ctx.emit(Event("heat", did, {"amount": taken}))
    return int(taken)


def lower_heat(table: Table, crew: str, amount: int) -> None:
    """Take heat off a crew, not below 0."""
    cell: dict[str, Any] | None = table.get(crew_key(crew))
    if cell is None or cell["heat"] == 0 or amount <= 0:
        return
    cell["heat"] = max(0, cell["heat"] - amount)
    table[crew_key(crew)] = cell
    if cell["heat"] == 0:
        del table[f"hot/{crew_id(crew)}"]
        if not crew.startswith("at://"):
            refresh(table, crew)


def note_exposed(table: Table, crew: str, day: int) -> None:
    """Note that a crew has made an exposed ask on a game day: its heat does not fall at that day's end."""
    table[f"hot/{crew_id(crew)}"] = {"crew": crew, "exposed": text_of(day)}


def heat_falls(table: Table, day: int) -> None:
    """Let heat fall by 1 for each crew with no exposed ask on the day that ends."""
    for _, hot in list(table.items("hot/")):
        if hot["exposed"] != text_of(day):
            lower_heat(table, hot["crew"], 1)


def heat_of(table: Table, crew: str) -> int:
    """Return a crew's heat."""
    cell: dict[str, Any] | None = table.get(crew_key(crew))
    return 0 if cell is None else int(cell["heat"])
