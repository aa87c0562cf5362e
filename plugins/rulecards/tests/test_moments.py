"""What each trigger fires on and each effect does: the rows of the page's tables, and the rules of a moment."""

from __future__ import annotations

from typing import Any

import pytest
from cards_table import (
    act,
    ann,
    blow,
    card,
    cards,
    cell,
    codes,
    conditions,
    dice,
    fired,
    gm,
    grant,
    hp,
    play,
    sheet,
    system_with,
    track,
)

DOOM = "Doom +1"
FIGHT = gm("m", "fight", is_="start", who=["@ann"])
RAIDER = gm("f", "foe", foe="bridge_raider")

FIRES: list[tuple[str, list[Any], bool]] = [
    ("When a roll lands", act("m", "death_save", 3), True),
    ("When a roll is a critical", act("m", "death_save", 20), True),
    ("When a roll is a critical", act("m", "death_save", 19), False),
    ("When a Saving throw fails or fumbles", act("m", "saving_throw", 1, target=2), True),
    ("When a Saving throw fails or fumbles", act("m", "saving_throw", 9, target=12), True),
    ("When a Saving throw fails or fumbles", act("m", "attack", 9, target=12), False),
    ("When an Ability check lands on Success", act("m", "ability_check", 12, target=12), True),
    ("When an Ability check lands on Success", act("m", "ability_check", 20, target=12), False),
    ("When Hit points run out", [blow("m", 10)], True),
    ("When Hit points run out", [blow("m", 9)], False),
    ("When Exhaustion fills up", [grant("m", "Exhaustion +6")], True),
    ("When Exhaustion fills up", [grant("m", "Exhaustion maximum set to 1; Exhaustion +1")], True),
    ("When Hit points drop below half", [blow("m", 6)], True),
    ("When Hit points drop below half", [blow("m", 5)], False),
    ("When Hit points reach 1", [blow("m", 10)], True),
    ("When Hit points reach 1", [blow("m", 9)], True),
    ("When Hit points reach 1", [blow("m", 8)], False),
    ("When Nerve reaches 4", [grant("m", "Nerve +2")], True),
    ("When Nerve reaches 3", [grant("m", "Nerve +2")], False),
    ("When the Renown clock fills", [grant("m", "tick Renown 9")], True),
    ("When the Renown clock fills", [grant("m", "tick Renown 3")], False),
    ("When a clock fills", [grant("m", "tick Renown 1 of 1")], True),
    ("When a fight starts", [FIGHT], True),
    ("When a fight ends", [{**FIGHT, "as": "n"}, gm("m", "fight", is_="end")], True),
    ("When they rest", [ann("m", "rest")], True),
    ("Each turn (while Poisoned)", [grant("g", "Poisoned"), ann("m", "turn")], True),
    ("Each turn (while Poisoned)", [ann("m", "turn")], False),
    ("When they gain a level", [grant("m", "+300 xp")], True),
    ("When they gain a level", [grant("m", "+299 xp")], False),
    ("When they enter the Sunken Chapel", [ann("m", "enter", place="sunken_chapel")], True),
    ("When they enter a settlement", [ann("m", "enter", place="bridgeford")], True),
    ("When they enter a settlement", [ann("m", "enter", place="witchwood")], False),
    ("When they first meet a priest", [gm("m", "meet", for_="@ann", person="anselm")], True),
    ("When they first meet Odile", [gm("m", "meet", for_="@ann", person="odile")], True),
    ("When they first meet Odile", [gm("m", "meet", for_="@ann", person="anselm")], False),
    (
        "When they gain Moonsilver Blade",
        [gm("m", "item", for_="@ann", item="moonsilver_blade", is_="gain")],
        True,
    ),
    ("When they gain an item", [gm("m", "item", for_="@ann", item="ship", is_="gain")], True),
    (
        "When they lose an item",
        [
            gm("n", "item", for_="@ann", item="ship", is_="gain"),
            gm("m", "item", for_="@ann", item="ship", is_="lose"),
        ],
        True,
    ),
    ("When they deal damage of at least 10", [RAIDER, blow("m", 10, to="uri:f", from_="@ann")], True),
    ("When they deal damage of at least 10", [RAIDER, blow("m", 9, to="uri:f", from_="@ann")], False),
    ("When they take damage", [blow("m", 1)], True),
    ("When they take damage", [blow("m", 0)], False),
    ("When they defeat a foe", [RAIDER, blow("m", 11, to="uri:f", from_="@ann")], True),
    ("When they defeat a foe", [RAIDER, blow("m", 11, to="uri:f")], False),
    ("When they defeat Ghoul", [RAIDER, blow("m", 11, to="uri:f", from_="@ann")], False),
    ("When a quest step is done", [gm("m", "quest", for_="@ann", quest="ring", is_="step")], True),
    ("When a quest is finished", [gm("m", "quest", for_="@ann", quest="ring", is_="finish")], True),
    ("Before any roll", act("m", "death_save", 3), True),
    ("Before any Attack", act("m", "death_save", 3), False),
    ("Before damage is taken", [blow("m", 1)], True),
    ("Before damage of at least 2 is taken", [blow("m", 1)], False),
    ("Before damage is dealt", [blow("m", 1, from_="@ann")], True),
]


