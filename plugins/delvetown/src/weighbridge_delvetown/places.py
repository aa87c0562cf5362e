"""Turf (§7): places, their landlords' stances, and whose turf a place is."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table

from weighbridge_delvetown.crews import crew_of
from weighbridge_delvetown.names import PLACE
from weighbridge_delvetown.options import Options

TURF_STANCES = ("play", "neutral", "sell")
NO_STANCE = "none"
"""What a place's cell says while its namer has taken no stance on whose turf it is."""


def keep_places(table: Table, rules: Options) -> None:
    """Put up the places of a root. A place that got another namer begins again, without stances."""
    names = [place.name for place in rules.places]
    for key in table.keys("place/"):
        if key.removeprefix("place/") not in names:
            del table[key]
    for place in rules.places:
        old: dict[str, Any] = table.get(f"place/{place.name}", {})
        if old and old["namer"] != place.namer:
            del table[f"stances/{place.name}"]
            old = {}
        cell = {"namer": place.namer, "stance": old.get("stance", NO_STANCE)}
        table[f"place/{place.name}"] = cell if place.title is None else {**cell, "title": place.title}
        if f"stances/{place.name}" not in table:
            table[f"stances/{place.name}"] = {"taken": False, "toward": {}}
        _show_turf(table, place.name)


def take_stance(table: Table, docket: Docket, ctx: Context) -> None:
    """Take up a landlord's stance."""
    value = docket.value
    name, how = value["place"], value["how"]
    place: dict[str, Any] | None = table.get(f"place/{name}") if _is_name(name) else None
    if place is None or place["namer"] != docket.author:
        ctx.report("not-landlord", docket.uri, "Only who named a place speaks for it (§7).")
        return
    stances: dict[str, Any] = table[f"stances/{name}"]
    toward = _crew_named(table, value.get("toward"))
    stances["taken"] = True
    if how in TURF_STANCES:
        stances.pop("sold", None)
        table[f"place/{name}"] = {**place, "stance": how}
        if how == "sell" and "toward" in value:
            stances["sold"] = value["toward"]
    elif toward:
        stances["toward"][toward] = {"how": how, "seq": docket.seq, "prompt": value.get("prompt", "")}
    elif how == "refuse":
        stances["all"] = docket.seq
    table[f"stances/{name}"] = stances
    _show_turf(table, name)


def _is_name(name: str) -> bool:
    return PLACE.fullmatch(name) is not None


def _crew_named(table: Table, name: str | None) -> str:
    if name is None:
        return ""
    return name if name.startswith("at://") else crew_of(table, name)


# --- Whose turf --------------------------------------------------------------------------------------------


def turf_of(table: Table, name: str) -> str:
    """Return the crew (at-uri, or DID of a sheet in none) whose turf a place is; empty for nobody's."""
    place: dict[str, Any] | None = table.get(f"place/{name}") if _is_name(name) else None
    return "" if place is None else str(place.get("crew", ""))


def _turf_of(table: Table, name: str, place: dict[str, Any]) -> str:
    if place["stance"] == "play":
        return _crew_or_sheet(table, place["namer"])
    sold: str = table[f"stances/{name}"].get("sold", "") if place["stance"] == "sell" else ""
    return sold if sold.startswith("at://") or not sold else _crew_or_sheet(table, sold)


def _crew_or_sheet(table: Table, did: str) -> str:
    crew = crew_of(table, did)
    return crew if crew != did or f"sheet/{did}" in table else ""


def _show_turf(table: Table, name: str) -> None:
    place: dict[str, Any] = table[f"place/{name}"]
    crew = _turf_of(table, name, place)
    kept = {field: value for field, value in place.items() if field != "crew"}
    table[f"place/{name}"] = {**kept, "crew": crew} if crew else kept


def refresh_turf(table: Table) -> None:
    """Look again whose turf each place is, after somebody changed crew or a sheet came or went."""
    for key in table.keys("place/"):
        _show_turf(table, key.removeprefix("place/"))


# --- What a landlord says to a crew ------------------------------------------------------------------------


def is_barred(table: Table, name: str) -> bool:
    """Say whether the namer of a place has taken no stance at all."""
    stances: dict[str, Any] | None = table.get(f"stances/{name}") if _is_name(name) else None
    return stances is not None and f"place/{name}" in table and not stances["taken"]


def refuses(table: Table, name: str, crew: str) -> bool:
    """Say whether the landlord's latest stance toward a crew is to refuse it."""
    found = _latest(table, name, crew)
    return found is not None and found["how"] == "refuse"


def vouches(table: Table, name: str, crew: str, prompt: str) -> bool:
    """Say whether the landlord's latest stance toward a crew vouches for it in this prompt (at-uri)."""
    found = _latest(table, name, crew)
    return found is not None and found["how"] == "vouch" and found["prompt"] == prompt != ""


def _latest(table: Table, name: str, crew: str) -> dict[str, Any] | None:
    place: dict[str, Any] | None = table.get(f"place/{name}") if _is_name(name) else None
    if place is None:
        return None
    stances: dict[str, Any] = table[f"stances/{name}"]
    own: dict[str, Any] | None = stances["toward"].get(crew)
    # A refuse toward nobody holds for every crew but the namer's own.
    everybody = stances.get("all", -1) if crew != crew_of(table, place["namer"]) else -1
    if own is None or own["seq"] < everybody:
        return {"how": "refuse"} if everybody >= 0 else None
    return own
