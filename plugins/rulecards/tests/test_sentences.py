"""Every sentence of the page and of the specification, from data and to data."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from cards_table import CLASSIC, NIGHT, PLUGIN, Json, forms_of, handed, refused, said
from weighbridge_rulecards import parse
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.formula_reading import Wrong

TRIGGERS: list[tuple[str, Json]] = [
    ("a roll lands", {"on": "roll"}),
    ("a roll is a critical", {"on": "roll", "outcome": ["critical"]}),
    (
        "a Saving throw fails or fumbles",
        {"on": "roll", "check": "saving_throw", "outcome": ["failure", "fumble"]},
    ),
    (
        "an Attack is a critical, succeeds or fails",
        {"on": "roll", "check": "attack", "outcome": ["critical", "success", "failure"]},
    ),
    ("an Ability check lands", {"on": "roll", "check": "ability_check"}),
    ("an Ability check lands on Success", {"on": "roll", "check": "ability_check", "band": "success"}),
    ("a roll lands on Success", {"on": "roll", "band": "success"}),
    ("Hit points run out", {"on": "track", "track": "hp", "cross": "out"}),
    ("Exhaustion fills up", {"on": "track", "track": "exhaustion", "cross": "full"}),
    ("Hit points drop below half", {"on": "track", "track": "hp", "cross": "half"}),
    ("Hit points reach 1", {"on": "track", "track": "hp", "cross": "reach", "at": 1}),
    ("Nerve reaches 1", {"on": "track", "track": "nerve", "cross": "reach", "at": 1}),
    ("the ship's Hull runs out", {"on": "track", "track": "hull", "of": "ship", "cross": "out"}),
    ("the Renown clock fills", {"on": "clock", "clock": "renown"}),
    ("a clock fills", {"on": "clock"}),
    ("a fight starts", {"on": "fight", "is": "start"}),
    ("a fight ends", {"on": "fight", "is": "end"}),
    ("they rest", {"on": "rest"}),
    ("they gain a level", {"on": "level"}),
    ("they enter the Sunken Chapel", {"on": "place", "place": "sunken_chapel"}),
    ("they enter a settlement", {"on": "place", "kind": "settlement"}),
    ("they first meet Odile", {"on": "meet", "person": "odile"}),
    ("they first meet a priest", {"on": "meet", "kind": "priest"}),
    ("they gain Moonsilver Blade", {"on": "item", "is": "gain", "item": "moonsilver_blade"}),
    ("they gain an item", {"on": "item", "is": "gain"}),
    ("they lose an item", {"on": "item", "is": "lose"}),
    ("they take damage", {"on": "damage", "dir": "taken"}),
    ("they deal damage", {"on": "damage", "dir": "dealt"}),
    ("they deal damage of at least 10", {"on": "damage", "dir": "dealt", "min": 10}),
    ("they defeat a foe", {"on": "defeat"}),
    ("they defeat Bridge raider", {"on": "defeat", "foe": "bridge_raider"}),
    ("a quest step is done", {"on": "quest", "is": "step"}),
    ("a quest is finished", {"on": "quest", "is": "finish"}),
    (
        "they keep a promise that cost them something",
        {"on": "story", "ask": "they keep a promise that cost them something"},
    ),
]
BEFORE: list[tuple[str, Json]] = [
    ("any roll", {"on": "roll"}),
    ("any roll in the Witchwood", {"on": "roll", "place": "witchwood"}),
    ("any Attack", {"on": "roll", "check": "attack"}),
    ("any Attack in the Witchwood", {"on": "roll", "check": "attack", "place": "witchwood"}),
    ("damage is taken", {"on": "damage", "dir": "taken"}),
    (
        "damage of at least 5 is dealt in the Witchwood",
        {"on": "damage", "dir": "dealt", "min": 5, "place": "witchwood"},
    ),
]
TRACK = {"kind": "track"}
EFFECTS: list[tuple[str, Json]] = [
    ("Inspiration +1", {**TRACK, "track": "inspiration", "amount": "1"}),
    ("Hit points −2", {**TRACK, "track": "hp", "amount": "-2"}),
    ("Inspiration set to 1", {**TRACK, "track": "inspiration", "op": "set", "amount": "1"}),
    ("Nerve set to 0", {**TRACK, "track": "nerve", "op": "set", "amount": "0"}),
    ("the ship's Hull −2", {**TRACK, "track": "hull", "of": "ship", "amount": "-2"}),
    ("Hit points maximum set to 40", {**TRACK, "track": "hp", "part": "max", "op": "set", "amount": "40"}),
    ("Hit points maximum +5", {**TRACK, "track": "hp", "part": "max", "amount": "5"}),
    ("Hit points +(@level / 2)", {**TRACK, "track": "hp", "amount": "@level / 2"}),
    ("Hit points set to (@hp.max)", {**TRACK, "track": "hp", "op": "set", "amount": "@hp.max"}),
    ("Bloodied", {"kind": "condition", "condition": "bloodied"}),
    ("Blessed for 3 turns", {"kind": "condition", "condition": "blessed", "turns": 3}),
    ("Frightened 1", {"kind": "condition", "condition": "frightened", "level": 1}),
    ("Frightened 2 for 1 turn", {"kind": "condition", "condition": "frightened", "level": 2, "turns": 1}),
    ("Frightened rises", {"kind": "condition", "condition": "frightened", "op": "rise"}),
    ("Frightened falls", {"kind": "condition", "condition": "frightened", "op": "fall"}),
    ("lose Dying", {"kind": "condition", "condition": "dying", "op": "lose"}),
    ("tick Renown 1", {"kind": "clock", "clock": "renown", "amount": "1"}),
    ("tick Renown 1 of 6", {"kind": "clock", "clock": "renown", "amount": "1", "size": 6}),
    ("tick Renown (@level)", {"kind": "clock", "clock": "renown", "amount": "@level"}),
    ("+25 xp", {"kind": "xp", "amount": "25"}),
    ("+(@level * 10) xp", {"kind": "xp", "amount": "@level * 10"}),
    ("Doom +2", {"kind": "pool", "pool": "doom", "amount": "2"}),
    ("Fear −1", {"kind": "pool", "pool": "fear", "amount": "-1"}),
    ("roll a Death save", {"kind": "roll", "check": "death_save"}),
    (
        "“Something old notices the oath is broken”",
        {"kind": "tell", "text": "Something old notices the oath is broken"},
    ),
]
ROLL_CHANGES: list[tuple[str, Json]] = [
    ("+2 to the roll", {"kind": "modify", "amount": "2"}),
    ("−1 to the roll", {"kind": "modify", "amount": "-1"}),
    ("+(@level) to the roll", {"kind": "modify", "amount": "@level"}),
    ("advantage", {"kind": "modify", "edge": "advantage"}),
    ("disadvantage", {"kind": "modify", "edge": "disadvantage"}),
    (
        "blocked: No spell can be cast inside the temple",
        {"kind": "block", "text": "No spell can be cast inside the temple"},
    ),
]
DAMAGE_CHANGES: list[tuple[str, Json]] = [
    ("3 less damage", {"kind": "modify", "amount": "-3"}),
    ("2 more damage", {"kind": "modify", "amount": "2"}),
    ("(@level) more damage", {"kind": "modify", "amount": "@level"}),
]
CONDITIONS: list[tuple[str, str]] = [
    ("while Blessed", "@cond.blessed > 0"),
    ("unless Stable", "@cond.stable == 0"),
    ("while Nerve is below 2", "@nerve < 2"),
    ("while Nerve is at least 3", "@nerve >= 3"),
    ("while Hit points are below 5", "@hp < 5"),
    ("while Blessed and Nerve is at least 3", "@cond.blessed > 0 and @nerve >= 3"),
    ("unless Dying and unless Stable", "@cond.dying == 0 and @cond.stable == 0"),
    (
        "while Blessed and unless Dying and while Prone",
        "@cond.blessed > 0 and @cond.dying == 0 and @cond.prone > 0",
    ),
    ("@level >= 2 or @cond.blessed > 0", "@level >= 2 or @cond.blessed > 0"),
    ("@cond.frightened >= 2", "@cond.frightened >= 2"),
    ("@nerve < -1", "@nerve < -1"),
    ("not @cond.blessed > 0 and @nerve >= 3", "not @cond.blessed > 0 and @nerve >= 3"),
]
NIGHT_CONDITIONS: list[tuple[str, str]] = [
    ("when the Current die shows 6", "@group.Current.high == 6"),
    ("when the Hunger die shows a 1", "@group.Hunger.ones > 0"),
    ("while Nerve is below 2 and when the Current die shows 6", "@nerve < 2 and @group.Current.high == 6"),
]
SPECIFIED = """
When a roll is a critical → Inspiration +1.
When they defeat a foe → +25 xp.
Before any roll in the Witchwood → disadvantage.
When Hit points drop below half → Bloodied.
When they enter the Sunken Chapel → Blessed for 3 turns.
Before damage is taken (while Blessed) → 3 less damage.
When they defeat a foe → tick Renown 1.
When the Renown clock fills → +100 xp; Known in the capital.
Before any roll (while Blood-sworn) → advantage; Hit points −2.
When Hit points run out (while Blood-sworn) → Doom +2; “Something old notices the oath is broken”.
Before any roll in the Temple of Quiet → blocked: No spell can be cast inside the temple.
When they keep a promise that cost them something → Inspiration +1.
Each turn (while Poisoned) → Hit points −1.
""".strip().split("\n")
XP = {"kind": "xp", "amount": "25"}


def both_ways(sentence: str, data: Json, forms: Forms = CLASSIC) -> None:
    assert refused(data, forms) == {}
    assert said(data, forms) == sentence
    assert parse(sentence, forms) == data


@pytest.mark.parametrize(("words", "when"), TRIGGERS, ids=[words for words, _ in TRIGGERS])
def test_a_trigger_reads_and_is_read(words: str, when: Json) -> None:
    both_ways(f"When {words} → +25 xp.", {"when": when, "then": [XP]})


@pytest.mark.parametrize(("words", "when"), BEFORE, ids=[words for words, _ in BEFORE])
def test_a_before_trigger_reads_and_is_read(words: str, when: Json) -> None:
    both_ways(f"Before {words} → +25 xp.", {"when": when, "stage": "before", "then": [XP]})


@pytest.mark.parametrize(("words", "effect"), EFFECTS, ids=[words for words, _ in EFFECTS])
def test_an_effect_reads_and_is_read(words: str, effect: Json) -> None:
    both_ways(f"When they rest → {words}.", {"when": {"on": "rest"}, "then": [effect]})


def test_the_stat_is_marked_on_roll_cards() -> None:
    data = {"when": {"on": "roll", "outcome": ["failure"]}, "then": [{"kind": "mark"}]}
    both_ways("When a roll fails → the stat is marked to improve.", data)


@pytest.mark.parametrize(("words", "effect"), ROLL_CHANGES, ids=[words for words, _ in ROLL_CHANGES])
def test_a_change_of_a_roll_reads_and_is_read(words: str, effect: Json) -> None:
    both_ways(f"Before any roll → {words}.", {"when": {"on": "roll"}, "stage": "before", "then": [effect]})


@pytest.mark.parametrize(("words", "effect"), DAMAGE_CHANGES, ids=[words for words, _ in DAMAGE_CHANGES])
def test_a_change_of_a_blow_reads_and_is_read(words: str, effect: Json) -> None:
    data = {"when": {"on": "damage", "dir": "taken"}, "stage": "before", "then": [effect]}
    both_ways(f"Before damage is taken → {words}.", data)


@pytest.mark.parametrize(("words", "formula"), CONDITIONS, ids=[words for words, _ in CONDITIONS])
def test_a_condition_reads_and_is_read(words: str, formula: str) -> None:
    both_ways(f"When they rest ({words}) → +25 xp.", {"when": {"on": "rest"}, "if": formula, "then": [XP]})


@pytest.mark.parametrize(("words", "formula"), NIGHT_CONDITIONS, ids=[words for words, _ in NIGHT_CONDITIONS])
def test_a_condition_on_dice_reads_and_is_read(words: str, formula: str) -> None:
    data = {"when": {"on": "roll", "check": "test"}, "if": formula, "then": [XP]}
    both_ways(f"When a Test lands ({words}) → +25 xp.", data, NIGHT)


def test_it_is_the_amount_on_damage_cards_and_a_formula_elsewhere() -> None:
    data = {"when": {"on": "damage", "dir": "taken"}, "if": "@event.amount >= 8", "then": [XP]}
    both_ways("When they take damage (when it is at least 8) → +25 xp.", data)
    with pytest.raises(Wrong, match="of damage"):
        parse("When they rest (when it is at least 8) → +25 xp.", CLASSIC)


@pytest.mark.parametrize("sentence", SPECIFIED)
def test_the_specification_s_sentences_are_read_and_said_again(sentence: str) -> None:
    data = parse(sentence, CLASSIC)
    assert refused(data) == {}
    assert said(data) == sentence


def test_the_ten_pairs() -> None:
    path = handed() / "scenarios" / "rulecards-sentences.json"
    if not path.is_file():
        reason = "the specification's pairs are not beside this checkout"
        (pytest.fail if os.environ.get("WEIGHBRIDGE_REQUIRE_VECTORS") else pytest.skip)(reason)
    found = json.loads(path.read_text("utf-8"))
    assert len(found["pairs"]) == 10
    assert (PLUGIN / "examples" / "sentences.json").read_bytes() == path.read_bytes()
    for pair in found["pairs"]:
        both_ways(pair["sentence"], pair["card"], NIGHT if pair.get("system") == "night-pool" else CLASSIC)


LENIENT = [
    "When they rest -> Hit points -2",
    "When  they   rest →  Hit points −2 .",
    "When they rest → Hit points -2.",
]


@pytest.mark.parametrize("sentence", LENIENT)
def test_arrows_minuses_spaces_and_full_stops_may_be_plain(sentence: str) -> None:
    data = parse(sentence.replace(" .", "."), CLASSIC)
    assert said(data) == "When they rest → Hit points −2."


def test_straight_quotes_are_quotes() -> None:
    assert parse('When they rest -> "All is still"', CLASSIC)["then"] == [
        {"kind": "tell", "text": "All is still"}
    ]


def test_formulas_in_sentences_come_out_canonical() -> None:
    data = parse("When they rest ((@level>=2)  or((@nerve<3))) → Hit points +((@level)*2).", CLASSIC)
    assert data["if"] == "@level >= 2 or @nerve < 3"
    assert data["then"][0]["amount"] == "@level * 2"


MISSPELT: list[tuple[str, str]] = [
    ("When the Renwon clock fills → +25 xp.", "nearest is Renown"),
    ("When a Savng throw fails → +25 xp.", "Saving throw"),
    ("When a roll is a critcal → +25 xp.", "is a critical"),
    ("When an Attack is a critcal → +25 xp.", "is a critical"),
    ("When a roll lands on Sucess → +25 xp.", "Success"),
    ("When Hit point run out → +25 xp.", "Hit points"),
    ("When the shp's Hull runs out → +25 xp.", "ship"),
    ("When they enter the Sunken Chapl → +25 xp.", "the Sunken Chapel"),
    ("When they enter a setlement → +25 xp.", "settlement"),
    ("When they first meet Odlie → +25 xp.", "Odile"),
    ("When they gain Moonsilver Blad → +25 xp.", "Moonsilver Blade"),
    ("When they defeat Bridge rader → +25 xp.", "Bridge raider"),
    ("When they deal damage of at least ten → +25 xp.", "no number"),
    ("When they rset → +25 xp.", "did you mean they rest"),
    ("When a quest is finishd → +25 xp.", "did you mean a quest is finished"),
    ("Before any Atack → advantage.", "Attack"),
    ("Before any roll in the Witchwod → advantage.", "the Witchwood"),
    ("Before they rest → +25 xp.", "no card stands before"),
    ("When they rest (while Blesed) → +25 xp.", "Blessed"),
    ("When they rest (unless Stabl) → +25 xp.", "Stable"),
    ("When they rest (while Nevre is below 2) → +25 xp.", "Nerve"),
    ("When a roll lands (when the Mian die shows 6) → +25 xp.", "Main"),
    ("When they rest → Inspirtion +1.", "Inspiration"),
    ("When they rest → Dooom +1.", "Doom"),
    ("When they rest → Blesed.", "Blessed"),
    ("When they rest → tick Renwn 1.", "Renown"),
    ("When they rest → roll a Deth save.", "Death save"),
    ("When they rest → lose Dyng.", "Dying"),
    ("When they rest → Hit points +(@level /).", "is expected"),
    ("They rest → +25 xp.", "begins with When"),
    ("When they rest, +25 xp.", "arrow"),
    ("When they rest (while Blessed → +25 xp.", "brackets"),
]


@pytest.mark.parametrize(("sentence", "hint"), MISSPELT, ids=[sentence for sentence, _ in MISSPELT])
def test_a_misspelt_sentence_is_refused_with_what_it_may_have_meant(sentence: str, hint: str) -> None:
    with pytest.raises(Wrong) as wrong:
        parse(sentence, CLASSIC)
    assert hint in wrong.value.says


@pytest.mark.parametrize(
    "ask",
    ["the Renwon clock fills", "they rest", "they enter the dark", "Hope runs out", "any luck", "they rets"],
)
def test_a_question_to_the_storyteller_is_no_misspelt_trigger(ask: str) -> None:
    assert list(refused({"when": {"on": "story", "ask": ask}, "then": [XP]})) == ["$.when.ask"]


def test_a_sentence_and_its_data_are_one_in_a_system_of_any_names() -> None:
    system: Any = {
        "base": "classic-d20",
        "places": [{"id": "a_place", "name": "the inn in the dark"}],
        "checks": [
            {
                "id": "leap",
                "name": "Leap in",
                "dice": [{"group": "Main", "n": "1", "sides": 6}],
                "read": "keep",
                "bands": [{"id": "done", "name": "Done on time", "outcome": "success"}],
            },
        ],
    }
    forms = forms_of(system)
    for when in (
        {"on": "roll", "check": "leap", "place": "a_place"},
        {"on": "roll", "place": "a_place"},
    ):
        both_ways(
            said({"when": when, "stage": "before", "then": [XP]}, forms),
            {"when": when, "stage": "before", "then": [XP]},
            forms,
        )
    landed = {"when": {"on": "roll", "check": "leap", "band": "done"}, "then": [XP]}
    both_ways("When a Leap in lands on Done on time → +25 xp.", landed, forms)


def test_a_band_s_name_is_that_of_the_check_it_stands_with() -> None:
    dice = [{"group": "Main", "n": "1", "sides": 6}]
    system = {
        "base": "night-pool",
        "checks": [
            {
                "id": "one",
                "name": "Leap",
                "dice": dice,
                "read": "keep",
                "bands": [{"id": "won", "name": "Won", "outcome": "success"}],
            },
            {
                "id": "two",
                "name": "Run",
                "dice": dice,
                "read": "keep",
                "bands": [{"id": "had", "name": "Won", "outcome": "success"}],
            },
        ],
    }
    forms = forms_of(system)
    for check, name, band in (("one", "Leap", "won"), ("two", "Run", "had")):
        data = {"when": {"on": "roll", "check": check, "band": band}, "then": [XP]}
        both_ways(f"When a {name} lands on Won → +25 xp.", data, forms)
    ambiguous = refused({"when": {"on": "roll", "band": "had"}, "then": [XP]}, forms)
    clear = refused({"when": {"on": "roll", "band": "won"}, "then": [XP]}, forms)
    assert sorted([list(ambiguous), list(clear)]) == [[], ["$"]]
