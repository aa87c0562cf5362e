"""A record being folded: what its moments share, and what they leave in cells beside the board's."""

from __future__ import annotations

from typing import Any

from weighbridge.contract import Context, Dice, Docket, Table

from weighbridge_rulecards.board import Board
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.rules import Rules
from weighbridge_rulecards.stakes import Stake

Json = dict[str, Any]


class Record:
    """One complete docket on its way through its moments.

    `places` is where each character stood at the listing. `anew` are conditions put on by this record.
    """

    def __init__(
        self, table: Table, docket: Docket, ctx: Context, rules: Rules, places: dict[str, str]
    ) -> None:
        self.table = table
        self.docket = docket
        self.rules = rules
        self.board = Board(table, rules.system)
        self.places = places
        self.anew: dict[tuple[str, str], None] = {}
        self.passed: list[tuple[Card, str, str]] = []
        """Cards that watched and did not fire, for whom and why: for whoever tries cards out."""
        self.stake = Stake(docket, ctx)
        self.rolls_cards = docket.roll != "untimely"
        self._ctx = ctx
        self._cues = 0
        self._rolls = 0
        self._stopped: dict[str, None] = {}

    @property
    def id(self) -> str:
        """The record's id in cell keys."""
        return self.docket.id

    def place(self, did: str) -> str:
        """Return where a character stands, as far as this record's rolls and blows go; empty for nowhere."""
        if did not in self.places:
            self.places[did] = str(self.board.character(did).get("place", ""))
        return self.places[did]

    def dice(self, purpose: str) -> Dice:
        """Return the dice of a purpose."""
        return self._ctx.dice(purpose)

    def report(self, code: str, says: str) -> None:
        """Report something on this record."""
        self._ctx.report(code, self.docket.uri, says)

    def next_roll(self) -> int:
        """Count a roll by a card."""
        self._rolls += 1
        return self._rolls

    def cue(self, card: Card, did: str, step: int, moved: str) -> None:
        """Tell the storyteller that a card fired."""
        self._cues += 1
        cue: Json = {"card": card.id, "for": did, "step": step, "says": card.says, "show": list(card.show)}
        if moved:
            cue["moved"] = moved
        self.table[f"cue/{self.id}/{self._cues}"] = cue

    def stop(self, card: Card) -> None:
        """Note a card that would have fired as the fourth step."""
        self._stopped[card.name] = None

    def end(self) -> None:
        """Write the board, and say what was stopped."""
        self.board.write()
        if self._stopped:
            names = ", ".join(self._stopped)
            self.report(
                "chain-stopped",
                f"Cards set each other off three steps deep; these would have been next: {names}.",
            )