@pytest.mark.parametrize(
    ("words", "steps", "fires"), FIRES, ids=[f"{words}: {fires}" for words, _, fires in FIRES]
)
def test_a_card_fires_on_its_trigger_and_on_nothing_else(words: str, steps: list[Any], fires: bool) -> None:
    result = play([hp(10, 10), *steps], cards(f"{words} → {DOOM}."))
    assert fired(result, "m") == (["a"] if fires else [])
    assert cell(result, "pool/doom") == {"value": int(fires)}


def after(words: str, *before: str) -> Any:
    steps = [grant(f"g{n}", each) for n, each in enumerate(before)]
    return play(
        [
            sheet(tracks={"nerve": {"value": 2}, "hp": {"value": 8, "max": 12}}),
            *steps,
            gm("m", "quest", for_="@ann", quest="q", is_="step"),
        ],
        cards(f"When a quest step is done → {words}."),
    )


def test_tracks_change_by_amounts_formulas_and_to_a_value_and_stay_within_their_bounds() -> None:
    assert track(after("Nerve +2"), "nerve") == 4
    assert track(after("Nerve +9"), "nerve") == 5
    assert track(after("Nerve −9"), "nerve") == 0
    assert track(after("Nerve set to 1"), "nerve") == 1
    assert track(after("Nerve +(@hp / 4 - 1)"), "nerve") == 3
    assert cell(after("Hit points maximum −8"), "char/@ann")["tracks"]["hp"] == {"value": 4, "max": 4}
    assert cell(after("Hit points maximum set to 0"), "char/@ann")["tracks"]["hp"] == {"value": 1, "max": 1}
    assert cell(after("Hit points maximum +5"), "char/@ann")["tracks"]["hp"] == {"value": 8, "max": 17}


def test_conditions_are_put_on_taken_off_raised_and_lowered() -> None:
    assert conditions(after("Blessed for 3 turns")) == {"blessed": {"level": 1, "turns": 3}}
    assert conditions(after("Frightened 1", "Frightened 2 for 3 turns")) == {"frightened": {"level": 2}}
    assert conditions(after("Frightened 3 for 1 turn", "Frightened 2 for 3 turns")) == {
        "frightened": {"level": 3, "turns": 1}
    }
    assert conditions(after("Frightened rises")) == {"frightened": {"level": 1}}
    assert conditions(after("Frightened rises", "Frightened 3 for 2 turns")) == {
        "frightened": {"level": 3, "turns": 2}
    }
    assert conditions(after("Frightened falls", "Frightened 2 for 2 turns")) == {
        "frightened": {"level": 1, "turns": 2}
    }
    assert conditions(after("Frightened falls", "Frightened 1")) == {}
    assert conditions(after("Frightened falls")) == {}
    assert conditions(after("lose Dying", "Dying 3")) == {}
    assert conditions(after("lose Dying")) == {}


