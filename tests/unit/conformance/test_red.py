"""The kit goes red: each way to break the contract, and the test of the kit that sees it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import coin
import crooked
import pytest
from weighbridge.conformance import RuleSetConformance, games
from weighbridge.conformance.processes import RuleSetNowhere
from weighbridge.contract import RuleSet

SEEDS = range(6)


def kit(ruleset: RuleSet) -> RuleSetConformance:
    made: Any = type("TestCrooked", (RuleSetConformance,), {"rules": ruleset, "seeds": SEEDS})
    return made()


def for_all_seeds(test: str) -> Any:
    def run(kit: RuleSetConformance) -> None:
        for seed in SEEDS:
            getattr(kit, test)(seed)

    return run


BREACHES = [
    (crooked.HASHING, RuleSetConformance.test_its_source_keeps_to_what_is_the_same_everywhere),
    (crooked.HASHING, RuleSetConformance.test_two_processes_come_to_the_same),
    (crooked.SURROUNDINGS, RuleSetConformance.test_two_processes_come_to_the_same),
    (crooked.REMEMBERING, for_all_seeds("test_restoring_before_any_entry_changes_nothing")),
    (crooked.REMEMBERING, for_all_seeds("test_strikes_come_to_what_the_plain_definition_says")),
    (crooked.TRUSTING, for_all_seeds("test_spoiled_records_raise_nothing")),
    (crooked.BLIND, for_all_seeds("test_a_generated_game_is_folded_without_a_fault")),
    (crooked.FOREIGN, RuleSetConformance.test_its_collections_are_lexicons),
]


@pytest.mark.parametrize(
    ("ruleset", "test"), BREACHES, ids=[f"{type(each).__name__}-{n}" for n, (each, _) in enumerate(BREACHES)]
)
def test_a_breach_of_the_contract_turns_the_kit_red(ruleset, test):
    with pytest.raises(AssertionError):
        test(kit(ruleset))


def test_a_scenario_that_does_not_hold_turns_the_kit_red(tmp_path: Path):
    file = tmp_path / "wrong.json"
    held = (Path(__file__).parent / "scenarios" / "a-lost-flip-and-mercy.json").read_text()
    file.write_text(held.replace('"score": 1', '"score": 2'))
    with pytest.raises(AssertionError, match="expected 2, found 1"):
        kit(coin.RULES).test_a_scenario_holds(file)


def test_strikes_are_put_into_games_that_have_one():
    grown = 0
    for seed in range(20):
        document = coin.RULES.generate(Random(seed))
        game = games.Game(coin.RULES, document)
        grown += len(games.struck(game, document, seed).entries) > len(game.entries)
    assert grown > 5


def test_another_python_is_asked_where_one_is_named(monkeypatch, tmp_path: Path):
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho another world\n")
    other.chmod(0o755)
    monkeypatch.setenv("WEIGHBRIDGE_OTHER_PYTHON", str(other))
    with pytest.raises(AssertionError, match="another world"):
        kit(coin.RULES).test_two_processes_come_to_the_same()


def test_a_rule_set_that_no_other_process_can_import_is_broken():
    with pytest.raises(RuleSetNowhere, match="rule-set-nowhere: Coin has no instance"):
        kit(coin.Coin()).test_two_processes_come_to_the_same()
