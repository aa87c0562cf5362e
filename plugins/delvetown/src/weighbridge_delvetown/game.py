"""The game itself: the gate of §1, the current day, and what was listed before there were rules."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Table

from weighbridge_delvetown.days import number_of, text_of
from weighbridge_delvetown.options import Options, read_options

GAME = "game/-"
RULES = "rules/-"


def rules_in_force(table: Table) -> Options:
    """Return the options in force now, for what no record of its own is judged by: a day's end, an effect."""
    return read_options(table.get(RULES, {}))[0]


def is_open(table: Table) -> bool:
    """Say whether the gate has been met; once met it stays met."""
    game: dict[str, Any] | None = table.get(GAME)
    return game is not None and bool(game["open"])


def keep_rules(table: Table, value: dict[str, Any], day: int, rules: Options) -> None:
    """Keep a root's options for what no record is judged by, and count the gate's players by them."""
    table[RULES] = {name: value[name] for name in ("gm", "house", "rules", "voidDays") if name in value}
    game: dict[str, Any] = table.get(GAME, {"day": text_of(day), "open": False, "players": 0})
    playing = [key for key, sheet in table.items("sheet/") if not sheet["retired"]]
    game["players"] = sum(key.removeprefix("sheet/") not in rules.house for key in playing)
    table[GAME] = game
    _meet_gate(table, rules)


def count_player(table: Table, did: str, change: int, rules: Options) -> None:
    """Count a sheet in (1) or out (-1) at the gate. Seats of the house do not count."""
    game: dict[str, Any] | None = table.get(GAME)
    if game is None or did in rules.house:
        return
    game["players"] += change
    table[GAME] = game
    _meet_gate(table, rules)


def _meet_gate(table: Table, rules: Options) -> None:
    game: dict[str, Any] = table[GAME]
    if game["open"] or game["players"] < rules.gate:
        return
    game["open"] = True
    table[GAME] = game
    today = number_of(game["day"])
    for key, scene in list(table.items("scene/")):
        if scene["from"] <= today <= scene["to"] and not scene["closed"]:
            prompt = table[f"prompt/{key.removeprefix('scene/')}"]
            table[f"prompt/{key.removeprefix('scene/')}"] = {**prompt, "open": True}


def begin_day(table: Table, day: int) -> None:
    """Say that a game day has begun."""
    game: dict[str, Any] | None = table.get(GAME)
    if game is not None:
        table[GAME] = {**game, "day": text_of(day)}
