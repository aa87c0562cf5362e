"""How a person sees the game: characters, clocks and pools, the last rolls and blows, and what cards have done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.contract import Block, Card, Clock, Grid, Heading, Table, Text, View

from weighbridge_rulecards.opening import GAME
from weighbridge_rulecards.rules import Rules, read_rules

Json = dict[str, Any]
LAST = 20


def view_of(table: Table) -> View:
    """Return the game as a document."""
    game: Json | None = table.get(GAME)
    rules = read_rules(game)[0] if game is not None else None
    if rules is None:
        return View("Rule cards", (Text("The game has no well-formed root yet."),))
    return View(rules.system.name, tuple(_blocks(table, rules)))


def _blocks(table: Table, rules: Rules) -> Iterator[Block]:
    for key, cell in table.items("char/"):
        yield _character(cell, rules, key.removeprefix("char/"))
    yield from _clocks(table, rules)
    yield from _rolls(table, rules)
    yield from _blows(table)
    yield from _cues(table, rules)


def _named(entries: Any, entry: str) -> str:
    found = entries.get(entry)
    return entry if found is None else str(found.name)


def _character(cell: Json, rules: Rules, did: str) -> Card:
    system = rules.system
    tracks = [
        f"{_named(system.tracks, each)} {t['value']} of {t['max']}" for each, t in cell["tracks"].items()
    ]
    items = [f"{_named(system.items, each)} {item['n']}" for each, item in cell["items"].items()]
    lines = [
        ("Stats", ", ".join(f"{_named(system.stats, each)} {n}" for each, n in cell["stats"].items() if n)),
        ("Level", f"{cell['level']}, {cell['xp']} xp" if system.levels else ""),
        ("Tracks", ", ".join(tracks)),
        ("Conditions", ", ".join(_condition(rules, each, it) for each, it in cell["conditions"].items())),
        ("Items", ", ".join(items)),
        ("Place", _named(system.places, cell["place"]) if "place" in cell else ""),
        ("Marked", ", ".join(_named(system.stats, each) for each in cell["marked"])),
    ]
    return Card(cell["name"], tuple((label, text) for label, text in lines if text))


def _condition(rules: Rules, name: str, cell: Json) -> str:
    entry = rules.system.conditions.get(name)
    level = f" {cell['level']}" if entry is not None and entry.levels else ""
    turns = f" ({cell['turns']} turns)" if "turns" in cell else ""
    return f"{_named(rules.system.conditions, name)}{level}{turns}"


def _clocks(table: Table, rules: Rules) -> Iterator[Block]:
    system = rules.system
    pools = [(key.removeprefix("pool/"), cell["value"]) for key, cell in table.items("pool/")]
    known = [(system.pools[each], value) for each, value in pools if each in system.pools]
    if known:
        yield Heading("Pools")
        yield Grid(("Pool", "Holds"), tuple((pool.name, f"{value} of {pool.max}") for pool, value in known))
    clocks = list(table.items("clock/"))
    if clocks:
        yield Heading("Clocks")
    for key, cell in clocks:
        yield Clock(_named(system.clocks, key.removeprefix("clock/")), cell["size"], cell["filled"])


def _rolls(table: Table, rules: Rules) -> Iterator[Block]:
    rows = [_roll(table, rules, cell) for _, cell in table.items("roll/") if cell["status"] != "pending"]
    if rows:
        yield Heading("Rolls")
        yield Grid(("Who", "Check", "Dice", "Maths", "Outcome", "Rules"), tuple(rows[-LAST:]))


def _roll(table: Table, rules: Rules, cell: Json) -> tuple[str, ...]:
    dice = "; ".join(" ".join(str(face) for face in faces) for faces in cell.get("dice", {}).values())
    band = rules.system.bands.get(cell.get("band", ""))
    outcome = band.name if band is not None else cell.get("reason", cell["status"])
    check = _named(rules.system.checks, cell["check"])
    chip = "; ".join(cell.get("chip", []))
    return (_who(table, cell["for"]), check, dice, cell.get("maths", ""), str(outcome), chip)


def _blows(table: Table) -> Iterator[Block]:
    rows = [
        (str(b["amount"]), str(b["landed"]), "; ".join(b["chip"]), b.get("reason", ""))
        for _, b in table.items("blow/")
    ]
    if rows:
        yield Heading("Blows")
        yield Grid(("Amount", "Landed", "Rules", "Why not"), tuple(rows[-LAST:]))


def _cues(table: Table, rules: Rules) -> Iterator[Block]:
    names: dict[str, str] = {card.id: card.name for card in rules.cards}
    rows = [
        (
            names.get(str(cue["card"]), str(cue["card"])),
            _who(table, cue["for"]),
            cue["says"],
            " · ".join(cue["show"]),
        )
        for _, cue in table.items("cue/")
    ]
    if rows:
        yield Heading("For the storyteller")
        yield Grid(("Card", "Who", "What it did", "Show"), tuple(rows[-LAST:]))


def _who(table: Table, did: str) -> str:
    cell: Json | None = table.get(f"char/{did}")
    return did if cell is None else str(cell["name"])
