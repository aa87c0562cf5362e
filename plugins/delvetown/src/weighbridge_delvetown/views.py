"""How a person sees the game: crews with their heat, clocks, sheets, places and the last rolls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.contract import Block, Card, Clock, Grid, Heading, Table, Text, View

from weighbridge_delvetown.game import GAME

LAST_ROLLS = 20


def view_of(table: Table) -> View:
    """Return the town as a document."""
    return View("Gangs of Delvetown", tuple(_blocks(table)))


def _blocks(table: Table) -> Iterator[Block]:
    game: dict[str, Any] | None = table.get(GAME)
    if game is None:
        yield Text("The game has no well-formed root yet.")
        return
    state = "open" if game["open"] else "waits for players"
    yield Text(f"{game['day']} · {state} · {game['players']} players")
    yield from _crews(table)
    yield from _clocks(table)
    yield from _places(table)
    yield from _sheets(table)
    yield from _rolls(table)


def _crews(table: Table) -> Iterator[Block]:
    rows = tuple(
        (
            crew["name"],
            ", ".join(_name(table, did) for did in crew["members"]),
            str(crew["size"]),
            str(crew["heat"]),
        )
        for _, crew in table.items("crew/")
    )
    if rows:
        yield Heading("Crews")
        yield Grid(("Crew", "Members", "Operators", "Heat"), rows)


def _clocks(table: Table) -> Iterator[Block]:
    clocks = [clock for _, clock in table.items("clock/")]
    if clocks:
        yield Heading("Clocks")
    for clock in clocks:
        owner = _crew_name(table, clock["owner"]) if "owner" in clock else ""
        yield Clock(clock["name"], clock["size"], clock["filled"], f"{clock['kind']} {owner}".rstrip(" "))


def _places(table: Table) -> Iterator[Block]:
    rows = tuple(
        (
            place.get("title", key.removeprefix("place/")),
            _name(table, place["namer"]),
            place["stance"],
            _crew_name(table, place["crew"]) if "crew" in place else "",
        )
        for key, place in table.items("place/")
    )
    if rows:
        yield Heading("Places")
        yield Grid(("Place", "Landlord", "Stance", "Turf of"), rows)


def _sheets(table: Table) -> Iterator[Block]:
    sheets = [sheet for _, sheet in table.items("sheet/")]
    if sheets:
        yield Heading("Sheets")
    for sheet in sheets:
        lines = [
            ("Dots", ", ".join(f"{action} {dots}" for action, dots in sorted(sheet["dots"].items()))),
            ("Drift", str(sheet["drift"])),
            ("XP", str(sheet["xp"])),
            ("Harm", ", ".join(f"{action} {level}" for action, level in sorted(sheet["harm"].items()))),
            ("Scars", "; ".join(sheet["scars"])),
            ("Abilities", "; ".join(sheet["abilities"])),
            ("Retired", "yes" if sheet["retired"] else ""),
        ]
        yield Card(sheet["name"], tuple((label, text) for label, text in lines if text))


def _rolls(table: Table) -> Iterator[Block]:
    acts = [(act, table.get(f"ask/{key.removeprefix('act/')}", {})) for key, act in table.items("act/")]
    rolled = sorted(
        (pair for pair in acts if pair[1].get("status") == "rolled"), key=lambda pair: pair[0]["seq"]
    )
    if rolled:
        yield Heading("Last rolls")
        yield Grid(
            ("Who", "Action", "Position", "Effect", "Dice", "Kept", "Result"),
            tuple(_roll(table, act, ask) for act, ask in rolled[: -LAST_ROLLS - 1 : -1]),
        )


def _roll(table: Table, act: dict[str, Any], ask: dict[str, Any]) -> tuple[str, ...]:
    dice = " ".join(str(face) for face in ask["dice"])
    result = "crit" if ask["crit"] else ask["result"]
    return (
        _name(table, act["by"]),
        act["action"],
        ask["position"],
        ask["effect"],
        dice,
        str(ask["kept"]),
        result,
    )


def _name(table: Table, did: str) -> str:
    sheet: dict[str, Any] | None = table.get(f"sheet/{did}")
    return did if sheet is None else str(sheet["name"])


def _crew_name(table: Table, crew: str) -> str:
    key = crew.removeprefix("at://").replace("/town.delve.crew/", ":")
    cell: dict[str, Any] | None = table.get(f"crew/{key}")
    return cell["name"] if cell is not None and cell["name"] else _name(table, crew)
