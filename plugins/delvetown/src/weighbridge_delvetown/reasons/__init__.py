"""Why a number is what it is: sentences about one entry's change of one cell, each with its section of the rule book.

What an entry did is read from the cells that it changed: a player reads here what the rules made of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weighbridge.contract import Change

from weighbridge_delvetown.reasons.acts import of_ask, of_clock
from weighbridge_delvetown.reasons.facts import Facts, Look
from weighbridge_delvetown.reasons.sheets import of_sheet
from weighbridge_delvetown.reasons.town import of_crew, of_game, of_place, of_prompt, of_ration

_OF: dict[str, Callable[[Facts], Iterator[str]]] = {
    "sheet": of_sheet,
    "crew": of_crew,
    "ask": of_ask,
    "clock": of_clock,
    "ration": of_ration,
    "place": of_place,
    "prompt": of_prompt,
    "game": of_game,
}


def because(change: Change, look: Look) -> tuple[str, ...]:
    """Say why an entry changed a cell. Of the cells that only the fold reads nothing is said."""
    say = _OF.get(change.key.partition("/")[0])
    if say is None:
        return ()
    facts = Facts(change, look)
    return (*facts.rewound(), *say(facts))
