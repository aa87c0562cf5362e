"""parse(render(card)) == card, over systems of any names and cards of every form."""

from __future__ import annotations

from typing import Any

from cards_table import CLASSIC, NIGHT, forms_of
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from systems import cards, systems
from weighbridge_rulecards import parse, read_system, render
from weighbridge_rulecards.card_reading import CardReader
from weighbridge_rulecards.forms import Forms
from weighbridge_rulecards.formula_reading import Wrong
from weighbridge_rulecards.random_cards import random_cards
from weighbridge_rulecards.reader import Reader
from weighbridge_rulecards.shipped import SHIPPED

SLOW = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def read(data: Any, forms: Forms) -> tuple[Any, list[str]]:
    reader = Reader()
    card = CardReader(reader, forms.system, forms).read_data(data, "$")
    return card, [each.says for each in reader.problems]


@SLOW
@given(st.data())
def test_a_card_s_sentence_says_that_card(data: st.DataObject) -> None:
    system = data.draw(systems())
    forms = forms_of(system)
    drawn = data.draw(cards(system))
    card, problems = read(drawn, forms)
    if card is None:
        # Only what no sentence can tell apart may be refused: a story that reads as a trigger, names that run together.
        assert all(
            "reads as another" in each or "read back" in each or drawn["when"]["on"] == "story"
            for each in problems
        )
        event("refused")
        return
    event(f"on {drawn['when']['on']}")
    assert card.data == drawn
    assert parse(render(card.data, forms), forms) == card.data


def test_hardly_any_card_is_refused_for_the_names_it_holds() -> None:
    counts = {"read": 0, "refused": 0}

    @SLOW
    @given(st.data())
    def run(data: st.DataObject) -> None:
        system = data.draw(systems())
        drawn = data.draw(cards(system))
        assume(drawn["when"]["on"] != "story")
        counts["read" if read(drawn, forms_of(system))[0] is not None else "refused"] += 1

    run()
    assert counts["refused"] * 5 < counts["read"]


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(SHIPPED)))
def test_random_cards_of_the_shipped_systems_are_all_well_formed(random: Any, name: str) -> None:
    forms = CLASSIC if name == "classic-d20" else NIGHT
    for made in random_cards(random, SHIPPED[name], 5):
        data = {key: value for key, value in made.items() if key not in ("id", "name", "note")}
        card, problems = read(data, forms)
        assert problems == []
        assert parse(render(card.data, forms), forms) == card.data


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_a_card_or_refused(text: str) -> None:
    for sentence in (
        text,
        f"When {text} → {text}.",
        f"When they rest ({text}) → {text}",
        f"Before {text} -> advantage",
    ):
        try:
            data = parse(sentence, CLASSIC)
        except Wrong:
            continue
        assert set(data) >= {"when", "then"}


@settings(max_examples=40, deadline=None)
@given(systems())
def test_generated_systems_are_well_formed(system: Any) -> None:
    assert read_system(system)[1] == ()
