"""Which card can set off which, and what that says of the moves that wait for dice."""

from __future__ import annotations

from random import Random

import pytest
from cards_table import SHIPPED, rules
from weighbridge.conformance.games import Game
from weighbridge_rulecards import RULES
from weighbridge_rulecards.commands.graphing import text_of
from weighbridge_rulecards.commands.picture import picture
from weighbridge_rulecards.generate import Play
from weighbridge_rulecards.random_cards import random_cards
from weighbridge_rulecards.rules import read_rules

LINKS: list[tuple[str, str, bool]] = [
    ("Hit points −1", "Hit points run out", True),
    ("Hit points +1", "Hit points run out", False),
    ("Hit points set to 0", "Hit points run out", True),
    ("Hit points set to 5", "Hit points run out", False),
    ("Hit points +(@level)", "Hit points run out", True),
    ("Hit points maximum −5", "Hit points run out", False),
    ("Hit points +1", "Hit points fill up", True),
    ("Hit points −1", "Hit points fill up", False),
    ("Hit points maximum −5", "Hit points fill up", True),
    ("Hit points maximum +5", "Hit points fill up", False),
    ("Hit points −1", "Hit points drop below half", True),
    ("Hit points +1", "Hit points drop below half", False),
    ("Hit points maximum +5", "Hit points drop below half", True),
    ("Hit points maximum −5", "Hit points drop below half", False),
    ("Hit points +1", "Hit points reach 1", True),
    ("Hit points maximum −5", "Hit points reach 1", True),
    ("Nerve −1", "Hit points run out", False),
    ("the ship's Hull −1", "the ship's Hull runs out", True),
    ("tick Renown 1", "the Renown clock fills", True),
    ("tick Renown 1", "a clock fills", True),
    ("+1 xp", "they gain a level", True),
    ("−1 xp", "they gain a level", False),
    ("Blessed", "they rest", False),
    ("roll a Death save", "a roll lands", True),
    ("roll a Death save", "a Death save is a critical", True),
    ("roll a Death save", "an Attack lands", False),
    ("roll a Death save", "Hit points reach 1", True),
]


@pytest.mark.parametrize(
    ("effect", "trigger", "linked"), LINKS, ids=[f"{one}: {two}" for one, two, _ in LINKS]
)
def test_an_effect_can_set_off_what_it_can_bring_about(effect: str, trigger: str, linked: bool) -> None:
    found = rules(f"When they rest → {effect}.", f"When {trigger} → Doom +1.")
    assert found.graph.targets("a") == (["b"] if linked else [])


def test_a_roll_sets_off_before_cards_and_what_they_raise() -> None:
    found = rules(
        "When they rest → roll a Death save.", "Before any roll → Nerve −1.", "When Nerve runs out → Doom +1."
    )
    assert found.graph.targets("a") == ["b"]
    assert found.graph.steps("rest") == {"a": 1, "b": 2, "c": 3}


def test_a_move_waits_where_a_roll_is_within_three_steps() -> None:
    chain = ["When they rest → tick Renown 1.", "When the Renown clock fills → +300 xp."]
    third = rules(*chain, "When they gain a level → roll a Death save.")
    assert [kind for kind, waits in third.rolling.items() if waits] == ["rest", "grant"]
    fourth = rules(*chain, "When they gain a level → Nerve −5.", "When Nerve runs out → roll a Death save.")
    assert [kind for kind, waits in fourth.rolling.items() if waits] == ["grant"]


def test_circles_are_found_each_once() -> None:
    found = rules(
        "When they rest → Nerve −1.",
        "When Nerve runs out → Nerve +5; tick Renown 1.",
        "When Nerve fills up → Nerve −5.",
        "When the Renown clock fills → Exhaustion +1.",
        "When Exhaustion reaches 3 → Exhaustion −1.",
    )
    assert found.graph.cycles() == [["b", "c"], ["e"]]


def test_a_card_that_sets_itself_off_may_be_part_of_a_larger_circle() -> None:
    found = rules("When Nerve runs out → Nerve −1; tick Renown 1.", "When the Renown clock fills → Nerve −1.")
    assert found.graph.cycles() == [["a", "b"]]


def test_five_hundred_cards_are_drawn_in_good_time() -> None:
    made = random_cards(Random(3), SHIPPED["classic-d20"], 500)
    found = read_rules({"rules": {"system": "classic-d20", "cards": made}})[0]
    assert found is not None
    circled = [card for group in found.graph.cycles() for card in group]
    assert len(set(circled)) == len(circled)
    assert len(text_of(found)) > 500
    assert picture(found).count("<rect") == 500


def test_no_games_cards_ever_fire_a_roll_that_the_graph_did_not_foresee() -> None:
    """A move that did not wait has no dice: drawing any would be a fault, and there is none in hundreds of moves."""
    for seed in range(20):
        game = Game(RULES, Play(Random(seed), players=2, moves=25, cards=30).document())
        fold = game.fold()
        for listed in game.entries:
            assert fold.fold(listed).alerts == ()


def test_every_shipped_system_s_kinds_are_known_to_the_graph() -> None:
    for name in SHIPPED:
        assert list(rules(system=name).rolling) == [
            "act",
            "blow",
            "turn",
            "rest",
            "enter",
            "meet",
            "item",
            "fight",
            "quest",
            "grant",
            "rule",
        ]
