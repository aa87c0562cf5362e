"""Faults that the public threads of this field tell of (G and K), each a test by its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from delvetown_town import (
    PLAYERS,
    PLUGIN,
    SCENARIOS,
    ask,
    cell,
    codes,
    fold,
    fold_file,
    move,
    prompt,
    rolled,
    sheet,
)
from weighbridge.cid import Cid
from weighbridge.contract import Context, Docket, Event, RuleSet, Table
from weighbridge.dice import QUICKNET, Stream, round_after, round_at
from weighbridge.scenario import Result, differences, load, read, run
from weighbridge_delvetown import RULES, Delvetown

NOON = 1_792_324_800 * 1_000_000
"""2026-10-18T12:00:00Z (µs), an instant at which quicknet publishes."""
MANY = {"perDay": {"action": 9, "between": 9}}
MADE = {"made": "https://delve.example/tool"}


def holds(name: str) -> Result:
    """Run a scenario file, which is to come out as it says."""
    scenario = load((SCENARIOS / f"{name}.json").read_bytes())
    result = run(scenario, RULES)
    assert differences(result, scenario.expect) == []
    return result


def test_g01_a_zero_pool_keeps_the_lower_and_shows_both_dice() -> None:
    result = fold([*PLAYERS, prompt(), *rolled("ann", "a1", 5, 2, action="build", trace=MADE)])
    shown = cell(result, "ask/id:a1")
    assert (shown["dice"], shown["kept"], shown["zero"], shown["result"]) == ([5, 2], 2, True, "failed")


def test_g03_a_pool_of_nothing_is_two_dice_and_never_one() -> None:
    harmed = [
        *rolled("ann", "a1", 1, 1, action="mend", trace=_mend("1")),
        move("gm", "k1", "consequence", ask="uri:a1", pick="harm"),
    ]
    result = fold(
        [*PLAYERS, prompt(), *harmed, *rolled("ann", "a2", 6, 3, action="mend", trace=_mend("2"))], MANY
    )
    shown = cell(result, "ask/id:a2")
    assert (shown["pool"], shown["dice"], shown["kept"], shown["result"]) == (0, [6, 3], 3, "failed")


def _mend(name: str) -> dict[str, str]:
    return {"before": f"https://delve.example/{name}/a", "after": f"https://delve.example/{name}/b"}


@pytest.mark.parametrize(("faces", "cost"), [((1, 4), 2), ((6, 6), 0)], ids=["1 and 4", "6 and 6"])
def test_g05_resisting_takes_the_best_die_and_never_refunds(faces: tuple[int, int], cost: int) -> None:
    resists = [
        move("ann", "r1", "between", purpose="resist", ask="uri:a1"),
        {"dice": "r1", "values": list(faces)},
    ]
    result = fold([*PLAYERS, prompt(), *rolled("ann", "a1", 3, 1), *resists])
    assert cell(result, "sheet/@ann")["drift"] == cost
    assert cell(result, "ration/@ann")["between"] == 1


def test_g07_the_pool_shown_is_the_pool_rolled() -> None:
    holds("4-pool-adds-up")


def test_g09_only_the_gms_scars_on_the_sheet_count() -> None:
    scars = [
        move("gm", "k1", "scar", sheet="@ann", text="hums"),
        move("gm", "k2", "scar", sheet="@bob", text="sings"),
        move("cat", "k3", "scar", sheet="@ann", text="limps"),
    ]
    result = fold([*PLAYERS, *scars])
    assert cell(result, "sheet/@ann")["scars"] == ["hums"]
    assert codes(result, "k3") == ["not-gm"]


@pytest.mark.parametrize("size", [4, 6, 8])
@pytest.mark.parametrize("ticks", range(10))
def test_g11_every_tick_of_every_size(size: int, ticks: int) -> None:
    clock = {"name": "Feud", "size": size, "kind": "faction"}
    steps = [*PLAYERS, prompt(clock=clock)]
    for n in range(ticks):
        steps += [
            *rolled("ann", f"a{n}", 1, 1),
            move("gm", f"k{n}", "consequence", ask=f"uri:a{n}", pick="tick"),
        ]
    result = fold(steps, {"perDay": {"action": 20}})
    assert cell(result, "clock/id:p1")["filled"] == min(ticks, size)
    assert [n for n in range(ticks) if codes(result, f"a{n}") == ["clock-full"]] == (
        [size - 1] if ticks >= size else []
    )


def test_g12_a_stated_fill_is_ignored_and_reported() -> None:
    holds("8-stated-fill-is-ignored")


def test_g14_rounds_are_computed_as_drand_computes_them() -> None:
    assert round_at(QUICKNET, NOON) == 33_173_812
    assert round_after(QUICKNET, NOON, 15) == 33_173_818
    assert round_after(QUICKNET, NOON, 3) == 33_173_814


def test_g16_a_beacon_that_does_not_verify_is_no_evidence() -> None:
    holds("4-no-dice-from-another-round")


def test_g17_two_asks_of_one_round_have_dice_of_their_own() -> None:
    cids = [Cid.of(bytes([n])) for n in range(2)]
    asks = [
        Stream(
            b"r" * 32, "at://did:plc:gm/town.delve.root/g", f"at://did:plc:{n}/town.delve.move/a", cid, "ask"
        )
        for n, cid in enumerate(cids)
    ]
    first, second = (stream.roll(64, 6) for stream in asks)
    assert first != second
    assert len({*first}) == 6


def test_g19_a_byte_that_would_favour_a_face_is_thrown_away() -> None:
    stream = Stream(
        b"r" * 32,
        "at://did:plc:gm/town.delve.root/g",
        "at://did:plc:a/town.delve.move/a",
        Cid.of(b"x"),
        "ask",
    )
    data = b"".join(stream.block(c) for c in range(8))
    assert any(byte > 251 for byte in data), "the case is in there"
    assert stream.roll(240, 6) == [1 + byte % 6 for byte in data if byte <= 251][:240]


def test_g20_a_deleted_ask_is_not_rolled_again() -> None:
    holds("1-edited-move-changes-nothing")


def test_g22_the_listing_decides_and_no_author_s_clock() -> None:
    holds("2-first-by-indexed-time")


def test_g24_another_version_than_the_one_cited_is_no_trace() -> None:
    holds("3-other-version-cited")


def test_g26_a_scar_deleted_and_put_back_is_one_scar() -> None:
    holds("5-deleted-scar-still-counts")


def test_g28_a_day_ends_at_midnight_utc_and_nowhere_else() -> None:
    holds("2-game-day-is-a-utc-day")
    holds("2-no-other-time-zone")


def test_g30_position_is_that_of_the_listing() -> None:
    holds("7-position-of-the-listing")


def test_k01_two_games_have_different_dice() -> None:
    uri, cid = "at://did:plc:a/town.delve.move/a", Cid.of(b"the same ask")
    games = [f"at://did:plc:gm/town.delve.root/{name}" for name in ("one", "two")]
    one, other = (Stream(b"r" * 32, game, uri, cid, "ask").roll(32, 6) for game in games)
    assert one != other


class Loud(Delvetown):
    """Emits an event that nobody has declared."""

    name: ClassVar[str] = "delvetown"

    def apply(self, table: Table, docket: Docket, ctx: Context) -> None:
        super().apply(table, docket, ctx)
        if docket.collection == "town.delve.sheet":
            ctx.emit(Event("fanfare", docket.author))


def test_k03_an_event_that_is_not_accepted_is_an_error_that_says_where() -> None:
    rules: RuleSet = Loud()
    document = {
        "ruleset": "delvetown",
        "root": {"gm": "@gm"},
        "steps": [{"at": "2026-10-18T08:00:00Z", **sheet("ann")}],
    }
    result = run(read(json.loads(json.dumps(document))), rules)
    assert "apply emits 'fanfare'" in result.reports["annsheet"]["rule-fault"]
    assert cell(result, "sheet/@ann") is None


def test_k05_the_dice_need_a_round_that_is_not_out_and_the_ask_s_own_identity() -> None:
    for after in range(0, 3_000_000, 250_000):
        listed = NOON + after
        round = round_after(QUICKNET, listed, 15)
        assert (QUICKNET.genesis + (round - 1) * QUICKNET.period) * 1_000_000 > listed + 15_000_000
    ask_twice = [Cid.of(b"draft"), Cid.of(b"as posted")]
    uri, game = "at://did:plc:a/town.delve.move/a", "at://did:plc:gm/town.delve.root/g"
    one, other = (Stream(b"r" * 32, game, uri, cid, "ask").roll(32, 6) for cid in ask_twice)
    assert one != other


def test_k07_a_move_is_judged_by_the_rules_of_its_listing() -> None:
    holds("2-rules-of-the-listing-hold")


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(ask("ann", "a9", target={"place": "ferry"}), id="barred"),
        pytest.param(ask("ann", "a9", action="fetch"), id="over-ration"),
        pytest.param(move("ann", "a9", "advance", buys="dot", action="fetch"), id="not paid"),
        pytest.param(move("ann", "a9", "assist", prompt="uri:p1", for_="@bob"), id="over-ration assist"),
        pytest.param(move("ann", "a9", "between", purpose="resist", ask="uri:a1"), id="bad resist"),
        pytest.param(move("gm", "a9", "consequence", ask="uri:a1", pick="heat"), id="off the list"),
        pytest.param(move("cat", "a9", "answer", ask="uri:a1", how="oppose"), id="no contest"),
        pytest.param(move("cat", "a9", "stance", place="ferry", how="play"), id="no landlord"),
        pytest.param(move("bob", "a9", "claim", xp="lost-roll", post="https://a.example"), id="no lost roll"),
    ],
)
def test_k09_a_refused_move_leaves_nothing_but_its_refusal(refused: dict[str, Any]) -> None:
    rules = {
        "places": [{"name": "ferry", "namer": "@bob"}], "absentLandlord": "barred",
        "advance": {"track": 2, "cost": 1, "buys": ["dot"]},
    }  # fmt: skip
    steps = [*PLAYERS, prompt(), *rolled("ann", "a1", 6, 1)]
    before, after = fold(steps, rules), fold([*steps, refused], rules)
    changed = [key for key, value in after.cells.items() if before.cells.get(key) != value]
    own = after.records.places["a9"].cell.rpartition("/")[2]
    assert set(changed) <= {f"_/report/town.delve.move/{own}", f"ask/{own}"}
    assert codes(after, "a9") != []
    assert after.cells.get(f"ask/{own}", {"status": "refused"}) == {"status": "refused"}


def test_k11_the_command_and_the_library_come_to_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = pytest.importorskip("weighbridge_services.cli", reason="the command line is not installed")
    path = SCENARIOS / "4-pool-adds-up.json"
    with pytest.raises(SystemExit) as end:
        raise SystemExit(cli.main(["foldtest", str(path), "--json"]))
    assert end.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["stateRoot"] == fold_file(path).state_root
    assert PLUGIN.name == "delvetown"
