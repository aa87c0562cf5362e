from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from season_log import KERNEL, Log
from weighbridge.beacon import verify
from weighbridge.dice import QUICKNET, round_after
from weighbridge.errors import Refused
from weighbridge.fold import Fold
from weighbridge.identity import Signer, lint, open_envelope, sign_record, verify_envelope
from weighbridge.identity.envelope import encode_envelope
from weighbridge.plugins import Plugins
from weighbridge_services.commands import demo
from weighbridge_services.demo.season import GAME, MARGIN, SECOND, Given, Season, Wait, beacons, lines, rounds
from weighbridge_services.demo.story import tell

DAY = 86_400 * SECOND


@pytest.fixture(scope="module")
def season() -> Season:
    return tell(KERNEL)


@pytest.fixture(scope="module")
def fold() -> Fold:
    ruleset = Plugins({"weighbridge.rulesets": ["delvetown"]}).ruleset("delvetown")
    made = Fold(GAME, ruleset)
    for listed in Log(tell(KERNEL)).run():
        made.fold(listed)
    return made


def given(season: Season) -> list[Given]:
    return [item for item in season.items if isinstance(item, Given)]


def moves(season: Season, kind: str) -> list[Given]:
    return [item for item in given(season) if item.envelope.value.get("kind") == kind]


def cells(fold: Fold, prefix: str) -> dict[str, Any]:
    return {key.rpartition(":")[2]: cell for key, cell in fold.table.items(prefix)}


# --- what is told ----------------------------------------------------------------------------------------------


def test_every_record_is_signed_but_the_one_that_is_to_be_forged(season: Season) -> None:
    forged = [item for item in given(season) if not holds(item)]
    assert [item.envelope.rkey for item in forged] == ["1121-forged"]


def test_the_help_counts_the_asks_as_they_are(season: Season) -> None:
    assert f"{len(moves(season, 'ask'))} asks" in demo.TEXT


def holds(item: Given) -> bool:
    try:
        verify_envelope(item.envelope)
    except Refused:
        return False
    return True


def test_the_beacons_that_come_along_are_quicknets(own_vectors: Path) -> None:
    source = json.loads((own_vectors / "drand" / "quicknet_beacons.json").read_text())
    known = {each["round"]: each["randomness"] for each in source}
    for each in beacons():
        assert verify(QUICKNET, each.round, bytes.fromhex(each.signature)).hex() == known[each.round]


def test_every_roll_stands_in_the_seconds_before_a_beacon_that_comes_along(season: Season) -> None:
    there = {each.round for each in beacons()}
    rolling = [*moves(season, "ask"), *(m for m in moves(season, "between") if "ask" in m.envelope.value)]
    assert {round_after(QUICKNET, item.at, MARGIN) for item in rolling} == there
    assert rounds(season.items) == sorted(there)


def test_a_roll_waits_for_receipts_before_its_beacon(season: Season) -> None:
    for place, item in enumerate(season.items):
        if isinstance(item, Wait) and item.beacon is not None:
            assert season.items[place - 1] == Wait(receipts=True)


def test_the_season_is_as_large_as_it_is_said_to_be(season: Season) -> None:
    collections = Counter(item.envelope.collection.rpartition(".")[2] for item in given(season))
    kinds = Counter(item.envelope.value.get("kind") for item in given(season))
    days = {datetime.fromtimestamp(item.at / SECOND, UTC).date() for item in moves(season, "ask")}
    assert collections["sheet"] >= 5
    assert collections["crew"] == 2
    assert kinds["ask"] >= 40
    assert kinds["strike"] >= 2
    assert kinds["consequence"] >= 8
    assert len(days) >= 8


def test_times_never_go_back(season: Season) -> None:
    times = [item.at for item in given(season)]
    assert times == sorted(times)


def test_the_policy_is_one_that_the_linter_has_nothing_to_say_about() -> None:
    assert lint(KERNEL["policy"])[1] == ()


@pytest.mark.parametrize(
    ("tell_it", "says"),
    [
        (lambda s: (s.at("2023-11-22 00:00"), s.at("2023-11-21 00:00")), "earlier than what was told"),
        (lambda s: (s.towards(2581163), [s.move("ilse", "say", f"s{n}") for n in range(13)], s.roll()), "the seconds"),
        (lambda s: (s.move("ilse", "say", "one"), s.move("ilse", "say", "one")), "called one"),
        (lambda s: s.roll(), "the seconds before round None"),
    ],
    ids=["a time that is past", "more than three seconds hold", "a name twice", "a roll of nothing"],
)  # fmt: skip
def test_a_season_cannot_be_told_wrong(tell_it: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        tell_it(Season())


def test_a_line_for_the_source_holds_what_was_told(season: Season) -> None:
    values = [json.loads(line) for line in lines(season.items, timeout=9)]
    assert len(values) == len(season.items)
    assert values[0]["envelope"]["collection"] == "town.delve.root"
    assert {"await": {"receipts": True, "timeout": 9}} in values
    assert {"await": {"traces": True, "timeout": 9}} in values
    assert {"await": {"beacon": 2581163, "timeout": 9}} in values
    assert "time" in values[-2]


def test_a_record_signed_elsewhere_is_handed_in_as_it_is() -> None:
    signer, season = Signer(b"x" * 32), Season()
    envelope = sign_record(signer, GAME, "network.weighbridge.operator", "self", {"game": GAME})
    season.hand_in(envelope)
    assert open_envelope(encode_envelope(given(season)[0].envelope)) == envelope


# --- what it comes to --------------------------------------------------------------------------------------------


def test_all_rolls_are_timely_and_nothing_waits(fold: Fold) -> None:
    statuses = Counter(cell["status"] for cell in cells(fold, "ask/").values())
    assert statuses["rolled"] >= 50
    assert set(statuses) == {"rolled", "refused", "unwitnessed", "void"}
    assert not fold.world.pendings


def test_consequences_are_picked_come_by_default_and_are_resisted(fold: Fold) -> None:
    found = [cell["consequence"] for cell in cells(fold, "ask/").values() if "consequence" in cell]
    assert {each.get("by") for each in found} == {"gm", "default", None}
    assert sum(each["resisted"] for each in found) >= 5


def test_clocks_are_contested_and_one_is_full(fold: Fold) -> None:
    clocks = cells(fold, "clock/").values()
    assert any(clock["filled"] == clock["size"] for clock in clocks)
    assert all(clock["filled"] > 0 for clock in clocks)


def test_the_reports_are_the_ones_that_the_story_is_about(fold: Fold) -> None:
    found = {code for codes in cells(fold, "_/report/").values() for code in codes}
    assert found == {"bad-answer", "struck", "clock-full", "double-claim", "over-ration", "not-invited"}


def test_a_thread_is_lost_and_leaves_a_scar(fold: Fold) -> None:
    assert [cell["scars"] for _, cell in fold.table.items("sheet/") if cell["scars"]] == [
        ["whistles when nobody is coming"]
    ]


def test_both_crews_are_hot_and_the_gm_has_something_to_do(fold: Fold) -> None:
    assert all(crew["heat"] > 0 for _, crew in fold.table.items("crew/"))
    assert len(fold.table.keys("_/question/")) >= 3
