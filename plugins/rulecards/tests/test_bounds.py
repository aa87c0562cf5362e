"""Whatever cards a game has, a moment ends, nothing is raised, and every process comes to the same."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random

import pytest
from cards_table import SHIPPED
from weighbridge.conformance.folding import alerts, summary
from weighbridge.conformance.games import Game
from weighbridge_rulecards import RULES
from weighbridge_rulecards.generate import Play
from weighbridge_rulecards.random_cards import random_cards
from weighbridge_rulecards.rules import read_rules

CARDS = 200
PRINT = """
import sys, json
from weighbridge.conformance.folding import summary
from weighbridge.conformance.games import Game
from weighbridge_rulecards import RULES
print(summary(Game(RULES, json.load(sys.stdin))))
"""


def game(seed: int) -> dict[str, object]:
    return Play(Random(seed), players=3, moves=40, cards=CARDS).document()


@pytest.mark.parametrize("seed", range(6))
def test_two_hundred_random_cards_never_loop_and_never_raise(seed: int) -> None:
    played = Game(RULES, game(seed))
    assert alerts(played) == []
    fold = played.fold()
    for listed in played.entries:
        fold.fold(listed)
    cues = fold.table.keys("cue/")
    assert len(cues) > 50, "the cards of a random game set each other off"
    for key, cue in fold.table.items("cue/"):
        before = next(
            card for card in played.scenario.root["rules"]["cards"] if card["id"] == cue["card"]
        ).get("stage")
        assert cue["step"] <= (4 if before else 3), key


def test_the_same_in_any_process() -> None:
    document = json.dumps(game(7))
    here = summary(Game(RULES, json.loads(document)))
    for seed in ("0", "4242"):
        there = subprocess.run(
            [sys.executable, "-c", PRINT],
            input=document,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "TZ": "Pacific/Chatham", "LC_ALL": "C.UTF-8"},
        )
        assert there.stdout.strip() == here


def test_no_card_fires_twice_for_one_character_in_one_moment() -> None:
    played = Game(RULES, game(11))
    fold = played.fold()
    for listed in played.entries:
        fold.fold(listed)
    before = {card["id"] for card in played.scenario.root["rules"]["cards"] if card.get("stage") == "before"}
    blows = {key.split("/")[1] for key in fold.table.keys("blow/")}
    seen: dict[tuple[str, str, str], int] = {}
    for key, cue in fold.table.items("cue/"):
        record = key.split("/")[1]
        if cue["card"] not in before and record not in blows:
            mark = record, cue["card"], cue["for"]
            seen[mark] = seen.get(mark, 0) + 1
    assert [mark for mark, times in seen.items() if times > 1] == []


def test_five_hundred_cards_load_in_good_time() -> None:
    for name in sorted(SHIPPED):
        cards = random_cards(Random(1), SHIPPED[name], 500)
        rules, problems = read_rules({"rules": {"system": name, "cards": cards}})
        assert problems == ()
        assert rules is not None
        assert len(rules.cards) == 500
