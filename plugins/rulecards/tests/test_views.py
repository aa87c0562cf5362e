"""How a person sees the game."""

from __future__ import annotations

from cards_table import act, ann, blow, cards, gm, grant, sheet
from weighbridge.conformance.games import Game
from weighbridge.contract import Card, Clock, Grid, Heading, Question, Text
from weighbridge_rulecards import RULES


def seen(steps: list[object], found: list[object]) -> object:
    flat: list[dict[str, object]] = []
    for step in steps:
        flat += step if isinstance(step, list) else [step]  # type: ignore[list-item]
    told = [{"at": f"2026-10-18T09:{at // 2:02}:{30 * (at % 2):02}Z", **step} for at, step in enumerate(flat)]
    root = (
        {"gm": "@gm", "rules": {"system": "classic-d20", "cards": found}}
        if found is not None
        else {"gm": "@gm"}
    )
    game = Game(RULES, {"ruleset": "rulecards", "root": root, "steps": told})
    fold = game.fold()
    for listed in game.entries:
        fold.fold(listed)
    return RULES.view(fold.table)


def test_the_view_shows_characters_clocks_pools_rolls_blows_and_cues() -> None:
    found = cards("When they rest → tick Renown 1; “All is still”.", "Before any roll → +1 to the roll.")
    steps = [
        sheet(stats={"strength": 2}),
        grant("g", "Blessed for 2 turns; Frightened 1"),
        ann("r", "rest"),
        act("a", "death_save", 9, 12),
        gm("i", "item", for_="@ann", item="ship", is_="gain"),
        ann("e", "enter", place="witchwood"),
        blow("b", 3),
    ]
    document = seen(steps, found)
    title, blocks = document.title, document.blocks  # type: ignore[attr-defined]
    assert title == "Classic d20"
    (card,) = [block for block in blocks if isinstance(block, Card)]
    lines = dict(card.lines)
    assert card.title == "Ann"
    assert lines["Conditions"] == "Stable, Blessed (2 turns), Frightened 1"
    assert lines["Tracks"].startswith("Hit points 7 of 10")
    assert (lines["Items"], lines["Place"], lines["Stats"]) == ("ship 1", "the Witchwood", "Strength 2")
    assert Clock("Renown", 4, 1) in blocks
    headings = [block.text for block in blocks if isinstance(block, Heading)]
    assert headings == ["Pools", "Clocks", "Rolls", "Blows", "For the storyteller"]
    rolls = [block for block in blocks if isinstance(block, Grid)][1]
    assert rolls.rows == (
        ("Ann", "Death save", "9 12", "9 + 1 rule = 10", "Success", "B: +1; Frightened: disadvantage"),
    )


def test_before_a_well_formed_root_there_is_little_to_see() -> None:
    document = seen([sheet()], None)  # type: ignore[arg-type]
    assert document.blocks == (Text("The game has no well-formed root yet."),)  # type: ignore[attr-defined]


def test_a_desk_makes_the_ruling_that_answers_a_story_card() -> None:
    scene = "at://did:plc:gm/town.delve.cards.move/s1"
    question = Question("1", "story:promise", scene, "?", ("yes", "no"), "gm", 0)
    value = {"kind": "rule", "subject": scene, "what": "promise", "answer": "yes"}
    assert RULES.answer(question, "yes") == ("town.delve.cards.move", value)
    assert RULES.answer(question, "yes", "She did.") == (
        "town.delve.cards.move",
        {**value, "why": "She did."},
    )
    assert RULES.answer(question, "perhaps") is None
    assert RULES.answer(Question("1", "ability", scene, "?", ("yes",), "gm", 0), "yes") is None
