"""Cards attached to a game that Gangs of Delvetown owns, through root `fold.with`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cards_table import PLUGIN, Json, codes
from weighbridge.plugins import Plugins
from weighbridge.scenario import Result, differences, load, read, run
from weighbridge_delvetown import RULES as DELVETOWN
from weighbridge_rulecards import RULES, parse, render
from weighbridge_rulecards.attached import read_attached
from weighbridge_rulecards.formula_reading import Wrong

DOTS = {"fetch": 2, "reckon": 2, "audit": 1, "mend": 1, "vouch": 1}
VOCABULARY = DELVETOWN.vocabulary()
FORMS = read_attached(VOCABULARY, {"cards": []})[0].forms


def card(card_id: str, sentence: str) -> Json:
    return {"id": card_id, "name": card_id.capitalize(), **parse(sentence, FORMS)}


def town(cards: list[Json], *faces: list[int], settings: Json | None = None) -> Result:
    """Fold a town with cards attached: an ask a day, with the faces it rolls."""
    value: Json = {"name": "Ann", "look": "grey coat", "drive": "finish it", "dots": DOTS, "abilities": []}
    fold: Json = {"with": {"name": "rulecards", "cards": "cid:set1"} if settings is None else settings}
    steps: list[Json] = [
        {"at": "2026-10-18T08:00:00Z", "by": "@ann", "put": "sheet", "as": "annsheet", "value": value},
        {"at": "2026-10-18T08:01:00Z", "by": "@gm", "put": "set", "as": "set1", "value": {"cards": cards}},
        {
            "at": "2026-10-18T08:02:00Z",
            "by": "@gm",
            "put": "move",
            "as": "p1",
            "value": {
                "kind": "prompt",
                "from": "2026-10-18",
                "to": "2026-10-30",
                "clock": {"name": "The bridge", "size": 4, "kind": "faction"},
            },
        },
        {
            "at": "2026-10-18T08:03:00Z",
            "by": "@gm",
            "update": "root",
            "value": {"gm": "@gm", "rules": {"gate": 1}, "fold": fold},
        },
    ]
    for n, rolled in enumerate(faces):
        day, name = f"2026-10-{18 + n}", f"a{n}"
        trace = {"url": f"https://delve.example/{name}", "quote": "the ferry runs at dawn"}
        ask = {"kind": "ask", "action": "fetch", "prompt": "uri:p1", "trace": trace}
        steps += [
            {"at": f"{day}T12:00:00Z", "by": "@ann", "put": "move", "as": name, "value": ask},
            {"at": f"{day}T12:00:04Z", "trace": name, "verdict": "ok"},
            {"at": f"{day}T12:00:19Z", "dice": name, "values": rolled},
        ]
    document = {"ruleset": "delvetown", "root": {"gm": "@gm", "rules": {"gate": 1}}, "steps": steps}
    return run(read(json.loads(json.dumps(document))), DELVETOWN, attachments={"rulecards": RULES})


def sheet(result: Result) -> Json:
    found: Json = result.cells[result.records.key("sheet/@ann")]
    return found


def notes(result: Result) -> str:
    return str(result.reports.get("annsheet", {}).get("note", ""))


def test_the_example_holds() -> None:
    scenario = load((PLUGIN / "examples" / "attached-to-delvetown.json").read_bytes())
    result = run(scenario, DELVETOWN, attachments={"rulecards": RULES})
    assert list(differences(result, scenario.expect)) == []


def test_the_attachment_is_found_by_its_name() -> None:
    plugins = Plugins({"weighbridge.rulesets": ["rulecards"]})
    assert plugins.attachment("rulecards") is plugins.ruleset("rulecards")


def test_cards_answer_the_owner_s_events_with_effects_that_the_owner_applies() -> None:
    cards = [
        card(
            "low",
            "When an ask is rolled (@event.kept <= 3) → Drift +(4 - @event.kept); report: The town has noticed.",
        ),
        card("high", "When an ask is rolled (@event.kept == 6) → tick The bridge 1."),
    ]
    result = town(cards, [2, 3], [6, 1])
    assert (sheet(result)["drift"], notes(result)) == (1, "The town has noticed")
    assert result.cells[result.records.key("clock/id:p1")]["filled"] == 1
    lower = town(
        [
            card("low", "When an ask is rolled → Drift set to (@event.kept)."),
            card("heat", "When an ask is rolled → Heat set to 5."),
        ],
        [2, 2],
        [1, 1],
    )
    assert sheet(lower)["drift"] == 1
    assert [cell["heat"] for key, cell in lower.cells.items() if key.startswith("crew/")] == [5]


def test_what_the_owner_s_effects_raise_comes_back_as_events_one_step_on() -> None:
    cards = [
        card("tick", "When an ask is rolled → tick The bridge 4."),
        card("full", "When a town clock is full → Drift +9."),
        card("lost", "When a thread is lost → report: A thread is lost."),
    ]
    result = town(cards, [6, 6])
    assert (notes(result), codes(result, "a0")) == ("A thread is lost", [])


def test_a_fourth_step_is_stopped_and_named_on_the_record() -> None:
    # Each effect raises one event more: roll, heat, heat of the second card, and so on.
    cards = [
        card("one", "When an ask is rolled → Heat +1."),
        card("two", "When heat is taken → Heat +1; tick The bridge 4."),
        card("three", "When a town clock is full → Drift +9."),
        card("four", "When a thread is lost → report: Too far."),
    ]
    result = town(cards, [1, 1])
    assert codes(result, "a0") == ["chain-stopped"]
    assert result.reports["a0"]["chain-stopped"].endswith("these would have been next: Four.")
    assert notes(result) == ""


def test_a_card_fires_once_a_moment_for_one_character() -> None:
    result = town(
        [card("more", "When heat is taken → Heat +1."), card("start", "When an ask is rolled → Heat +1.")],
        [1, 1],
    )
    (crew,) = [cell for key, cell in result.cells.items() if key.startswith("crew/")]
    assert crew["heat"] == 2


REFUSED: list[tuple[str, Any, str]] = [
    ("event", {"when": {"on": "event", "event": "heta"}, "then": [{"kind": "report", "text": "x"}]}, "heat"),
    ("trigger", {"when": {"on": "rest"}, "then": [{"kind": "report", "text": "x"}]}, "no trigger rest"),
    (
        "effect",
        {"when": {"on": "event", "event": "heat"}, "then": [{"kind": "xp", "amount": "1"}]},
        "does not stand here",
    ),
    (
        "track",
        {
            "when": {"on": "event", "event": "heat"},
            "then": [{"kind": "track", "track": "drfit", "amount": "1"}],
        },
        "drift",
    ),
    (
        "field",
        {
            "when": {"on": "event", "event": "heat"},
            "if": "@event.kept > 1",
            "then": [{"kind": "report", "text": "x"}],
        },
        "@event.amount",
    ),
    (
        "size",
        {
            "when": {"on": "event", "event": "heat"},
            "then": [{"kind": "clock", "clock": "The bridge", "amount": "1", "size": 4}],
        },
        "no field size",
    ),
    (
        "before",
        {
            "when": {"on": "event", "event": "heat"},
            "stage": "before",
            "then": [{"kind": "report", "text": "x"}],
        },
        "no trigger event",
    ),
]


@pytest.mark.parametrize(("data", "says"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_cards_are_checked_against_the_owner_s_system_and_a_misfit_makes_a_bad_root(
    data: Json, says: str
) -> None:
    result = town([{"id": "odd", "name": "Odd", **data}], [1, 1])
    assert codes(result, "root") == ["bad-root"]
    assert says in result.reports["root"]["bad-root"]
    assert sheet(result)["drift"] == 0


def test_the_settings_name_a_set_and_nothing_else() -> None:
    for settings in ({"name": "rulecards"}, {"name": "rulecards", "cards": "cid:set1", "deck": 1}):
        assert codes(town([], [1, 1], settings=settings), "root") == ["bad-root"]
    assert codes(town([], [1, 1], settings={"name": "rulecards", "cards": "cid:annsheet"}), "root") == [
        "bad-root"
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "When a thread is lost → report: The town has noticed.",
        "When heat is taken (@event.amount >= 2) → Drift +(@event.amount / 2).",
        "When a town clock is full → Heat −1; tick The old mill 2.",
        "When an ask is rolled (@event.kept == 1) → Drift set to 3.",
    ],
)
def test_attached_cards_have_sentences_of_the_owner_s_words(sentence: str) -> None:
    assert render(parse(sentence, FORMS), FORMS) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "When heat is taekn → Drift +1.",
        "When they rest → Drift +1.",
        "When heat is taken → Drfit +1.",
        "Each turn → Drift +1.",
    ],
)
def test_a_misspelt_sentence_of_an_attached_card_is_refused(sentence: str) -> None:
    with pytest.raises(Wrong):
        parse(sentence, FORMS)
