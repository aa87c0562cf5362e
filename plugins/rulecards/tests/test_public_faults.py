"""The faults that other engines had, by the ids they are recorded under: what went wrong there goes right here."""

from __future__ import annotations

from itertools import pairwise

from cards_table import (
    NIGHT,
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
    forms_of,
    gm,
    grant,
    hp,
    play,
    problems_of,
    refused,
    said,
    sheet,
    system_with,
    track,
)


def test_r01_overshooting_zero_runs_out_once() -> None:
    result = play([hp(20, 20), blow("b1", 30)], cards("When Hit points run out → Doom +1."))
    assert (track(result, "hp"), cell(result, "pool/doom"), fired(result, "b1")) == (0, {"value": 1}, ["a"])


def test_r03_below_half_is_crossed_and_never_toggled() -> None:
    steps = [
        hp(20, 36),
        blow("b1", 3),
        blow("b2", 1),
        grant("g1", "Hit points +3"),
        blow("b3", 1),
        blow("b4", 1),
    ]
    result = play(steps, cards("When Hit points drop below half → Bloodied."))
    assert [fired(result, name) for name in ("b1", "b2", "g1", "b3", "b4")] == [["a"], [], [], [], ["a"]]
    assert conditions(result) == {"bloodied": {"level": 1}}


def test_r05_the_line_may_move_instead_of_the_value() -> None:
    steps = [hp(15, 18), grant("g1", "Hit points maximum set to 40")]
    result = play(steps, cards("When Hit points drop below half → Bloodied."))
    assert cell(result, "cue/id:g1/1")["moved"] == "max"
    assert cell(result, "cue/id:g1/2") is None


def test_r06_each_side_counts_once_and_they_cancel() -> None:
    found = cards(
        "Before any roll → advantage.",
        "Before any roll → advantage.",
        "Before any roll in the Witchwood → disadvantage.",
    )
    result = play([sheet(), ann("e1", "enter", place="witchwood"), act("a1", "death_save", 9, 19)], found)
    roll = cell(result, "roll/id:a1")
    assert roll["dice"] == {"Main": [9]}
    assert "edge" not in roll
    assert roll["chip"] == ["A: advantage", "B: advantage", "C: disadvantage"]


def test_r08_a_card_is_marked_as_fired_before_its_effects_run() -> None:
    found = cards("When Hit points run out → Doom +1; Hit points set to 1; Hit points −1.")
    result = play([hp(4, 10), blow("b1", 4)], found)
    assert (cell(result, "pool/doom"), track(result, "hp"), fired(result, "b1")) == ({"value": 1}, 0, ["a"])


def test_r10_a_chain_stops_after_three_steps_and_says_so() -> None:
    names = "ABCDE"
    system = system_with(clocks=[{"id": f"c{each.lower()}", "name": f"Clock {each}"} for each in names])
    sentences = ["When they rest → tick Clock A 1 of 1."]
    sentences += [
        f"When the Clock {one} clock fills → tick Clock {two} 1 of 1." for one, two in pairwise(names)
    ]
    result = play([sheet(), ann("r1", "rest")], cards(*sentences, system=system), system)
    assert fired(result, "r1") == ["a", "b", "c"]
    assert [cell(result, f"cue/id:r1/{n}")["step"] for n in (1, 2, 3)] == [1, 2, 3]
    assert result.reports["r1"]["chain-stopped"].endswith("these would have been next: D.")
    assert cell(result, "clock/cc") == {"size": 1, "filled": 1}
    assert cell(result, "clock/cd") is None


def test_r12_two_cards_on_one_event_lose_no_update() -> None:
    steps = [sheet(), grant("g1", "Doom +5"), ann("r1", "rest")]
    result = play(steps, cards("When they rest → Doom +1.", "When they rest → Doom +1."))
    assert (cell(result, "pool/doom"), fired(result, "r1")) == ({"value": 6}, ["a", "b"])
    four = play(
        [sheet(), grant("g1", "Doom +2"), ann("r1", "rest")],
        cards("When they rest → Doom +1.", "When they rest → Doom +1."),
    )
    assert cell(four, "pool/doom") == {"value": 4}


