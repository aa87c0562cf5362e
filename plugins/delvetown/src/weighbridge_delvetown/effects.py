"""What attachments (rule cards, for one) hear of the game, and what they may do to it."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Effect, Table

from weighbridge_delvetown.clocks import fill
from weighbridge_delvetown.crews import crew_of, lower_heat, raise_heat
from weighbridge_delvetown.drift import add_drift, lower_drift
from weighbridge_delvetown.game import rules_in_force
from weighbridge_delvetown.names import crew_key

VOCABULARY: dict[str, Any] = {
    "id": "delvetown",
    "name": "Gangs of Delvetown",
    "events": [
        {"id": "lost-thread", "words": "a thread is lost", "fields": []},
        {"id": "clock-full", "words": "a town clock is full", "fields": []},
        {"id": "heat", "words": "heat is taken", "fields": ["amount"]},
        {"id": "roll", "words": "an ask is rolled", "fields": ["kept"]},
    ],
    "effects": ["track", "clock", "report"],
    "tracks": [
        {"id": "drift", "name": "Drift", "max": 9, "start": 0},
        {"id": "heat", "name": "Heat", "max": 9, "start": 0},
    ],
}


def take_effect(table: Table, effect: Effect, ctx: Context) -> None:
    """Apply an effect that an attachment returned: a step of drift or heat, of a town clock, or a report."""
    fields, did = effect.fields, effect.about
    if effect.kind == "report":
        sheet: dict[str, Any] | None = table.get(f"who/{did}")
        if sheet is not None:
            ctx.report("note", sheet["uri"], str(fields["text"]))
    elif effect.kind == "clock":
        _tick(table, ctx, str(fields["clock"]), fields.get("amount", 1), did)
    elif effect.kind == "track" and f"sheet/{did}" in table:
        track, amount = str(fields["track"]), int(fields["amount"])
        _step(
            table, ctx, did, track, amount - _now(table, did, track) if fields.get("op") == "set" else amount
        )


def _now(table: Table, did: str, track: str) -> int:
    crew: dict[str, Any] = table.get(crew_key(crew_of(table, did)), {"heat": 0})
    return int(table[f"sheet/{did}"]["drift"] if track == "drift" else crew["heat"])


def _step(table: Table, ctx: Context, did: str, track: str, amount: int) -> None:
    rules = rules_in_force(table)
    if track == "drift" and amount > 0:
        add_drift(table, ctx, did, amount, rules.drift)
    elif track == "drift":
        lower_drift(table, did, -amount)
    elif track == "heat" and amount > 0:
        raise_heat(table, ctx, crew_of(table, did), did, rules.heat, amount)
    elif track == "heat":
        lower_heat(table, crew_of(table, did), -amount)


def _tick(table: Table, ctx: Context, name: str, amount: Any, did: str) -> None:
    for key, clock in list(table.items("clock/")):
        if name in (clock["name"], key.removeprefix("clock/")) and type(amount) is int and amount > 0:
            fill(table, ctx, key.removeprefix("clock/"), amount, "", did)
            return
