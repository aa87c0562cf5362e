from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from weighbridge.codec import encode
from weighbridge.log.entries import Listed, make_entry
from weighbridge.logfile import log_to_car, log_to_jsonl
from weighbridge.scenario import Listing, Records, load
from weighbridge_services.cli import main
from weighbridge_services.installed import ruleset_named

ROOT = {"gm": "@gm", "rules": {"gate": 1}, "fold": {"name": "delvetown"}}
DOTS = {"fetch": 2, "reckon": 2, "mend": 2, "vouch": 1}
SHEET = {"name": "Ann", "look": "grey", "drive": "go on", "dots": DOTS, "abilities": ["Hears \x1b[2Jall."]}
SCENARIO: dict[str, Any] = {
    "ruleset": "delvetown",
    "root": ROOT,
    "steps": [
        {"at": "2026-10-18T08:00:00Z", "by": "@ann", "put": "sheet", "as": "annsheet", "value": SHEET},
        {"at": "2026-10-18T09:00:00.5Z", "by": "@bob", "put": "sheet", "value": {"name": 7}},
        {"at": "2026-10-18T12:00:00Z", "tick": True},
    ],
    "expect": {"cells": {"sheet/@ann": {"drift": 0}}},
}


def entries() -> list[Listed]:
    scenario = load(json.dumps(SCENARIO))
    ruleset = ruleset_named("delvetown")
    return list(Listing(scenario, Records(scenario, ruleset.root, list(ruleset.collections))).entries())


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    return path