def test_r14_effects_apply_in_the_order_written() -> None:
    values = []
    for words in ("Inspiration set to 1; Inspiration +2", "Inspiration +2; Inspiration set to 1"):
        values.append(
            track(play([sheet(), ann("r1", "rest")], cards(f"When they rest → {words}.")), "inspiration")
        )
    assert values == [3, 1]


def test_r16_a_blocked_roll_is_no_roll() -> None:
    found = cards(
        "Before any roll in the Temple of Quiet → blocked: No spell can be cast inside the temple.",
        "When a roll is a critical → Inspiration +1.",
        "When a roll lands → Doom +1.",
    )
    result = play([sheet(), ann("e1", "enter", place="temple_of_quiet"), act("a1", "death_save", 20)], found)
    roll = cell(result, "roll/id:a1")
    assert (roll["status"], roll["reason"]) == ("blocked", "No spell can be cast inside the temple")
    assert not {"dice", "band", "outcome", "total"} & set(roll)
    assert fired(result, "a1") == ["a"]
    assert conditions(result) == {}


def test_r17_no_damage_is_no_blow_taken() -> None:
    found = cards(
        "Before damage is taken (while Blessed) → 3 less damage.", "When they take damage → Doom +1."
    )
    result = play([hp(5, 10), grant("g1", "Blessed"), blow("b1", 2)], found)
    assert cell(result, "blow/id:b1/1") == {"amount": 2, "landed": 0, "chip": ["A: 3 less damage"]}
    assert (track(result, "hp"), fired(result, "b1"), cell(result, "pool/doom")) == (5, ["a"], {"value": 0})


def test_r19_the_amount_is_what_lands_not_what_was_left() -> None:
    found = cards("When they take damage (when it is at least 8) → Nerve +(@event.amount / 4).")
    result = play([hp(5, 10), grant("g1", "Nerve set to 0"), blow("b1", 12)], found)
    assert (track(result, "hp"), track(result, "nerve"), fired(result, "b1")) == (0, 3, ["a"])


def test_r21_a_duration_counts_its_bearer_s_turns() -> None:
    steps = [sheet(), sheet("ben"), grant("g1", "Frightened 1 for 3 turns", "ben")]
    for n in range(3):
        steps += [
            ann(f"t{n}", "turn"),
            {"by": "@ben", "put": "move", "as": f"u{n}", "value": {"kind": "turn"}},
        ]
    assert conditions(play(steps[:-3]), "ben") == {"frightened": {"level": 1, "turns": 2}}
    assert conditions(play(steps[:-1]), "ben") == {"frightened": {"level": 1, "turns": 1}}
    assert conditions(play(steps), "ben") == {}


def test_r23_put_on_again_a_duration_replaces_and_never_adds() -> None:
    found = cards("When they enter the Sunken Chapel → Blessed for 3 turns.")
    steps = [
        sheet(),
        ann("e1", "enter", place="sunken_chapel"),
        ann("t1", "turn"),
        ann("e2", "enter", place="bridgeford"),
    ]
    result = play([*steps, ann("e3", "enter", place="sunken_chapel")], found)
    assert conditions(result) == {"blessed": {"level": 1, "turns": 3}}


def test_r25_a_name_that_the_system_lacks_is_refused_at_load() -> None:
    bare = {
        "id": "bare",
        "name": "Bare",
        "damage": "hp",
        "tracks": [{"id": "hp", "name": "Hit points", "max": 5, "start": 0}],
    }
    data = {
        "id": "grim",
        "name": "Grim",
        "when": {"on": "rest"},
        "if": "@nerve < 2",
        "then": [{"kind": "xp", "amount": "1"}],
    }
    assert problems_of(bare, [data]) == {"$.rules.cards[0].if": "no name @nerve; the nearest is @level"}
    assert (
        "the nearest are @nerve"
        in problems_of("classic-d20", [{**data, "if": "@nreve < 2"}])["$.rules.cards[0].if"]
    )


def test_r27_an_unknown_field_is_refused_and_never_no_condition() -> None:
    data = {"when": {"on": "rest"}, "iff": "@nerve < 2", "then": [{"kind": "xp", "amount": "1"}]}
    assert refused(data) == {"$.iff": "no field iff; the nearest is if"}