def test_clocks_are_made_by_the_first_tick_fill_once_and_never_go_down() -> None:
    assert cell(after("tick Renown 1"), "clock/renown") == {"size": 4, "filled": 1}
    assert cell(after("tick Renown 1 of 6"), "clock/renown") == {"size": 6, "filled": 1}
    assert cell(after("tick Renown 1 of 6", "tick Renown 1"), "clock/renown") == {"size": 4, "filled": 2}
    assert cell(after("tick Renown 9"), "clock/renown") == {"size": 4, "filled": 4}
    assert cell(after("tick Renown (1 - 3)"), "clock/renown") is None
    full = cards("When the Renown clock fills → Doom +1.")
    result = play([sheet(), grant("g1", "tick Renown 4"), grant("g2", "tick Renown 4")], full)
    assert (fired(result, "g1"), fired(result, "g2")) == (["a"], [])


def test_pools_clamp_and_xp_is_never_below_nothing() -> None:
    assert cell(after("Doom +9"), "pool/doom") == {"value": 6}
    assert cell(after("Doom −9"), "pool/doom") == {"value": 0}
    assert cell(after("−30 xp", "+20 xp"), "char/@ann")["xp"] == 0


def test_a_line_for_the_storyteller_stands_in_the_cue_and_a_note_says_instead() -> None:
    told = cell(after("“All is still”; Doom +1"), "cue/id:m/1")
    assert (told["says"], told["show"]) == ("“All is still”; Doom +1", ["All is still"])
    noted = {**card("When they rest → “All is still”.", "a"), "note": "Show the quiet."}
    result = play([sheet(), ann("r", "rest")], [noted])
    assert (cell(result, "cue/id:r/1")["says"], cell(result, "cue/id:r/1")["show"]) == (
        "Show the quiet.",
        ["All is still"],
    )


def test_loading_a_sheet_crosses_nothing() -> None:
    result = play(
        [hp(1, 20)], cards("When Hit points drop below half → Doom +1.", "When Hit points reach 1 → Doom +1.")
    )
    assert cell(result, "pool/doom") == {"value": 0}


def test_a_condition_is_read_as_the_card_is_about_to_fire() -> None:
    found = cards(
        "When they rest → Blessed.",
        "When they rest (while Blessed) → Doom +1.",
        "When they rest (unless Blessed) → Fear +1.",
    )
    result = play([sheet(), ann("r", "rest")], found)
    assert fired(result, "r") == ["a", "b"]


def test_events_queue_and_what_cards_raise_joins_the_end() -> None:
    # Damage taken comes before the track's own event; what the first card raises comes after both.
    found = cards(
        "When they take damage → Nerve −3.",
        "When Nerve runs out → Fear +1.",
        "When Hit points drop below half → Doom +1.",
    )
    result = play([hp(10, 10), blow("m", 6)], found)
    assert fired(result, "m") == ["a", "c", "b"]
    assert [cell(result, f"cue/id:m/{n}")["step"] for n in (1, 2, 3)] == [1, 1, 2]


def test_each_blow_of_a_record_is_a_moment_of_its_own() -> None:
    result = play([hp(10, 10), blow("m", 1, 2, 3)], cards("When they take damage → Doom +1."))
    assert fired(result, "m") == ["a", "a", "a"]
    assert [cell(result, f"blow/id:m/{n}")["landed"] for n in (1, 2, 3)] == [1, 2, 3]


