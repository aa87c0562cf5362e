"""What a record stood to draw when its round came out: a void may take dice away and never adds any (DESIGN §4)."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Docket, Table, Value

Counts = dict[str, int]


def stake_of(table: Table, docket: Docket) -> Value:
    """Return what a record has drawn: of its own roll and of each roll by cards the dice of each group.

    None while it still awaits its round: what it will draw, nobody knows yet.
    """
    if f"_/pending/{docket.collection}/{docket.id}" in table:
        return None
    cards: list[dict[str, Any]] = [
        {"card": roll["card"], "for": roll["for"], "n": int(key.rpartition("/")[2]), "dice": _counts(roll)}
        for key, roll in table.items(f"roll/{docket.id}/")
    ]
    own: dict[str, Any] | None = table.get(f"roll/{docket.id}")
    stake: dict[str, Any] = {"cards": sorted(cards, key=lambda each: each["n"])}
    if own is not None and own["status"] == "rolled":
        stake["act"] = _counts(own)
    if f"improve/{docket.id}" in table:
        stake["improve"] = {"": 1}
    if f"blow/{docket.id}/1" in table:
        stake["blow"] = {"": 1}
    return stake


def _counts(roll: dict[str, Any]) -> Counts:
    return {group: len(faces) for group, faces in roll.get("dice", {}).items()}


class Stake:
    """Holds a record to what it stood to draw, once a void has changed the past."""

    def __init__(self, docket: Docket, ctx: Context) -> None:
        self._uri = docket.uri
        self._ctx = ctx
        self._stake: dict[str, Any] | None = docket.stake
        self._cards: list[dict[str, Any]] = [] if self._stake is None else list(self._stake["cards"])

    def own(self, purpose: str) -> Counts | None:
        """Return the most dice that the record's own roll may draw, by group; None: any. Nothing: it is not made."""
        return None if self._stake is None else self._stake.get(purpose, {})

    def by_card(self, card: str, did: str, n: int) -> tuple[int, Counts | None]:
        """Return the number of a card's roll (the record's n-th) and the most dice it may draw; {}: it is not made."""
        if self._stake is None:
            return n, None
        for each in self._cards:
            if each["card"] == card and each["for"] == did:
                self._cards.remove(each)
                return each["n"], each["dice"]
        return n, {}

    def overtaken(self, says: str) -> None:
        """Report that the past has changed what would be drawn."""
        self._ctx.report("overtaken", self._uri, f"The past changed after its dice were public: {says}.")
