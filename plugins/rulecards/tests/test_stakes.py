"""A void may take dice away and never adds any: what a refold would roll anew is overtaken."""

from __future__ import annotations

from typing import Any

from cards_table import ann, blow, cards, cell, codes, dice, gm, grant, hp, play, sheet, track


def strike(subject: str, name: str = "x") -> Any:
    return gm(name, "strike", subject=f"uri:{subject}", why="It never was.")


def later(step: Any) -> Any:
    """A step listed well after the round of the one before it was public."""
    return [{"tick": True}, {"tick": True}, step]


def test_a_second_die_that_only_the_refold_would_draw_is_not_drawn() -> None:
    attack = gm("a", "act", for_="@ann", check="attack", target=5, edge="advantage")
    steps = [sheet(), grant("g", "Poisoned"), attack, dice("a", 9, 19)]
    assert cell(play(steps), "roll/id:a")["dice"] == {"Main": [9]}
    after = play([*steps, later(strike("g"))])
    assert codes(after, "a") == ["overtaken"]
    assert (cell(after, "roll/id:a")["dice"], cell(after, "roll/id:a")["kept"]) == ({"Main": [9]}, 9)


def test_a_die_may_be_taken_away() -> None:
    attack = gm("a", "act", for_="@ann", check="attack", target=5)
    steps = [sheet(), grant("g", "Poisoned"), attack, dice("a", 19, 9)]
    assert cell(play(steps), "roll/id:a")["kept"] == 9
    after = play([*steps, later(strike("g"))])
    assert (cell(after, "roll/id:a")["dice"], codes(after, "a")) == ({"Main": [19]}, [])


def test_a_roll_that_was_blocked_is_not_made_after_all() -> None:
    found = cards("Before any roll in the Temple of Quiet → blocked: Not here.")
    steps = [
        sheet(),
        ann("e", "enter", place="temple_of_quiet"),
        gm("a", "act", for_="@ann", check="attack", target=5),
        dice("a", 20),
    ]
    after = play([*steps, later(strike("e"))], found)
    assert codes(after, "a") == ["overtaken"]
    assert (cell(after, "roll/id:a")["status"], cell(after, "roll/id:a")["reason"]) == (
        "blocked",
        "overtaken",
    )


def test_an_act_that_was_refused_is_not_rolled_after_all() -> None:
    steps = [
        sheet(),
        gm("k", "call", for_="@ann", check="attack", target=5),
        ann("a1", "act", call="uri:k"),
        dice("a1", 9),
        ann("a2", "act", call="uri:k"),
        dice("a2", 20),
    ]
    after = play([*steps, later(strike("a1"))])
    assert (codes(after, "a1"), codes(after, "a2")) == (["struck"], ["overtaken"])
    assert cell(after, "roll/id:a2")["status"] == "blocked"


def test_a_card_s_roll_keeps_its_number_when_another_before_it_goes() -> None:
    found = cards(
        "When they rest (while Prone) → roll a Death save.",
        "When they rest → roll a Death save.",
    )
    steps = [sheet(), grant("g", "Prone"), ann("r", "rest"), dice("r", 9, 20)]
    before = play(steps, found)
    assert [cell(before, f"roll/id:r/{n}")["card"] for n in (1, 2)] == ["a", "b"]
    after = play([*steps, later(strike("g"))], found)
    assert cell(after, "roll/id:r/1") is None
    assert cell(after, "roll/id:r/2")["card"] == "b"
    assert codes(after, "r") == []


def test_a_strike_of_a_strike_gives_back_what_it_took() -> None:
    steps = [hp(10, 10), blow("b", 3), strike("b", "x1"), strike("x1", "x2")]
    after = play(steps)
    assert track(after, "hp") == 7
    assert codes(after, "b") == []
    assert codes(after, "x1") == ["struck"]