def test_a_fight_is_about_each_in_it_in_order_and_a_card_fires_once_for_each() -> None:
    steps = [
        sheet(),
        sheet("ben"),
        gm("m", "fight", is_="start", who=["@ben", "@ann"]),
        gm("n", "fight", is_="end"),
    ]
    result = play(steps, cards("When a fight starts → Doom +1.", "When a fight ends → Fear +1."))
    assert [cell(result, f"cue/id:m/{n}")["for"] for n in (1, 2)] == [
        result.records.value(who) for who in ("@ben", "@ann")
    ]
    assert [cell(result, f"cue/id:n/{n}")["for"] for n in (1, 2)] == [
        result.records.value(who) for who in ("@ben", "@ann")
    ]


def test_blow_cards_of_dealt_and_taken_fire_in_one_listed_order_and_see_the_sum_so_far() -> None:
    found = cards(
        "Before damage is taken → 3 less damage.",
        "Before damage is dealt (when it is at least 4) → 9 more damage.",
        "Before damage is dealt → (@event.amount) more damage.",
        "Before damage of at least 9 is taken → Doom +1.",
    )
    result = play([hp(30, 30), sheet("ben"), blow("m", 6, to="@ann", from_="@ben")], found)
    assert cell(result, "blow/id:m/1") == {
        "amount": 6,
        "landed": 6,
        "chip": ["A: 3 less damage", "C: 3 more damage"],
    }
    assert fired(result, "m") == ["a", "c"]


def test_the_floor_of_a_blow_is_at_the_end() -> None:
    found = cards("Before damage is taken → 9 less damage.", "Before damage is taken → 4 more damage.")
    assert cell(play([hp(30, 30), blow("m", 6)], found), "blow/id:m/1")["landed"] == 1
    assert cell(play([hp(30, 30), blow("m", 4)], found), "blow/id:m/1")["landed"] == 0


def test_a_blocked_blow_does_not_land_and_says_why() -> None:
    found = cards(
        "Before damage is taken in the Temple of Quiet → blocked: Peace holds here.",
        "When they take damage → Doom +1.",
    )
    result = play([hp(9, 9), ann("e", "enter", place="temple_of_quiet"), blow("m", 6)], found)
    assert cell(result, "blow/id:m/1") == {
        "amount": 6,
        "landed": 0,
        "chip": ["A: blocked"],
        "reason": "Peace holds here",
    }
    assert (track(result, "hp"), cell(result, "pool/doom")) == (9, {"value": 0})


def test_a_blow_by_dice_draws_them() -> None:
    steps = [hp(30, 30), gm("m", "blow", to="@ann", dice={"n": 2, "sides": 6, "add": -1}), dice("m", 5, 4)]
    assert cell(play(steps), "blow/id:m/1") == {"amount": 8, "landed": 8, "chip": []}


def test_a_roll_goes_by_the_place_at_its_listing_and_by_all_else_as_it_is_made() -> None:
    steps = [
        sheet(stats={"strength": 1}),
        ann("e", "enter", place="witchwood"),
        gm("m", "act", for_="@ann", check="attack", stat="strength", target=3),
        ann("e2", "enter", place="bridgeford"),
        grant("g", "Blessed"),
        dice("m", 9, 4),
    ]
    found = cards(
        "Before any roll in the Witchwood → disadvantage.",
        "Before any roll (while Blessed) → +2 to the roll.",
    )
    roll = cell(play(steps, found), "roll/id:m")
    assert (roll["chip"], roll["total"], roll["kept"]) == (["A: disadvantage", "B: +2"], 7, 4)


def test_a_card_s_roll_on_entering_a_place_is_made_in_that_place() -> None:
    found = cards(
        "When they enter the Witchwood → roll a Death save.",
        "Before any roll in the Witchwood → +1 to the roll.",
    )
    steps = [sheet(), ann("m", "enter", place="witchwood"), dice("m", 9)]
    roll = cell(play(steps, found), "roll/id:m/1")
    assert (roll["chip"], roll["total"], roll["band"]) == (["B: +1"], 10, "success")


