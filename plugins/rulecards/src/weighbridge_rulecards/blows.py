"""Blows: before-cards of dealt and taken in one listed order, what lands, and what comes of it."""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.before import Changes, ask_before
from weighbridge_rulecards.board import moved
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.events import Happened, any_keys, before_keys
from weighbridge_rulecards.moments import Moment
from weighbridge_rulecards.names import MOVE, id_of
from weighbridge_rulecards.records import Record

Json = dict[str, Any]


def strike_blow(record: Record, number: int, amount: int, to: str, source: str) -> None:
    """Let one blow fall, as a moment of its own. `to`, `source`: a DID or a foe's uri; `source` may be empty."""
    moment = Moment(record)
    changes = ask_before(moment, _before(record, to, source), 1, Changes(amount=amount, damage=True))
    landed = 0 if changes.blocked else max(0, changes.amount)
    cell: Json = {"amount": amount, "landed": landed, "chip": changes.chip}
    if changes.blocked:
        cell["reason"] = changes.blocked
    record.table[f"blow/{record.id}/{number}"] = cell
    if landed:
        _land(moment, landed, to, source)
    moment.run()


def _before(record: Record, to: str, source: str) -> list[tuple[Card, str]]:
    index = record.rules.index
    found: list[tuple[Card, str]] = []
    for did, direction in ((source, "dealt"), (to, "taken")):
        if is_character(did):
            keys = before_keys("damage", direction, record.place(did))
            found += [(card, did) for card in index.under(keys)]
    return sorted(found, key=lambda each: each[0].place)


def _land(moment: Moment, landed: int, to: str, source: str) -> None:
    for did, direction in ((source, "dealt"), (to, "taken")):
        if is_character(did):
            moment.happen(Happened(did, 1, (("damage", direction),), amount=landed))
    board = moment.board
    if is_character(to):
        track = board.track(to, board.system.damage)
        if track is not None:
            change = moved(track, to=track["value"] - landed)
            moment.track_changed(to, board.system.damage, "", change, 1)
        return
    foe = board.cell(f"foe/{id_of(to, MOVE)}")
    if foe is None:
        return
    foe["hp"] = max(0, foe["hp"] - landed)
    if foe["hp"] == 0:
        foe["defeated"] = True
        if is_character(source):
            moment.happen(Happened(source, 1, any_keys("defeat", foe["foe"])))


def is_character(who: str) -> bool:
    """Whether a side of a blow is a character: a DID, and no foe's uri."""
    return who.startswith("did:")
