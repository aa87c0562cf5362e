"""Strategies for whole systems with names of any sort, and for well-formed cards over them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from weighbridge_rulecards.names import OUTCOMES, RESERVED, name_fault, text_fault

Json = dict[str, Any]
LETTERS = "abdehinotuAEO'in-.éß木0 5!?“x"
WORDS = (
    "Hit",
    "points",
    "in",
    "on",
    "of",
    "at",
    "least",
    "xp",
    "to",
    "the",
    "roll",
    "turns",
    "clock",
    "fills",
    "less",
    "damage",
    "more",
    "run",
    "out",
    "half",
    "below",
    "they",
    "rest",
    "ship's",
    "No",
    "x1",
    "on",
    "die",
    "level",
    "item",
    "2nd",
)


def names(*, with_the: bool = False) -> st.SearchStrategy[str]:
    plain = st.text(LETTERS, min_size=1, max_size=12)
    made = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
    return st.one_of(made, made, plain).filter(lambda name: not name_fault(name, with_the=with_the))


def texts() -> st.SearchStrategy[str]:
    plain = st.text(LETTERS + '".,:->@+−', min_size=1, max_size=30)
    made = st.lists(st.sampled_from((*WORDS, "keep", "when", "while")), min_size=2, max_size=6).map(" ".join)
    return st.one_of(plain, made).filter(lambda text: not text_fault(text))


@st.composite
def systems(draw: st.DrawFn) -> Json:
    """A whole system of one to three entries a list."""

    def several(least: int = 1, most: int = 3, *, the: bool = False) -> list[tuple[str, str]]:
        found = draw(st.lists(names(with_the=the), min_size=least, max_size=most, unique=True))
        return [(f"e{at}", name) for at, name in enumerate(found)]

    apart = draw(st.lists(names(), min_size=7, max_size=7, unique=True))
    tracks: list[Json] = [
        {"id": f"t{at}", "name": name, "max": 9, "start": "max", "plural": draw(st.booleans())}
        for at, name in enumerate(apart[:3])
    ]
    assert not {each["id"] for each in tracks} & set(RESERVED)
    bands = [
        {"id": "won", "name": "Won", "outcome": "success", "if": "@event.total > 2"},
        {"id": "lost", "name": "Lost it", "outcome": "failure"},
    ]
    dice = [{"group": "Main", "n": "1", "sides": 6}, {"group": "Other", "n": "@t0", "sides": 4}]
    return {
        "id": "made",
        "name": "Made",
        "damage": "t0",
        "stats": [{"id": "might", "name": "Might", "from": 0, "to": 3}],
        "tracks": tracks,
        "conditions": [{"id": "c0", "name": apart[3]}, {"id": "c1", "name": apart[4], "levels": 3}],
        "pools": [{"id": "p0", "name": apart[5], "max": 6}],
        "clocks": [{"id": each, "name": name} for each, name in several()],
        "items": [
            {"id": each, "name": name, "tracks": ["t2"] if each == "e0" else []} for each, name in several()
        ],
        "places": [{"id": each, "name": name, "kind": draw(names())} for each, name in several(the=True)],
        "people": [{"id": each, "name": name, "kind": draw(names())} for each, name in several(the=True)],
        "foes": [{"id": each, "name": name, "hp": 5} for each, name in several()],
        "checks": [
            {"id": each, "name": name, "dice": dice, "read": "keep", "bands": bands}
            for each, name in several()
        ],
        "levels": [0, 10],
    }


def _one(system: Json, entries: str) -> st.SearchStrategy[str]:
    return st.sampled_from([each["id"] for each in system[entries]])


AMOUNTS = st.one_of(
    st.integers(1, 99).map(str),
    st.integers(1, 99).map(lambda n: f"-{n}"),
    st.sampled_from(["@level / 2", "@t0.max - 3", "max(@t1, 2)"]),
)
FORMULAS = [
    "@cond.c0 > 0",
    "@cond.c1 == 0",
    "@t0 < 2",
    "@t1 >= 3",
    "@cond.c0 > 0 and @t0 >= 3",
    "@t0 < 2 and @cond.c1 == 0 and @t1 < 1",
    "@level > 1 or @cond.c0 > 0",
    "not @t0 > 1",
    "@pool.p0 >= 2",
    "@cond.c1 >= 2",
    "@t0 < -1",
]


def triggers(system: Json, *, before: bool) -> st.SearchStrategy[Json]:
    place = st.fixed_dictionaries({}, optional={"place": _one(system, "places")})
    check = st.fixed_dictionaries({}, optional={"check": _one(system, "checks")})
    directions = st.sampled_from(["dealt", "taken"])
    least = st.fixed_dictionaries(
        {"on": st.just("damage"), "dir": directions}, optional={"min": st.integers(1, 99)}
    )
    if before:
        rolls = st.tuples(check, place).map(lambda each: {"on": "roll", **each[0], **each[1]})
        return st.one_of(rolls, st.tuples(least, place).map(lambda each: {**each[0], **each[1]}))
    outcomes = st.sets(st.sampled_from(OUTCOMES), min_size=1).map(
        lambda some: {"outcome": [each for each in OUTCOMES if each in some]}
    )
    landed = st.one_of(
        st.just({}), outcomes, st.sampled_from(["won", "lost"]).map(lambda band: {"band": band})
    )
    crossing = st.one_of(
        st.sampled_from(["out", "full", "half"]).map(lambda cross: {"cross": cross}),
        st.integers(0, 9).map(lambda at: {"cross": "reach", "at": at}),
    )
    whose = st.one_of(
        st.sampled_from(["t0", "t1"]).map(lambda track: {"track": track}),
        st.just({"track": "t2", "of": "e0"}),
    )
    kinds = {entries: sorted({each["kind"] for each in system[entries]}) for entries in ("places", "people")}
    return st.one_of(
        st.tuples(check, landed).map(lambda each: {"on": "roll", **each[0], **each[1]}),
        st.tuples(whose, crossing).map(lambda each: {"on": "track", **each[0], **each[1]}),
        least,
        st.sampled_from(["rest", "level", "turn", "clock", "defeat"]).map(lambda on: {"on": on}),
        st.sampled_from(
            [{"on": "fight", "is": "start"}, {"on": "quest", "is": "finish"}, {"on": "item", "is": "lose"}]
        ),
        _one(system, "clocks").map(lambda clock: {"on": "clock", "clock": clock}),
        _one(system, "foes").map(lambda foe: {"on": "defeat", "foe": foe}),
        _one(system, "items").map(lambda item: {"on": "item", "is": "gain", "item": item}),
        _one(system, "places").map(lambda each: {"on": "place", "place": each}),
        st.sampled_from(kinds["places"]).map(lambda kind: {"on": "place", "kind": kind}),
        _one(system, "people").map(lambda each: {"on": "meet", "person": each}),
        st.sampled_from(kinds["people"]).map(lambda kind: {"on": "meet", "kind": kind}),
        texts().map(lambda ask: {"on": "story", "ask": ask}),
    )


def effects(system: Json, when: Json, *, before: bool) -> st.SearchStrategy[Json]:
    track = st.sampled_from([{"track": "t0"}, {"track": "t1"}, {"track": "t2", "of": "e0"}])
    how = st.sampled_from([{}, {"op": "set"}, {"part": "max"}, {"part": "max", "op": "set"}])
    turns = st.sampled_from([{}, {"turns": 1}, {"turns": 4}])
    size = st.sampled_from([{}, {"size": 6}])
    ticks = st.one_of(st.integers(1, 9).map(str), st.just("@level"))
    common = [
        st.tuples(track, how, AMOUNTS).map(lambda e: {"kind": "track", **e[0], **e[1], "amount": e[2]}),
        turns.map(lambda each: {"kind": "condition", "condition": "c0", **each}),
        st.tuples(st.integers(1, 3), turns).map(
            lambda e: {"kind": "condition", "condition": "c1", "level": e[0], **e[1]}
        ),
        st.sampled_from([("c0", "lose"), ("c1", "rise"), ("c1", "fall")]).map(
            lambda e: {"kind": "condition", "condition": e[0], "op": e[1]}
        ),
        st.tuples(_one(system, "clocks"), ticks, size).map(
            lambda e: {"kind": "clock", "clock": e[0], "amount": e[1], **e[2]}
        ),
        AMOUNTS.map(lambda amount: {"kind": "xp", "amount": amount}),
        AMOUNTS.map(lambda amount: {"kind": "pool", "pool": "p0", "amount": amount}),
        texts().map(lambda text: {"kind": "tell", "text": text}),
    ]
    if not before:
        common.append(_one(system, "checks").map(lambda check: {"kind": "roll", "check": check}))
        return st.one_of(*common, st.just({"kind": "mark"})) if when["on"] == "roll" else st.one_of(common)
    common += [
        AMOUNTS.map(lambda amount: {"kind": "modify", "amount": amount}),
        texts().map(lambda text: {"kind": "block", "text": text}),
    ]
    if when["on"] == "roll":
        common.append(
            st.sampled_from(["advantage", "disadvantage"]).map(lambda edge: {"kind": "modify", "edge": edge})
        )
    return st.one_of(common)


@st.composite
def cards(draw: st.DrawFn, system: Json) -> Json:
    """What a sentence carries, well-formed but for names and texts that sentences cannot tell apart."""
    before = draw(st.integers(0, 3)) == 0
    when = draw(triggers(system, before=before))
    card: Json = {"when": when}
    if before:
        card["stage"] = "before"
    if draw(st.booleans()):
        extra = (
            ["@event.amount >= 8", "@event.amount >= 8 and @cond.c0 > 0"] if when["on"] == "damage" else []
        )
        extra += (
            ["@group.Main.high == 6", "@group.Other.ones > 0 and @t0 < 2"]
            if when["on"] == "roll" and not before
            else []
        )
        card["if"] = draw(st.sampled_from([*FORMULAS, *extra]))
    card["then"] = draw(st.lists(effects(system, when, before=before), min_size=1, max_size=4))
    return card
