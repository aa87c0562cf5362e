"""A moment: one record being folded, or one blow of it. Its events queue; the cards that watch each fire in order."""

from __future__ import annotations

from collections import deque

from weighbridge_rulecards import effects
from weighbridge_rulecards.board import Board, Reading
from weighbridge_rulecards.cards import Card
from weighbridge_rulecards.events import Change, Happened, Key, crossed
from weighbridge_rulecards.names import LAST_STEP
from weighbridge_rulecards.records import Record


class Moment:
    """The queue of a moment, and which cards have fired in it for whom."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.board: Board = record.board
        self.rules = record.rules
        self._queue: deque[Happened] = deque()
        self._fired: dict[tuple[int, str], None] = {}

    def happen(self, event: Happened) -> None:
        """Let an event join the end of the queue."""
        self._queue.append(event)

    def track_changed(self, who: str, track: str, of: str, change: Change | None, step: int) -> None:
        """Let a change of a track join the queue: one event, whatever lines it crosses."""
        if change is None:
            return
        keys: list[Key] = [("track", track, of, cross) for cross in crossed(change)]
        reach = None
        if change.new != change.value:
            low, high = (
                (change.value + 1, change.new)
                if change.new > change.value
                else (change.new, change.value - 1)
            )
            reach = (("track", track, of, "reach"), low, high)
        moved = "value" if change.max == change.new_max else "max"
        self.happen(Happened(who, step, tuple(keys), moved=moved, reach=reach))

    def run(self) -> None:
        """Let the cards fire until nothing more has happened."""
        while self._queue:
            event = self._queue.popleft()
            for card in self.rules.index.watching(event):
                self.fire(card, event)

    def fire(self, card: Card, event: Happened) -> None:
        """Let a card fire, once a moment for one character, if its condition holds as it is about to."""
        mark = (card.place, event.who)
        reading = Reading(self.board, event.who, event.amount, event.roll)
        if mark in self._fired:
            self.record.passed.append((card, event.who, "already"))
        elif card.test is not None and not card.test.run(reading):
            self.record.passed.append((card, event.who, "condition"))
        elif event.step > LAST_STEP:
            self.record.passed.append((card, event.who, "stopped"))
            self.record.stop(card)
        else:
            self._let(card, event, mark, reading)

    def _let(self, card: Card, event: Happened, mark: tuple[int, str], reading: Reading) -> None:
        # The mark comes first: what the card does must not set it off again.
        self._fired[mark] = None
        self.record.cue(card, event.who, event.step, event.moved)
        stat = event.roll.stat if event.roll is not None else ""
        for effect in card.acts:
            effects.do(self, effect, event.who, event.step + 1, reading, card=card.id, stat=stat)
