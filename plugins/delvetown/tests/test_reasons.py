"""Every number can say why: each change of each cell that a person reads, in every scenario and in random seasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from delvetown_town import PLAYERS, SCENARIOS, ask, files, move, prompt, rolled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from weighbridge.changes import Watch, change_of, history, reasons
from weighbridge.codec import decode_own
from weighbridge.conformance.games import Game
from weighbridge.contract import Change
from weighbridge.plugins.pins import manifest
from weighbridge_delvetown import RULES
from weighbridge_delvetown.generate import Season

READ = ("sheet", "crew", "ask", "clock", "ration", "place", "prompt", "game")
NUMBERS = {"sheet": ("drift", "xp"), "crew": ("heat",), "clock": ("filled",), "ask": ("ticks",)}


def told(document: dict[str, Any]) -> Iterator[tuple[Change, tuple[str, ...]]]:
    """Yield every change of a cell that people read, and why."""
    game = Game(RULES, document)
    watch = Watch(game.fold())
    for listed in game.entries:
        watched = watch.step(listed)
        for key in watched.cells:
            if key.partition("/")[0] in READ:
                yield (
                    change_of(key, listed, watched.cells),
                    reasons(RULES, key, listed, watched.cells, watch.look),
                )


def hold(document: dict[str, Any]) -> None:
    for change, says in told(document):
        assert says, f"nothing is said of {change.key} at entry {change.seq}"
        assert not any("fails to say" in each or "attached" in each for each in says), (change, says)
        if change.before and change.after and not any(key.startswith("_/mark/") for key in change.cells):
            add_up(change, says)


def add_up(change: Change, says: tuple[str, ...]) -> None:
    for field in NUMBERS.get(change.key.partition("/")[0], ()):
        difference = change.after.get(field, 0) - change.before.get(field, 0)
        word = "XP" if field == "xp" else field
        found = [re.match(rf"{word} ([+−])([0-9]+): ", each) for each in says]
        total = sum(int(each[2]) * (1 if each[1] == "+" else -1) for each in found if each)
        assert total == difference or any("thread is lost" in each for each in says), (change, says)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_every_change_of_a_scenario_is_explained_and_adds_up(path: Path) -> None:
    hold(json.loads(path.read_text("utf-8")))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 100_000))
def test_every_change_of_a_random_season_is_explained_and_adds_up(seed: int) -> None:
    hold(Season(Random(seed), players=5, moves=60).document())


def why(name: str, key: str) -> list[str]:
    """Return what is said of a cell (its key as in a scenario) over a scenario, in order."""
    game = Game(RULES, json.loads((SCENARIOS / f"{name}.json").read_text("utf-8")))
    found = history(game.fold(), game.entries, game.records.key(key))
    assert found.left_out == 0
    return [sentence for moment in found.moments for sentence in moment.says]


@pytest.mark.parametrize(
    ("scenario", "key", "sentence"),
    [
        pytest.param(
            "7-heat-rises", "crew/id:lamps", "heat +1: a1 was exposed and listed on 18 Oct 2026 (§7).", id="exposed"
        ),
        pytest.param("7-heat-rises", "crew/id:lamps", "heat +1: the consequence of b1 (§7).", id="a consequence"),
        pytest.param(
            "7-heat-falls-daily", "crew/id:lamps",
            "heat −1: 20 Oct 2026 ended without an exposed action of the crew (§7).", id="a day without",
        ),
        pytest.param(
            "7-exposed", "ask/id:a1", "position exposed: turf of a bigger crew (§7).", id="why this was exposed"
        ),
        pytest.param(
            "4-zero-pool", "ask/id:a1",
            "result failed: of 5 2 the lower, 2, counts, and 1 to 3 fails with one (§4).", id="a zero pool",
        ),
        pytest.param(
            "4-resisting-costs-drift", "sheet/@ann",
            "drift +2: r1 resisted with 1 4: 6 less the best die (§4).", id="resisting",
        ),
        pytest.param(
            "5-nine-drift-loses-the-thread", "sheet/@ann",
            "drift reached 9: the thread is lost, a scar is owed, and drift is 0 (§5).", id="a lost thread",
        ),
        pytest.param(
            "6-false-vouch", "sheet/@bob", "drift +2: an audit showed that the vouch was wrong (§6).", id="a vouch"
        ),
        pytest.param(
            "8-contested-act-ticks", "clock/id:p1",
            "filled +2: a1 succeeded with standard effect, and was contested (§8).", id="a contested act",
        ),
        pytest.param(
            "7-size-is-operators", "crew/id:lamps",
            "size 1: distinct operators among its pinned sheets that have not retired (§7).", id="size",
        ),
    ],
)  # fmt: skip
def test_a_number_says_why(scenario: str, key: str, sentence: str) -> None:
    assert sentence in why(scenario, key)


def test_what_a_strike_takes_back_is_said_to_be_counted_anew() -> None:
    said = why("3-strike-voids-the-roll", "ask/id:b1")
    assert any("void from its own listing on, and what followed was counted anew" in each for each in said)


def season_of(*steps: dict[str, Any]) -> dict[str, Any]:
    at = [{"at": f"2026-10-18T{8 + n // 60:02}:{n % 60:02}:00Z", **step} for n, step in enumerate(steps)]
    return {"ruleset": "delvetown", "root": {"gm": "@gm"}, "steps": at}


def test_harm_and_its_mending_are_told_with_their_numbers() -> None:
    asked = rolled("ann", "a1", 1, 2)
    pick = move("gm", "k1", "consequence", ask="uri:a1", pick="harm")
    rest = move("ann", "b1", "between", purpose="repair", harm="fetch", trace={"url": "https://a.example"})
    document = season_of(*PLAYERS, prompt(), *asked, pick, rest, {"trace": "b1", "verdict": "ok"})
    said = [each for change, says in told(document) if change.key.startswith("sheet/") for each in says]
    assert "harm of fetch +1: the consequence of a1, which the GM picked (§4)." in said
    assert "harm of fetch −1: b1 showed the fix: one level a between move (§5)." in said


def test_an_ask_that_is_refused_says_what_its_report_says() -> None:
    document = season_of(*PLAYERS, prompt(), ask("ann", "a1"), ask("ann", "a2"))
    said = {
        change.key.rpartition(":")[2]: says
        for change, says in told(document)
        if change.key.startswith("ask/")
    }
    assert said["a2"] == ("The day's ration of action moves, 1, is used (§2).",)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_nothing_is_said_twice_of_one_change(path: Path) -> None:
    for change, says in told(json.loads(path.read_bytes())):
        assert len(set(says)) == len(says), (change.key, says)


def test_cells_that_only_the_fold_reads_have_no_words() -> None:
    game = Game(RULES, season_of(*PLAYERS, prompt(), ask("ann", "a1")))
    watch = Watch(game.fold())
    for listed in game.entries:
        watched = watch.step(listed)
        for key, (_, after) in watched.cells.items():
            if key.partition("/")[0] not in READ:
                assert reasons(RULES, key, listed, watched.cells, watch.look) == (), (
                    key,
                    after and decode_own(after),
                )


def test_the_pin_covers_the_rule_set_and_none_of_its_commands() -> None:
    covered = manifest(RULES).files
    assert "reasons/facts.py" in covered
    assert not any("tools" in path and path != "tools.py" for path in covered)
