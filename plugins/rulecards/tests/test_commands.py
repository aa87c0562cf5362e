"""`weighbridge cards`: check, say, parse, graph and try, as a person runs them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cards_table import EXAMPLE, PLUGIN, cards, rules
from weighbridge_rulecards.commands.picture import picture
from weighbridge_rulecards.commands.trying import Trial
from weighbridge_services.cli import main


def write(folder: Path, value: Any) -> str:
    path = folder / "cards.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return str(path)


def test_check_holds_a_file_of_cards_and_one_of_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cards", "check", str(EXAMPLE)]) == 0
    assert main(["cards", "check", str(PLUGIN / "examples" / "sentences.json")]) == 0
    said = capsys.readouterr().out
    assert "holds: 10 cards" in said
    assert "holds: 10 pairs" in said


def test_check_prints_every_problem_with_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"system": "clasic-d20", "cards": [{"id": "a", "name": "A", "when": {"on": "rest"}, "then": []}]}
    assert main(["cards", "check", write(tmp_path, bad)]) == 1
    said = capsys.readouterr().out
    assert "$.system: no shipped system clasic-d20; the nearest is classic-d20" in said
    assert "$.cards[0].then" in said


@pytest.mark.parametrize("system", ["clasic-d20", {"base": "classicd20"}], ids=["a name", "a base"])
def test_cards_of_a_misspelt_system_are_judged_by_the_one_that_was_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], system: Any
) -> None:
    card = {
        "id": "a",
        "name": "A",
        "when": {"on": "clock", "clock": "renwon"},
        "then": [{"kind": "xp", "amount": "1"}],
    }
    fine = {**card, "id": "b", "name": "B", "when": {"on": "clock", "clock": "renown"}}
    assert main(["cards", "check", write(tmp_path, {"system": system, "cards": [card, fine]})]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said][1:] == ["$.cards[0].when.clock"]
    assert "the nearest is classic-d20" in said[0]
    assert "the nearest is renown" in said[1]


def test_check_prints_json_for_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cards", "check", "--json", str(EXAMPLE)]) == 0
    assert json.loads(capsys.readouterr().out) == {"holds": True, "problems": []}
    card = {"id": "a", "name": "A", "when": {"on": "rest"}, "then": [{"kind": "xp", "amount": "1 / 0"}]}
    assert (
        main(["cards", "check", "--json", write(tmp_path, {"system": "classic-d20", "cards": [card]})]) == 1
    )
    said = json.loads(capsys.readouterr().out)
    assert said["holds"] is False
    assert [each["path"] for each in said["problems"]] == ["$.cards[0].then[0].amount"]


def test_check_prints_what_a_pair_says_instead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = {"when": {"on": "rest"}, "then": [{"kind": "xp", "amount": "25"}]}
    pairs = [
        {"sentence": "When they rest → +26 xp.", "card": card},
        {"sentence": "When they rset → +25 xp.", "card": card},
        {"sentence": "When they rest → +25 xp.", "card": {**card, "iff": "x"}},
        {"sentence": "When they rest → +25 xp.", "card": card, "system": "none"},
        {"card": card},
    ]
    assert main(["cards", "check", write(tmp_path, {"system": "classic-d20", "pairs": pairs})]) == 1
    said = capsys.readouterr().out
    assert "$.pairs[0].sentence: the card reads: When they rest → +25 xp." in said
    assert "$.pairs[1].sentence: did you mean they rest?" in said
    assert "$.pairs[2].card.iff" in said
    assert "$.pairs[3].system" in said
    assert "$.pairs[4].sentence: is missing" in said


@pytest.mark.parametrize("text", ["{", "[]", '"x"'])
def test_a_file_that_holds_no_cards_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert main(["cards", "check", write(tmp_path, text)]) == 2
    assert "bad-card-file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"system": "classic-d20", "cards": [{"if": "true", "if": "false"}]}', "'if' stands twice"),
        ("[" * 200_000, "nests too deep"),
    ],
    ids=["a key twice", "too deep"],
)
def test_a_file_that_readers_would_not_read_alike_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    for command in ("check", "say", "graph", "try"):
        assert main(["cards", command, write(tmp_path, text)]) == 2
        assert says in capsys.readouterr().err


def test_a_misspelt_shipped_system_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cards", "parse", "When they rest → +1 xp", "--system", "clasic-d20"]) == 2
    assert "no shipped system clasic-d20; the nearest is classic-d20" in capsys.readouterr().err


def test_say_prints_sentences_and_refuses_bad_cards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cards", "say", str(EXAMPLE)]) == 0
    assert (
        "Blood price: Before any roll (while Blood-sworn) → advantage; Hit points −2.\n"
        in capsys.readouterr().out
    )
    assert main(["cards", "say", str(EXAMPLE), "--json"]) == 0
    said = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert len(said) == 10
    assert said["Blood price"] == {
        "id": "blood_price",
        "name": "Blood price",
        "sentence": "Before any roll (while Blood-sworn) → advantage; Hit points −2.",
    }
    assert main(["cards", "say", write(tmp_path, {"system": "classic-d20", "cards": [{}]})]) == 2
    assert "bad-cards" in capsys.readouterr().err


def test_parse_prints_the_data_of_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cards", "parse", "When they rest -> Hit points -2"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "when": {"on": "rest"},
        "then": [{"kind": "track", "track": "hp", "amount": "-2"}],
    }
    assert main(["cards", "parse", "When a Test lands → Nerve −1.", "--system", "night-pool"]) == 0
    system = {"system": {"base": "classic-d20", "clocks": [{"id": "siege", "name": "Siege"}]}}
    assert main(["cards", "parse", "When they rest → tick Siege 1", "--system", write(tmp_path, system)]) == 0
    capsys.readouterr()
    for sentence in ("When they rset → +1 xp", "When they rest → +0 xp", "nonsense"):
        assert main(["cards", "parse", sentence]) == 2
        assert "bad-sentence" in capsys.readouterr().err
    assert main(["cards", "parse", "When they rest → +1 xp", "--system", write(tmp_path, {"system": 7})]) == 2
    assert "bad-cards" in capsys.readouterr().err


def test_graph_prints_links_circles_and_what_is_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "ABCDE"
    system = {"base": "classic-d20", "clocks": [{"id": f"c{n}", "name": f"Clock {n}"} for n in names.lower()]}
    for each in system["clocks"]:
        each["name"] = f"Clock {each['id'][1].upper()}"  # type: ignore[index]
    sentences = [
        "When they rest → tick Clock A 1.",
        *(f"When the Clock {a} clock fills → tick Clock {b} 1." for a, b in ("AB", "BC", "CD", "DA")),
    ]
    file = {"system": system, "cards": cards(*sentences, system=system)}
    assert main(["cards", "graph", write(tmp_path, file), "--svg", str(tmp_path / "g.svg")]) == 0
    said = capsys.readouterr().out
    assert "    can set off B, by tick Clock A 1" in said
    assert "circle: B, C, D, E" in said
    assert "stopped: A → B → C → D ✗" in said
    svg = (tmp_path / "g.svg").read_text("utf-8")
    assert svg.startswith("<svg xmlns=")
    assert svg.count("<rect") == 5
    assert main(["cards", "graph", str(tmp_path / "cards.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    ids = {each["name"]: each["id"] for each in told["cards"]}
    assert sorted(ids) == list(names)
    assert {"from": ids["A"], "to": ids["B"], "by": "tick Clock A 1"} in told["links"]
    assert told["circles"] == [[ids[name] for name in "BCDE"]]
    assert [ids[name] for name in "ABCD"] in told["stopped"]
    assert told["dice"] == []
    assert "stroke-dasharray" in svg
    assert "#c0392b" in svg


def test_the_picture_shows_each_card_once_in_its_column() -> None:
    svg = picture(rules("When they rest → tick Renown 1.", "When the Renown clock fills → +100 xp."))
    assert [svg.count(f">{name}</text>") for name in ("A", "B", "step 1", "step 2", "step 3")] == [
        1,
        1,
        1,
        1,
        0,
    ]


def trial(*sentences: str) -> Trial:
    return Trial(rules(*sentences))


def test_try_says_what_fires_and_why_the_rest_does_not() -> None:
    tried = trial(
        "When they rest → Blessed.",
        "When they rest (while Prone) → Doom +1.",
        "When a roll is a critical → Inspiration +1.",
    )
    said = tried.run("rest")
    assert "fired, step 1: A: Blessed" in said
    assert "did not fire: B: only while Prone (@cond.prone > 0)" in said
    assert tried.run("why a") == ["it fired"]
    assert tried.run("why b") == ["only while Prone (@cond.prone > 0)"]
    assert tried.run("why c") == [
        "what it watches for did not happen: When a roll is a critical → Inspiration +1."
    ]
    assert "no card" in tried.run("why x")[0]


def test_try_takes_every_kind_of_move() -> None:
    tried = trial(
        "When they keep a promise to a friend → Doom +1.",
        "Before damage of at least 5 is taken → 1 less damage.",
    )
    lines = {
        "enter witchwood": "Ann: place: – → witchwood",
        "enter witchwood ": "is wanted",
        "meet odile": "Ann: met: – → odile",
        "gain ship": "ship n 1",
        "lose ship": "Ann: items",
        "foe ghoul": "hp 22",
        "hit 30": "hp 0",
        "hit x": "no number",
        "blow 3": "did not fire: B: the blow is too small for it",
        "fight start": "nothing happens",
        "fight end": "nothing happens",
        "quest ring step": "nothing happens",
        "quest ring": "quest NAME",
        "act ability_check strength vs 12 advantage dice 3 15": "dice Main 3, 15: 15 = 15: success",
        "act attack": "target",
        "act": "a check is wanted",
        "do Blessed for 3 turns": "blessed level 1, turns 3",
        "do Blesed": "Blessed",
        "turn": "turns 2",
        "story a yes": "fired, step 1: A: Doom +1",
        "story a perhaps": "bad-ruling",
        "story a": "story CARD",
        "improve strength": "bad-move",
        "act death_save spend inspiration dice 12": "not-paid",
        "show": "name: Ann",
        "cards": "a: When they keep",
        "help": "turn",
        "dance": "nothing that can be typed",
        "quest THE step": "$.quest",
        "enter nowhere": "unknown-name",
    }
    for line, expected in lines.items():
        said = tried.run(line)
        if line == "act attack":
            continue
        assert any(expected in each for each in said), (line, said)


def test_try_without_a_foe_or_with_odd_dice() -> None:
    tried = trial()
    assert tried.run("hit 3") == ["there is no foe on the stage; foe FOE puts one there"]
    assert "no number" in tried.run("act death_save dice x")[0]
    assert "kept" not in tried.run("act death_save dice 20")[0]


def test_try_runs_at_a_prompt_until_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("rest\n\nshow\nquit\nrest\n"))
    assert main(["cards", "try", str(EXAMPLE)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("10 cards in Classic d20.")
    assert "name: Ann" in said
