"""Systems, and cards as a list: what is wrong is refused with its path, a misspelt name with the nearest ones."""

from __future__ import annotations

from typing import Any

import pytest
from cards_table import SHIPPED, card, problems_of, system_with

XP = {"kind": "xp", "amount": "1"}
REST = {"on": "rest"}


def track(**fields: Any) -> dict[str, Any]:
    return {"id": "luck", "name": "Luck", "max": 3, "start": 0, **fields}


def check(**fields: Any) -> dict[str, Any]:
    bands = [{"id": "done", "name": "Done", "outcome": "success"}]
    dice = [{"group": "Main", "n": "1", "sides": 6}]
    return {"id": "leap", "name": "Leap", "dice": dice, "read": "keep", "bands": bands, **fields}


SYSTEMS: list[tuple[str, Any, str, str]] = [
    ("shipped-name", "clasic-d20", "$.rules.system", "classic-d20"),
    ("base", {"base": "nite-pool"}, "$.rules.system.base", "night-pool"),
    ("no-system", 7, "$.rules.system", "a map"),
    ("whole", {"id": "x", "name": "X"}, "$.rules.system.damage", "is missing"),
    ("key", system_with(stat=[]), "$.rules.system.stat", "stats"),
    ("entry-field", system_with(tracks=[track(maxx=3)]), "$.rules.system.tracks[5].maxx", "max"),
    (
        "entry-missing",
        system_with(tracks=[{"id": "luck", "name": "Luck"}]),
        "$.rules.system.tracks[5].max",
        "is missing",
    ),
    ("id", system_with(tracks=[track(id="Luck")]), "$.rules.system.tracks[5].id", "begins with a-z"),
    ("reserved", system_with(tracks=[track(id="level")]), "$.rules.system.tracks[5].id", "something else"),
    (
        "twice",
        system_with(clocks=[{"id": "a", "name": "A"}, {"id": "a", "name": "B"}]),
        "$.rules.system.clocks[2].id",
        "already",
    ),
    (
        "name-twice",
        system_with(clocks=[{"id": "a", "name": "Renown"}]),
        "$.rules.system.clocks[1].name",
        "already",
    ),
    (
        "across",
        system_with(pools=[{"id": "a", "name": "Blessed", "max": 2}]),
        "$.rules.system.pools[2].name",
        "tell by name",
    ),
    (
        "name-and",
        system_with(tracks=[track(name="Salt and iron")]),
        "$.rules.system.tracks[5].name",
        "the word and",
    ),
    (
        "name-the",
        system_with(tracks=[track(name="the luck")]),
        "$.rules.system.tracks[5].name",
        "begin with the",
    ),
    (
        "name-number",
        system_with(tracks=[track(name="Luck 2")]),
        "$.rules.system.tracks[5].name",
        "end in a number",
    ),
    ("name-sign", system_with(tracks=[track(name="Luck+")]), "$.rules.system.tracks[5].name", "none of"),
    (
        "name-control",
        system_with(tracks=[track(name="Lu\u0085ck")]),
        "$.rules.system.tracks[5].name",
        "none of",
    ),
    ("name-long", system_with(tracks=[track(name="L" * 49)]), "$.rules.system.tracks[5].name", "48"),
    (
        "name-spaces",
        system_with(tracks=[track(name="Good  luck")]),
        "$.rules.system.tracks[5].name",
        "single spaces",
    ),
    ("start", system_with(tracks=[track(start=4)]), "$.rules.system.tracks[5].start", "from 0 to 3"),
    ("sheet", system_with(tracks=[track(sheet=[3, 1])]), "$.rules.system.tracks[5].sheet", "least"),
    ("spend", system_with(tracks=[track(spend="all")]), "$.rules.system.tracks[5].spend", "advantage"),
    (
        "stat",
        system_with(stats=[{"id": "a", "name": "A", "from": 3, "to": 1}]),
        "$.rules.system.stats[6]",
        "at most",
    ),
    (
        "big",
        system_with(foes=[{"id": "a", "name": "Ab", "hp": 10**9 + 1}]),
        "$.rules.system.foes[2].hp",
        "from 1",
    ),
    (
        "item-track",
        system_with(items=[{"id": "cart", "name": "cart", "tracks": ["hul"]}]),
        "$.rules.system.items[2].tracks[0]",
        "hull",
    ),
    ("damage", system_with(damage="hpp"), "$.rules.system.damage", "hp"),
    ("damage-of-item", system_with(damage="hull"), "$.rules.system.damage", "no track hull"),
    (
        "rest-kind",
        system_with(rest=[{"kind": "tell", "text": "Rest"}]),
        "$.rules.system.rest[0].kind",
        "does not stand",
    ),
    (
        "rest-roll",
        system_with(rest=[{"kind": "roll", "check": "death_save"}]),
        "$.rules.system.rest[0].kind",
        "does not stand",
    ),
    (
        "rest-name",
        system_with(rest=[{"kind": "track", "track": "hpp", "amount": "1"}]),
        "$.rules.system.rest[0].track",
        "hp",
    ),
    ("levels-first", system_with(levels=[5, 10]), "$.rules.system.levels[0]", "takes 0"),
    ("levels-order", system_with(levels=[0, 10, 10]), "$.rules.system.levels[2]", "more xp"),
    ("improve", system_with(improve={"side": 6}), "$.rules.system.improve.side", "sides"),
    ("check-read", system_with(checks=[check(read="sum")]), "$.rules.system.checks[4].read", "keep"),
    ("check-hit", system_with(checks=[check(read="hits")]), "$.rules.system.checks[4].hit", "is missing"),
    ("check-no-hit", system_with(checks=[check(hit=5)]), "$.rules.system.checks[4].hit", "only where hits"),
    (
        "check-target",
        system_with(checks=[check(target="gven")]),
        "$.rules.system.checks[4].target",
        "whole number",
    ),
    (
        "dice-group",
        system_with(checks=[check(dice=[{"group": "main", "n": "1", "sides": 6}])]),
        "$.rules.system.checks[4].dice[0].group",
        "A-Z",
    ),
    (
        "dice-n",
        system_with(checks=[check(dice=[{"group": "Main", "n": "@luk", "sides": 6}])]),
        "$.rules.system.checks[4].dice[0].n",
        "no name @luk",
    ),
    (
        "dice-sides",
        system_with(checks=[check(dice=[{"group": "Main", "n": "1", "sides": 1}])]),
        "$.rules.system.checks[4].dice[0].sides",
        "from 2",
    ),
    ("no-dice", system_with(checks=[check(dice=[])]), "$.rules.system.checks[4].dice", "1 to"),
    (
        "bands-last",
        system_with(
            checks=[check(bands=[{"id": "a", "name": "A", "outcome": "success", "if": "@level > 1"}])]
        ),
        "$.rules.system.checks[4].bands[0].if",
        "the last band has none",
    ),
    (
        "bands-first",
        system_with(
            checks=[
                check(
                    bands=[
                        {"id": "b", "name": "B", "outcome": "success"},
                        {"id": "c", "name": "C", "outcome": "failure"},
                    ]
                )
            ]
        ),
        "$.rules.system.checks[4].bands[0].if",
        "is missing",
    ),
    (
        "band-name",
        system_with(checks=[check(bands=[{"id": "success", "name": "Done", "outcome": "success"}])]),
        "$.rules.system.checks",
        "elsewhere",
    ),
    (
        "band-roll",
        system_with(
            checks=[
                check(
                    bands=[
                        {
                            "id": "done",
                            "name": "Done",
                            "outcome": "success",
                            "then": [{"kind": "roll", "check": "death_save"}],
                        }
                    ]
                )
            ]
        ),
        "$.rules.system.checks[4].bands[0].then[0].kind",
        "does not stand",
    ),
    (
        "many",
        system_with(clocks=[{"id": f"c{n}", "name": f"C{n}"} for n in range(201)]),
        "$.rules.system.clocks",
        "0 to 200",
    ),
    ("list", system_with(clocks={"id": "a"}), "$.rules.system.clocks", "a list"),
]