def test_each_roll_by_cards_has_a_number_of_its_own() -> None:
    found = cards("When they rest → roll a Death save; roll a Death save.", "When a roll lands → Doom +1.")
    result = play([sheet(), ann("m", "rest"), dice("m", 9, 20)], found)
    assert [cell(result, f"roll/id:m/{n}")["kept"] for n in (1, 2)] == [9, 20]
    assert cell(result, "pool/doom") == {"value": 1}


def test_a_move_that_can_set_off_a_roll_waits_for_its_round_and_others_do_not() -> None:
    found = cards(
        "Each turn (while Poisoned) → Hit points −1.", "When Hit points run out → roll a Death save."
    )
    result = play(
        [sheet(), ann("t", "turn"), ann("r", "rest"), ann("e", "enter", place="witchwood"), blow("b", 3)],
        found,
    )
    pending = [key.rsplit(":", 1)[1] for key in result.cells if key.startswith("_/pending/")]
    assert pending == ["b", "r", "t"]
    assert cell(result, "char/@ann")["place"] == "witchwood"


def test_a_track_that_only_rises_never_makes_a_move_wait_for_what_runs_out() -> None:
    found = cards(
        "When they enter the Witchwood → Hit points +1.", "When Hit points run out → roll a Death save."
    )
    result = play([sheet(), ann("e", "enter", place="witchwood")], found)
    assert fired(result, "e") == ["a"]


def test_a_duration_put_on_in_the_turn_itself_does_not_fall_in_it() -> None:
    found = cards("Each turn (while Prone) → Blessed for 2 turns.")
    steps = [sheet(), grant("g", "Blessed for 1 turn; Prone for 1 turn"), ann("t", "turn")]
    assert conditions(play(steps, found)) == {"blessed": {"level": 1, "turns": 2}}


def test_edges_of_conditions_are_on_every_roll_of_their_bearer() -> None:
    roll = cell(
        play([sheet(), grant("g", "Poisoned; Frightened 2"), act("m", "death_save", 12, 15)]), "roll/id:m"
    )
    assert roll["chip"] == ["Frightened: disadvantage", "Poisoned: disadvantage"]
    assert (roll["kept"], roll["maths"], roll["edge"]) == (12, "12 = 12", "disadvantage")


def test_hits_have_one_die_more_or_fewer_in_the_first_group() -> None:
    steps = [sheet(stats={"body": 1}), act("m", "test", 6, stat="body", target=1, edge="disadvantage")]
    roll = cell(play(steps, system="night-pool"), "roll/id:m")
    assert (roll["dice"], roll["total"], roll["band"]) == ({"Current": [], "Hunger": [6]}, 1, "success")


def test_a_band_s_effects_come_before_the_cards_that_watch_the_roll() -> None:
    found = cards("When a Death save succeeds (while Stable) → Doom +1.")
    result = play([sheet(), grant("g", "Dying 2"), act("m", "death_save", 11)], found)
    assert fired(result, "m") == ["a"]
    assert conditions(result) == {"stable": {"level": 1}}


def test_a_level_passed_is_an_event_and_the_system_s_rest_is_its_own() -> None:
    system = system_with(rest=[{"kind": "xp", "amount": "900"}])
    result = play(
        [sheet(), ann("m", "rest")],
        cards("When they gain a level → Doom +1.", "When they rest → Fear +1."),
        system,
    )
    assert (fired(result, "m"), cell(result, "char/@ann")["level"]) == (["a", "b"], 3)


def test_a_player_s_sheet_waits_for_the_first_well_formed_root() -> None:
    assert codes(play([ann("m", "rest")]), "m") == ["no-sheet"]


def test_a_set_of_cards_is_no_move_of_a_game_that_cards_own() -> None:
    put = {"by": "@gm", "put": "set", "as": "s", "value": {"cards": []}}
    assert codes(play([put]), "s") == []
