"""`weighbridge cards`: check, say, parse, try and graph. No part of the rule set imports this, so no fold runs it."""

from __future__ import annotations

from typing import Any

from weighbridge_rulecards.commands import checking, graphing, trying

GRAPH = """As text: each card with what it can set off, circles, and chains that the three-step limit stops.
With --svg also as a picture: one column a step, circles in red, what is stopped dashed."""
TRY = """A prompt for one character, Ann, and what the cards do. `help` lists what can be typed. Dice are typed
along, or drawn by the least that is fair: 1, 2, 3 and so on. After each move the cards that fired are listed,
and those that watched and did not, each with why."""


def register(subparsers: Any) -> None:
    """Add the commands."""
    group = subparsers.add_parser("cards", help="check, read, write and try rule cards")
    commands = group.add_subparsers(metavar="COMMAND", required=True)
    for name, says, run in (
        ("check", "check a file of cards, or of pairs of sentence and card, both ways", checking.check),
        ("say", "print the sentence of each card of a file", checking.say_cards),
        ("graph", "show which card can set off which", graphing.graph),
        ("try", "fire cards against a character at a prompt", trying.try_cards),
    ):
        parser = commands.add_parser(
            name, help=says, description={"graph": GRAPH, "try": TRY}.get(name, f"{says}.")
        )
        parser.add_argument("file", metavar="FILE", help="JSON: {system, cards}, or {system, pairs}")
        if name != "try":
            parser.add_argument("--json", action="store_true", help="print JSON")
        if name == "graph":
            parser.add_argument("--svg", metavar="FILE", help="write the picture there")
        parser.set_defaults(run=run)
    parser = commands.add_parser("parse", help="print the data that a sentence says")
    parser.add_argument("sentence", metavar="SENTENCE")
    parser.add_argument(
        "--system", default="classic-d20", help="a shipped name, or a file of cards whose system counts"
    )
    parser.set_defaults(run=checking.parse_sentence)
