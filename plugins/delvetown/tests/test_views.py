"""What a person sees, and what attachments hear and do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from delvetown_town import PLAYERS, fold, move, prompt, rolled
from weighbridge.contract import Attachment, Card, Clock, Context, Effect, Event, Grid, Table, View
from weighbridge.fold import Fold
from weighbridge.scenario import Listing, Records, read, run
from weighbridge_delvetown import RULES


def seen(steps: list[dict[str, Any]], rules: dict[str, Any] | None = None, **root: Any) -> View:
    told = [{"at": f"2026-10-18T08:{n:02}:00Z", **step} for n, step in enumerate(steps)]
    document = {"ruleset": "delvetown", "root": {"gm": "@gm", "rules": rules or {}, **root}, "steps": told}
    scenario = read(json.loads(json.dumps(document)))
    records = Records(scenario, RULES.root, list(RULES.collections))
    folded = Fold(records.game, RULES, scenario=True)
    for listed in Listing(scenario, records).entries():
        folded.fold(listed)
    return RULES.view(folded.table)


def test_a_view_shows_crews_clocks_places_sheets_and_rolls() -> None:
    clock = {"name": "Ferry feud", "size": 6, "kind": "faction"}
    rules = {"places": [{"name": "ferry", "namer": "@ann", "title": "The old ferry"}]}
    crew = {"by": "@ann", "put": "crew", "as": "lamps", "value": {"name": "Lamps", "sheets": ["@ann"]}}
    steps = [
        *PLAYERS,
        crew,
        move("ann", "j", "join", crew="uri:lamps"),
        move("ann", "s", "stance", place="ferry", how="play"),
    ]
    view = seen([*steps, prompt(clock=clock), *rolled("ann", "a1", 6, 6)], rules)
    grids = {block.columns[0]: block.rows for block in view.blocks if isinstance(block, Grid)}
    assert ("Lamps", "ann", "1", "0") in grids["Crew"]
    assert grids["Place"] == (("The old ferry", "ann", "play", "Lamps"),)
    assert grids["Who"] == (("ann", "fetch", "open", "great", "6 6", "6", "crit"),)
    assert [block.name for block in view.blocks if isinstance(block, Clock)] == ["Ferry feud"]
    assert sorted(block.title for block in view.blocks if isinstance(block, Card)) == ["ann", "bob", "cat"]


def test_a_view_of_a_game_without_a_root_says_so() -> None:
    assert len(seen([PLAYERS[0]], {"gate": "three"}).blocks) == 1


class Cards(Attachment):
    """Answers each event with effects the test names."""

    name: ClassVar[str] = "cards"
    version: ClassVar[str] = "1"
    heard: ClassVar[list[tuple[str, Mapping[str, Any]]]] = []
    answers: ClassVar[dict[str, list[dict[str, Any]]]] = {}

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        self.heard.append((event.name, event.fields))
        return [
            Effect(each["kind"], event.about, each["fields"]) for each in self.answers.get(event.name, [])
        ]


def attached(
    answers: dict[str, list[dict[str, Any]]], steps: list[dict[str, Any]], rules: dict[str, Any]
) -> Any:
    Cards.heard.clear()
    Cards.answers = answers
    told = [{"at": f"2026-10-18T08:{n:02}:00Z", **step} for n, step in enumerate(steps)]
    root = {"gm": "@gm", "rules": rules, "fold": {"with": [{"name": "cards"}]}}
    scenario = read(json.loads(json.dumps({"ruleset": "delvetown", "root": root, "steps": told})))
    return run(scenario, RULES, attachments={"cards": Cards()})


def test_attachments_hear_of_rolls_heat_full_clocks_and_lost_threads() -> None:
    clock = {"name": "Feud", "size": 1, "kind": "faction"}
    rules = {"clocks": [1], "tracks": {"drift": 2}, "places": [{"name": "ferry", "namer": "@cat"}]}
    steps = [*PLAYERS, move("cat", "s", "stance", place="ferry", how="refuse"), prompt(clock=clock)]
    steps += rolled("ann", "a1", 1, 1, 2, push=True, target={"place": "ferry"})
    attached({}, [*steps, move("gm", "k", "consequence", ask="uri:a1", pick="harm+tick")], rules)
    assert Cards.heard == [
        ("heat", {"amount": 1}), ("roll", {"kept": 2}), ("lost-thread", {}), ("clock-full", {"clock": "Feud"}),
    ]  # fmt: skip


def test_the_effects_of_attachments_move_tracks_clocks_and_reports() -> None:
    clock = {"name": "Feud", "size": 4, "kind": "faction"}
    answers = {
        "roll": [
            {"kind": "track", "fields": {"track": "drift", "amount": 3}},
            {"kind": "track", "fields": {"track": "drift", "amount": -1}},
            {"kind": "track", "fields": {"track": "heat", "amount": 2}},
            {"kind": "clock", "fields": {"clock": "Feud", "amount": 3}},
            {"kind": "report", "fields": {"text": "The bell tolls."}},
        ]
    }
    result = attached(answers, [*PLAYERS, prompt(clock=clock), *rolled("ann", "a1", 6, 1)], {})
    at = result.records.key
    assert result.cells[at("sheet/@ann")]["drift"] == 2
    assert result.cells[at("crew/@ann")]["heat"] == 2
    assert result.cells[at("clock/id:p1")]["filled"] == 3
    assert result.reports["annsheet"] == {"note": "The bell tolls."}


def test_without_attachments_the_same_game_is_the_same() -> None:
    steps = [*PLAYERS, prompt(), *rolled("ann", "a1", 6, 1)]
    assert fold(steps).state_root == fold(steps).state_root


def test_an_ask_says_why_it_stands_where_it_stands() -> None:
    rules = {
        "places": [{"name": "mill", "namer": "@cat"}],
        "amounts": {"heatWorse": 1},
        "perDay": {"action": 2},
    }
    steps = [*PLAYERS, move("cat", "s", "stance", place="mill", how="refuse"), prompt()]
    steps += [*rolled("ann", "a1", 6, 1, target={"place": "mill"}), *rolled("ann", "a2", 6, 1)]
    result = fold(steps, rules)
    why = [result.cells[result.records.key(f"act/id:{name}")]["why"] for name in ("a1", "a2")]
    assert why == [
        ["exposed: the landlord refuses the crew"],
        ["open: no target", "one step worse: heat 1"],
    ]
