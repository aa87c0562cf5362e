"""Root `clock: pds` (§10): the commit's time decides the game day and the window, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from delvetown_town import PLAYERS, Step, ask, codes_of, prompt, reseated
from weighbridge.fold import Fold
from weighbridge.log.entries import Listed
from weighbridge.scenario import Listing, Records, read
from weighbridge_delvetown import RULES

LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
PDS = {"clock": {"kind": "pds", "skewSeconds": 300}}
SECOND = 1_000_000


def rev(at: int) -> str:
    """The TID of a time."""
    number = at << 10
    return "".join(LETTERS[number >> shift & 31] for shift in range(60, -1, -5))


def folded(
    steps: list[Step], rules: dict[str, Any], dated: Callable[[Listed], int | None]
) -> tuple[Fold, Records]:
    """Fold steps, each entry proven by a commit of the time that `dated` gives it."""
    document = {"ruleset": "delvetown", "root": {"gm": "@gm", "rules": rules}, "steps": steps}
    scenario = read(json.loads(json.dumps(document)))
    records = Records(scenario, RULES.root, list(RULES.collections))
    fold, previous = Fold(records.game, RULES, scenario=True), None
    for listed in Listing(scenario, records).entries():
        at = dated(listed)
        previous = reseated(listed, previous, prov={"rev": rev(at)} if at is not None else listed.entry.prov)
        fold.fold(previous)
    return fold, records


def over_midnight(name: str = "a1") -> list[Step]:
    """Ann's asks: one at noon, one listed ten seconds after midnight."""
    noon = {**ask("ann", "a0"), "at": "2026-10-18T12:00:00Z"}
    late = {**ask("ann", name), "at": "2026-10-19T00:00:10Z"}
    opening = [{**step, "at": "2026-10-18T08:00:00Z"} for step in [*PLAYERS, prompt(last="2026-10-19")]]
    return [*opening, noon, {"at": "2026-10-19T00:00:00Z", "tick": True}, late]


def early(seconds: int) -> Callable[[Listed], int | None]:
    return lambda listed: listed.entry.at - seconds * SECOND if listed.entry.uri else None


def test_by_the_listing_an_ask_after_midnight_is_of_the_next_day() -> None:
    fold, records = folded(over_midnight(), {}, early(20))
    assert codes_of(fold, records, "a1") == []


def test_by_the_commit_it_is_of_the_day_before_and_over_its_ration() -> None:
    fold, records = folded(over_midnight(), PDS, early(20))
    assert codes_of(fold, records, "a1") == ["over-ration"]


def test_a_commit_too_far_from_the_listing_is_clock_skew_and_the_listing_decides() -> None:
    fold, records = folded(over_midnight(), PDS, early(301))
    assert codes_of(fold, records, "a1") == ["clock-skew"]
    fold, records = folded(over_midnight(), {"clock": {"kind": "pds", "skewSeconds": 5}}, early(6))
    assert codes_of(fold, records, "a1") == ["clock-skew"]


def test_exactly_the_skew_is_within_it() -> None:
    fold, records = folded(over_midnight(), PDS, early(300))
    assert codes_of(fold, records, "a1") == ["over-ration"]


def test_without_a_commit_the_listing_decides() -> None:
    fold, records = folded(over_midnight(), PDS, lambda listed: None)
    assert codes_of(fold, records, "a1") == []


def test_a_window_that_closed_at_midnight_takes_an_ask_committed_before_it() -> None:
    steps = over_midnight()
    steps[3]["value"]["to"] = "2026-10-18"
    steps = [step for step in steps if step.get("as") != "a0"]
    fold, records = folded(steps, PDS, early(20))
    assert codes_of(fold, records, "a1") == []
    ration = fold.table[records.key("ration/@ann")]
    assert ration == {"day": "2026-10-18", "action": 1, "between": 0}
    fold, records = folded(steps, {}, early(20))
    assert codes_of(fold, records, "a1") == ["outside-window"]


def test_a_use_of_a_day_that_ended_is_remembered_beside_the_new_days() -> None:
    steps = [step for step in over_midnight() if step.get("as") != "a0"]
    steps[-1:-1] = [{**ask("ann", "a2"), "at": "2026-10-19T00:00:05Z"}]
    steps.append({**ask("ann", "a3"), "at": "2026-10-19T00:00:15Z"})

    def dated(listed: Listed) -> int | None:
        # a2 is of the 19th; a1 and a3, listed after it, were committed on the 18th.
        is_late = str(listed.entry.uri).endswith(("/a1", "/a3"))
        return listed.entry.at - (20 if is_late else 0) * SECOND if listed.entry.uri else None

    fold, records = folded(steps, PDS, dated)
    assert [codes_of(fold, records, name) for name in ("a2", "a1", "a3")] == [[], [], ["over-ration"]]
    assert fold.table[records.key("ration/@ann")] == {"day": "2026-10-19", "action": 1, "between": 0}