@pytest.fixture(params=["car", "jsonl"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    listed = entries()
    path = tmp_path / f"log.{request.param}"
    pieces = log_to_car(listed, listed[-1].cid) if request.param == "car" else log_to_jsonl(listed)
    path.write_bytes(b"".join(pieces))
    return path


class Ran:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.code = main([str(each) for each in arguments])
        self.out, self.err = capsys.readouterr()

    def json(self) -> Any:
        return json.loads(self.out)


# --- foldtest ----------------------------------------------------------------------------------------------


def test_a_scenario_that_holds_exits_0(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "foldtest", scenario)
    assert ran.code == 0
    assert ran.out.startswith("holds: 3 steps")


def test_a_scenario_that_does_not_hold_says_where_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO | {"expect": {"cells": {"sheet/@ann": {"drift": 3}}}}))
    ran = Ran(capsys, "foldtest", path)
    assert ran.code == 1
    assert "drift: expected 3, found 0" in ran.out
    told = Ran(capsys, "foldtest", path, "--json")
    assert told.code == 1
    assert told.json()["holds"] is False
    assert [(each["expected"], each["found"]) for each in told.json()["differences"]] == [(3, 0)]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        pytest.param("{", "scenario-wrong", "$ is not JSON", id="no JSON"),
        pytest.param(json.dumps(SCENARIO | {"stpes": []}), "scenario-wrong", "$.stpes", id="an unknown key"),
        pytest.param(
            json.dumps(SCENARIO | {"ruleset": "chess"}),
            "plugin-unknown",
            "chess",
            id="a rule set that is not here",
        ),
    ],
)
def test_a_wrong_scenario_says_where_and_exits_2(
    text: str, code: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(text)
    ran = Ran(capsys, "foldtest", path)
    assert ran.code == 2
    assert ran.err.startswith(f"weighbridge: {code}: ")
    assert says in ran.err


def test_a_trace_has_a_line_for_each_step(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.jsonl"
    assert Ran(capsys, "foldtest", scenario, "--trace", trace).code == 0
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert set(lines[0]) == {"step", "seq", "entry", "delta", "stateRoot", "reports", "questions"}


@pytest.mark.parametrize(
    "command", [["foldtest"], ["fold"], ["log", "show"], ["log", "verify"]], ids=" ".join
)
@pytest.mark.parametrize(
    ("name", "code"), [("missing", "no-such-file"), (".", "not-a-file"), ("file/below", "not-a-file")]
)
def test_a_file_that_cannot_be_read_is_one_line(
    command: list[str], name: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    ran = Ran(capsys, *command, tmp_path / name)
    assert ran.code == 2
    assert ran.err.startswith(f"weighbridge: {code}: {tmp_path / name} ")
    assert ran.err.count("\n") == 1


# --- log ---------------------------------------------------------------------------------------------------


def test_a_log_is_shown_line_by_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "log", "show", log)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert len(lines) == 4
    assert lines[2].split()[:3] == ["2", "2026-10-18T09:00:00.500000Z", "create"]
    assert Ran(capsys, "log", "show", log, "--from", 1, "--count", 2).out.splitlines() == lines[1:3]


def test_a_log_is_shown_with_the_grade_of_each_entry(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Ran(capsys, "log", "show", log).out.splitlines()
    ran = Ran(capsys, "log", "show", log, "--grades")
    grades = [
        "lister-says",
        "lister-says",
        "lister-says",
        "-",
    ]  # a scenario's people have no key that could prove it
    assert ran.out.splitlines() == [f"{g:14} {line}" for g, line in zip(grades, lines, strict=True)]
    shorter = Ran(capsys, "log", "show", log, "--grades", "--from", 1, "--count", 2)
    assert shorter.out.splitlines() == ran.out.splitlines()[1:3]


def test_a_log_that_lists_beyond_the_calendar_is_shown_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "late.jsonl"
    late = make_entry(None, game=entries()[0].entry.game, at=2**63 - 1, op="tick")
    path.write_bytes(b"".join(log_to_jsonl([late])))
    assert Ran(capsys, "log", "show", path).out.split() == ["0", "9223372036854", "s", "tick"]
    assert Ran(capsys, "log", "verify", path).code == 0


def test_a_log_shown_as_json_is_the_log_as_jsonl(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "log", "show", log, "--json")
    assert ran.out.encode() == b"".join(log_to_jsonl(entries()))


def test_a_verified_log_has_a_size_and_a_root(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Ran(capsys, "log", "verify", log, "--json").json()
    assert found["holds"] is True
    assert found["size"] == 4
    assert found["game"] == entries()[0].entry.game
    assert Ran(capsys, "log", "verify", log, "--root", found["root"]).code == 0
    assert Ran(capsys, "log", "verify", log, "--root", "00" * 32).code == 1


def test_a_log_with_a_swapped_pair_is_refused_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = entries()
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_to_jsonl([listed[0], listed[2], listed[1], listed[3]])))
    for command in (["log", "verify"], ["log", "show"], ["fold"]):
        ran = Ran(capsys, *command, path)
        assert ran.code == 2
        assert ran.err.startswith(f"weighbridge: log-gap: {path}: ")


def test_a_file_that_is_no_log_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.car"
    path.write_bytes(b"\xff" * 100)
    assert Ran(capsys, "log", "verify", path).code == 2


# --- fold --------------------------------------------------------------------------------------------------


def test_a_log_folds_to_table_transcript_and_reports(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "fold", log)
    assert ran.code == 0
    assert "report    bad-shape: " in ran.out
    assert "of 4 leaves" in ran.out
    assert "\x1b" not in ran.out


def test_a_fold_as_json_has_what_operators_compare(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = Ran(capsys, "fold", log, "--json").json()
    assert found["entries"] == found["transcript"]["size"] == 4
    assert found["transcript"]["origin"].startswith(f"{found['game']}/delvetown@")
    assert len(found["transcript"]["root"]) == 64
    assert [list(codes) for codes in found["reports"].values()] == [["bad-shape"]]
    assert "cells" not in found
    cells = Ran(capsys, "fold", log, "--json", "--cells").json()["cells"]
    assert any(key.startswith("sheet/") for key in cells)


def test_a_log_of_a_root_without_a_rule_set_needs_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = entries()[0]
    record = encode({"gm": first.entry.author})
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_to_jsonl([anew(first, record)])))
    assert Ran(capsys, "fold", path).err.startswith("weighbridge: no-rule-set: ")
    assert Ran(capsys, "fold", path, "--ruleset", "delvetown").code == 0


def anew(listed: Listed, record: bytes) -> Listed:
    entry = listed.entry
    return make_entry(
        None, game=entry.game, at=entry.at, op="create", uri=entry.uri, author=entry.author, record=record
    )


def test_a_log_with_no_entry_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "log.car"
    path.write_bytes(b"".join(log_to_car([], None)))
    assert Ran(capsys, "fold", path).err.startswith("weighbridge: empty-log: ")


def test_a_log_whose_root_names_another_pin_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = entries()[0]
    for wanted in (str(first.cid), "latest"):
        record = encode({"gm": first.entry.author, "fold": {"name": "delvetown", "pin": wanted}})
        path = tmp_path / "log.jsonl"
        path.write_bytes(b"".join(log_to_jsonl([anew(first, record)])))
        ran = Ran(capsys, "fold", path)
        assert ran.code == 2
        assert ran.err.startswith("weighbridge: pin-mismatch: ")


# --- plugin ------------------------------------------------------------------------------------------------


def test_the_plugins_installed_here_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "weighbridge-delvetown 0.1.0" in Ran(capsys, "plugin", "list").out
    found = Ran(capsys, "plugin", "list", "--json").json()
    (delvetown,) = [
        each for each in found if each["name"] == "delvetown" and each["group"] == "weighbridge.rulesets"
    ]
    assert delvetown["usable"] is True


def test_the_pin_of_a_rule_set_is_what_a_fold_says(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pin = Ran(capsys, "plugin", "pin", "delvetown").out.strip()
    told = Ran(capsys, "plugin", "pin", "delvetown", "--json").json()
    assert told["pin"] == pin
    assert "__init__.py" in told["files"]
    origin = Ran(capsys, "fold", log, "--json").json()["transcript"]["origin"]
    assert origin.rpartition("@")[2].startswith(pin)


def test_the_pin_of_what_is_not_here_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "plugin", "pin", "chess")
    assert ran.code == 2
    assert ran.err.startswith("weighbridge: plugin-unknown: ")