def test_r30_the_lower_of_two_dice_is_kept_by_code() -> None:
    result = play([sheet(), act("a1", "attack", 4, 17, target=10, edge="disadvantage")])
    roll = cell(result, "roll/id:a1")
    assert (roll["dice"], roll["kept"], roll["outcome"]) == ({"Main": [4, 17]}, 4, "failure")
    first = play([sheet(), act("a1", "attack", 17, 4, target=10, edge="disadvantage")])
    assert cell(first, "roll/id:a1")["kept"] == 4


def test_r32_whatever_touched_a_roll_is_named_and_counted() -> None:
    found = cards("Before any Attack → +2 to the roll.", "Before any roll (while Prone) → disadvantage.")
    steps = [
        sheet(stats={"strength": -1}),
        grant("g1", "Prone; Poisoned; Inspiration +1"),
        gm("k1", "call", for_="@ann", check="attack", stat="strength", target=9),
        ann("a1", "act", call="uri:k1", spend="inspiration"),
        dice("a1", 11, 3),
    ]
    roll = cell(play(steps, found), "roll/id:a1")
    assert roll["chip"] == ["A: +2", "B: disadvantage", "Poisoned: disadvantage", "Inspiration: advantage"]
    assert roll["maths"] == "11 − 1 + 2 rules = 12"
    assert roll["dice"] == {"Main": [11]}


def test_the_page_s_two_chains() -> None:
    shield = card("Before damage is taken (while Blessed) → 3 less damage.", "shield_of_faith")
    ground = card("When they enter the Sunken Chapel → Blessed for 3 turns.", "holy_ground")
    result = play([hp(20, 20), ann("e1", "enter", place="sunken_chapel"), blow("b1", 7)], [ground, shield])
    assert cell(result, "blow/id:b1/1") == {
        "amount": 7,
        "landed": 4,
        "chip": ["Shield of faith: 3 less damage"],
    }
    renown = card("When they defeat a foe → tick Renown 1.", "renown")
    capital = card("When the Renown clock fills → +100 xp; Known in the capital.", "capital")
    steps = [sheet()]
    for n in range(4):
        steps += [gm(f"f{n}", "foe", foe="bridge_raider"), blow(f"k{n}", 11, to=f"uri:f{n}", from_="@ann")]
    result = play(steps, [renown, capital])
    assert [fired(result, f"k{n}") for n in range(4)] == [["renown"]] * 3 + [["renown", "capital"]]
    assert cell(result, "char/@ann")["xp"] == 100
    assert "known_in_the_capital" in conditions(result)
    assert codes(result, "k3") == []


def test_the_blood_oath() -> None:
    price = card("Before any roll (while Blood-sworn) → advantage; Hit points −2.", "blood_price")
    debt = card(
        "When Hit points run out (while Blood-sworn) → Doom +2; “Something old notices the oath is broken”.",
        "debt",
    )
    steps = [
        hp(4, 10),
        grant("g1", "Blood-sworn"),
        act("a1", "death_save", 4, 15),
        act("a2", "death_save", 3, 5),
    ]
    result = play(steps, [price, debt])
    assert cell(result, "roll/id:a1")["chip"] == ["Blood price: advantage"]
    assert cell(result, "roll/id:a1")["maths"] == "15 + 1 rule = 15"
    assert (fired(result, "a1"), fired(result, "a2")) == (["blood_price"], ["blood_price", "debt"])
    assert cell(result, "cue/id:a2/2") == {
        "card": "debt",
        "for": result.records.value("@ann"),
        "step": 2,
        "moved": "value",
        "says": "Doom +2; “Something old notices the oath is broken”",
        "show": ["Something old notices the oath is broken"],
    }
    assert cell(result, "pool/doom") == {"value": 2}


def test_a_block_keeps_what_earlier_cards_did_and_stops_later_ones() -> None:
    found = cards(
        "Before any roll → Hit points −2.",
        "Before any roll → blocked: Not here.",
        "Before any roll → Hit points −5.",
    )
    result = play([hp(9, 10), act("a1", "death_save", 20)], found)
    assert (track(result, "hp"), fired(result, "a1")) == (7, ["a", "b"])
    assert cell(result, "roll/id:a1")["chip"] == ["B: blocked"]


def test_the_systems_read_what_they_say() -> None:
    assert said({"when": {"on": "roll", "check": "test"}, "then": [{"kind": "mark"}]}, NIGHT).startswith(
        "When a Test lands"
    )
    assert forms_of("night-pool").system.name == "Night pool"