@pytest.mark.parametrize(
    ("system", "path", "says"), [each[1:] for each in SYSTEMS], ids=[each[0] for each in SYSTEMS]
)
def test_what_is_wrong_with_a_system_is_said_with_its_path(system: Any, path: str, says: str) -> None:
    found = problems_of(system)
    assert path in found
    assert says in found[path]


def test_every_problem_is_said_at_once() -> None:
    broken = [
        {"id": "A", "name": "", "when": REST, "then": [XP]},
        {"id": "b", "name": "B", "when": {"on": "x"}, "then": []},
    ]
    assert sorted(problems_of(system_with(damage="x", levels=[1]), broken)) == [
        "$.rules.cards[0].id",
        "$.rules.cards[0].name",
        "$.rules.cards[1].when.on",
        "$.rules.system.damage",
        "$.rules.system.levels[0]",
    ]


def test_two_cards_of_one_id_and_too_many_cards_are_refused() -> None:
    same = card("When they rest → +1 xp.")
    assert problems_of(cards=[same, same]) == {"$.rules.cards[1].id": "card stands at [0] already"}
    many = [{**same, "id": f"c{n}"} for n in range(501)]
    assert problems_of(cards=many) == {"$.rules.cards": "a list of 0 to 500 entries is wanted here"}
    assert problems_of(cards=many[:500]) == {}


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_the_shipped_systems_are_well_formed(name: str) -> None:
    assert problems_of(name) == {}
    assert problems_of(SHIPPED[name]) == {}
    assert problems_of({"base": name}) == {}


def test_with_a_base_an_entry_replaces_its_like_and_other_keys_replace_whole() -> None:
    from cards_table import forms_of  # noqa: PLC0415

    system = forms_of(
        system_with(
            pools=[{"id": "doom", "name": "Dread", "max": 9}, {"id": "hope", "name": "Hope", "max": 1}],
            levels=[0],
            id="own",
        )
    )
    assert [(pool.id, pool.name, pool.max) for pool in system.system.pools.values()] == [
        ("doom", "Dread", 9),
        ("fear", "Fear", 12),
        ("hope", "Hope", 1),
    ]
    assert (system.system.levels, system.system.id, len(system.system.checks)) == ((0,), "own", 4)


def test_a_card_whose_sentence_would_read_as_another_is_refused() -> None:
    conditions = [{"id": "sly", "name": "3 less damage"}]
    data = {
        "id": "odd",
        "name": "Odd",
        "when": {"on": "damage", "dir": "taken"},
        "stage": "before",
        "then": [{"kind": "condition", "condition": "sly"}],
    }
    assert (
        "reads as another card" in problems_of(system_with(conditions=conditions), [data])["$.rules.cards[0]"]
    )
