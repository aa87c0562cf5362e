"""`weighbridge delvetown`: sheets checked and written, moves tried, the credit given."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from delvetown_town import DOTS, SCENARIOS, cell, codes, fold, fold_file, sheet
from weighbridge_delvetown import CREDIT
from weighbridge_delvetown.options import Options
from weighbridge_delvetown.results import chances
from weighbridge_delvetown.tools import check_sheet

cli = pytest.importorskip("weighbridge_services.cli", reason="the command line is not installed")
reading = pytest.importorskip("weighbridge_delvetown_tools.reading", reason="the commands are not installed")
writing = pytest.importorskip("weighbridge_delvetown_tools.writing", reason="the commands are not installed")

SHEET = {
    "name": "Ann",
    "look": "grey coat",
    "drive": "finish it",
    "dots": DOTS,
    "abilities": ["Hears doors."],
}
FLAGS = ["--name", "Ann", "--look", "grey", "--drive", "win"]


class Ran:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.code = cli.main(["delvetown", *(str(each) for each in arguments)])
        self.out, self.err = capsys.readouterr()

    def json(self) -> Any:
        return json.loads(self.out)


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "sheet.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


# --- sheet check -------------------------------------------------------------------------------------------


def test_a_well_formed_sheet_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "sheet", "check", written(tmp_path, SHEET))
    assert (ran.code, ran.out) == (0, "well-formed\n")


BAD: list[Any] = [
    pytest.param({"dots": {**DOTS, "fetch": 2.0}}, ["$.dots.fetch"], id="2.0 dots"),
    pytest.param({"dots": 7.0}, ["$.dots"], id="7.0 for dots"),
    pytest.param({"dots": {"fetch": "7"}}, ["$.dots.fetch"], id="7 in quotes"),
    pytest.param({"dots": "7"}, ["$.dots"], id="7 in quotes for dots"),
    pytest.param({"dots": {**DOTS, "fetch": -2}}, ["$.dots.fetch"], id="negative dots"),
    pytest.param({"dots": {**DOTS, "burgle": 1}}, ["$.dots.burgle"], id="an action that does not exist"),
    pytest.param({"dots": {"fetch": 2}}, ["$.dots"], id="two dots in all"),
    pytest.param({"abilities": ["a" * 301]}, ["$.abilities[0]"], id="301 characters"),
    pytest.param({"abilities": ["e\u0301" * 151]}, ["$.abilities[0]"], id="151 letters of two code points"),
    pytest.param({"abilities": ["a", "b"]}, ["$.abilities"], id="two abilities"),
    pytest.param({"name": 7, "dots": {"fetch": 9}}, ["$.name", "$.dots.fetch"], id="several of both kinds"),
    pytest.param(
        {"abilities": ["a", 7, "a" * 301]}, ["$.abilities", "$.abilities[1]", "$.abilities[2]"],
        id="three abilities, one of them a number, one too long",
    ),
    pytest.param(
        {"look": "\ud800", "dots": {"fetch": 9}}, ["$.look", "$.dots.fetch"], id="half a surrogate pair, and more"
    ),
    pytest.param({"luck": 1.5}, ["$.luck"], id="a fraction in a field that nobody knows"),
    pytest.param({"luck": 2**80}, ["$"], id="a number past 64 bits"),
    pytest.param({"luck": {"$link": "x"}}, ["$"], id="a link that is none"),
    pytest.param({"look": "a" * 300_000}, ["$.look"], id="a look of 300,000 letters"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "paths"), BAD)
def test_what_is_wrong_with_a_sheet_is_said_with_its_path(
    fields: dict[str, Any], paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "sheet", "check", written(tmp_path, {**SHEET, **fields}), "--json")
    assert ran.code == 1
    assert sorted(each["path"] for each in ran.json()["problems"]) == sorted(paths)
    assert ran.json()["wellFormed"] is False


SEEN = [each for each in BAD if not {"luck", "look"} & each.values[0].keys() and ".0" not in str(each.id)]
"""Those that a record can hold, so that a fold can see them."""


@pytest.mark.parametrize("fields", [each.values[0] for each in SEEN], ids=[str(each.id) for each in SEEN])
def test_the_fold_pins_no_sheet_that_the_command_refuses(fields: dict[str, Any]) -> None:
    result = fold([sheet("ann", **fields)])
    assert cell(result, "sheet/@ann") is None
    assert codes(result, "annsheet") in (["bad-sheet"], ["bad-shape"])


@pytest.mark.parametrize("value", [None, 7, "a sheet", [], {}, True, [SHEET]], ids=str)
def test_what_is_no_sheet_at_all_is_said_too(
    value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Ran(capsys, "sheet", "check", written(tmp_path, json.dumps(value))).code == 1


def test_three_hundred_letters_of_one_code_point_will_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("\U0001f3b2" * 300, "e\u0301" * 150):
        assert Ran(capsys, "sheet", "check", written(tmp_path, {**SHEET, "abilities": [text]})).code == 0


def test_unknown_fields_are_named_and_no_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {**SHEET, "luck": 7})
    ran = Ran(capsys, "sheet", "check", path)
    assert ran.code == 0
    assert "$.luck: a field that nobody knows" in ran.out
    assert Ran(capsys, "sheet", "check", path, "--json").json() == {
        "wellFormed": True, "problems": [], "unknown": ["$.luck"],
    }  # fmt: skip


def test_a_key_that_stands_twice_is_a_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(SHEET).replace('"name"', '"name": "Bob", "name"')
    ran = Ran(capsys, "sheet", "check", written(tmp_path, text))
    assert ran.code == 1
    assert "$.name: stands there twice" in ran.out


@pytest.mark.parametrize(
    "text", ["", "{", "\x00", "[" * 5_000], ids=["empty", "cut off", "no text", "too deep"]
)
def test_a_file_that_holds_no_json_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "sheet", "check", written(tmp_path, text))
    assert (ran.code, ran.err.split(": ")[1]) == (2, "no-sheet-file")


def test_a_sheet_is_checked_by_the_rules_of_its_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root.json"
    root.write_text(json.dumps({"gm": "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm", "rules": {"dots": 9}}))
    path = written(tmp_path, SHEET)
    ran = Ran(capsys, "sheet", "check", path, "--root", root)
    assert (ran.code, ran.out.splitlines()[0]) == (1, "$.dots: 9 dots in all, and these are 7")


GM = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm"


@pytest.mark.parametrize(
    ("bad", "paths"),
    [
        pytest.param([], ["a root is an object"], id="a list"),
        pytest.param(SHEET, ["$.gm: "], id="a sheet"),
        pytest.param({"rules": {"dots": 9}}, ["$.gm: "], id="nobody is GM"),
        pytest.param({"gm": "ann.example", "lister": "x", "rules": {"gate": "three"}},
                     ["$.gm: ", "$.lister: ", "$.rules.gate: "], id="several reasons"),
        pytest.param({"gm": GM, "$type": "town.delve.sheet"}, ["$.$type: "], id="another record"),
        pytest.param({"gm": GM, "rules": {"dots": 9.5}}, ["$.rules.dots: "], id="a number no record holds"),
        pytest.param(f'{{"gm": "{GM}", "rules": {{"dots": 9, "dots": 8}}}}', ["$.rules.dots: "], id="a rule twice"),
        pytest.param({"root": {"rules": {"dots": 9}}}, ["$.gm: "], id="a scenario's without a GM"),
    ],
)  # fmt: skip
def test_what_is_no_root_is_refused_for_every_reason(
    bad: Any, paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root.json"
    root.write_text(bad if isinstance(bad, str) else json.dumps(bad))
    ran = Ran(capsys, "sheet", "check", written(tmp_path, SHEET), "--root", root)
    assert (ran.code, ran.out, ran.err.split(": ")[1]) == (2, "", "bad-rules")
    assert [path for path in paths if path not in ran.err] == []


def test_a_scenario_s_root_will_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps({"root": {"gm": "@gm", "rules": {"dots": 9}}}))
    ran = Ran(capsys, "sheet", "check", written(tmp_path, SHEET), "--root", scenario)
    assert (ran.code, ran.out.splitlines()[0]) == (1, "$.dots: 9 dots in all, and these are 7")


# --- sheet new ---------------------------------------------------------------------------------------------


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No terminal to ask at."""
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


@pytest.mark.usefixtures("nobody")
def test_a_sheet_is_written_from_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.json"
    dots = "fetch 2, reckon=2, audit:1,mend 1,vouch 1"
    assert Ran(capsys, "sheet", "new", *FLAGS, "--dots", dots, "--ability", "Sings.", "--out", path).code == 0
    assert check_sheet(json.loads(path.read_text())).problems == ()
    assert json.loads(path.read_text())["dots"] == DOTS
    again = Ran(capsys, "sheet", "new", *FLAGS, "--dots", dots, "--out", path)
    assert (again.code, again.err.split(": ")[1]) == (2, "file-exists")


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    ("flags", "says"),
    [
        pytest.param(["--dots", "fetch 7"], "$.dots.fetch: a whole number from 0 to 2", id="seven in one"),
        pytest.param(["--dots", "fetch 7.0"], "says no dots", id="7.0"),
        pytest.param(["--dots", "fetch two"], "says no dots", id="in words"),
        pytest.param(["--dots", "fetch 1, fetch 1"], "named twice", id="one action twice"),
        pytest.param(["--dots", "fetch -1"], "$.dots.fetch", id="negative"),
        pytest.param(["--dots", "burgle 2"], "$.dots.burgle: no action of this game", id="no action"),
        pytest.param([], "--dots is missing", id="a flag too few"),
        pytest.param(
            ["--dots", "fetch 2, mend 2, keep 2, sway 1", "--ability", "a" * 301],
            "$.abilities[0]",
            id="301 letters",
        ),
        pytest.param(
            ["--dots", "fetch 2, mend 2, keep 2, sway 1", "--operator", "ann"],
            "$.operator",
            id="an operator by name",
        ),
    ],
)
def test_answers_that_make_no_sheet_are_refused_with_the_reason(
    flags: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "sheet", "new", *FLAGS, *flags, "--out", tmp_path / "new.json")
    assert (ran.code, ran.err.split(": ")[1]) == (2, "bad-sheet-answers")
    assert says in ran.err
    assert not (tmp_path / "new.json").exists()


def at_a_terminal(*lines: str) -> tuple[int, str, str]:
    """Run `sheet new` with somebody who types; return exit code, standard output and what was asked."""
    ours, theirs = pty.openpty()
    script = "import sys; from weighbridge_services.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "delvetown", "sheet", "new"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(theirs)
        os.write(ours, "".join(f"{line}\n" for line in lines).encode() + b"\x04")
        out, err = process.communicate(timeout=60)
        os.close(ours)
    return process.returncode, out, err


def test_a_terminal_is_asked_again_until_an_answer_will_do() -> None:
    answers = (
        "Ann",
        "a grey coat",
        "finish it",
        "fetch 7",
        "fetch 2 mend 2",
        "fetch 2, mend 2, keep 2, sway 1",
        "",
    )
    code, out, asked = at_a_terminal(*answers)
    assert code == 0
    assert check_sheet(json.loads(out)).problems == ()
    assert json.loads(out)["drive"] == "finish it"
    assert asked.count("Dots, 7 in all") == 3
    assert "$.dots.fetch: a whole number from 0 to 2" in asked


def test_who_stops_answering_gets_no_sheet() -> None:
    code, out, asked = at_a_terminal("Ann", "a grey coat")
    assert (code, out) == (2, "")
    assert "the sheet is not finished" in asked


# --- dry-run and about -------------------------------------------------------------------------------------


def tried(tmp_path: Path, **fields: Any) -> Path:
    trace = {"url": "https://delve.example/new", "quote": "the ferry runs at dawn"}
    value = {"kind": "ask", "action": "fetch", "prompt": "uri:p1", "trace": trace, **fields}
    path = tmp_path / "try.json"
    path.write_text(json.dumps({"by": "@cat", "put": "move", "as": "x1", "value": value}))
    return path


GAME = SCENARIOS / "7-exposed.json"


def test_an_ask_is_tried_with_its_chances_as_fractions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fold_file(GAME).state_root
    ran = Ran(capsys, "dry-run", GAME, tried(tmp_path, push=True))
    assert ran.code == 0
    assert "nothing of this is listed or published" in ran.out
    assert "result: mixed: 98/216 · clean: 91/216 · failed: 27/216" in ran.out
    assert "fails (1–3) 27/216" in ran.out
    assert "crit (6 6) 16/216" in ran.out
    assert "drift: 0 → 2, certainly" in ran.out
    assert fold_file(GAME).state_root == before


@pytest.mark.parametrize("dots", [0, 1, 2], ids="{} dots".format)
@pytest.mark.parametrize("push", [False, True], ids=["no push", "a push"])
def test_chances_that_are_counted_are_those_that_are_computed(
    dots: int, push: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    action = {0: "build", 1: "mend", 2: "fetch"}[dots]
    trace = {
        "build": {"made": "https://a.example"}, "mend": {"before": "https://a.example/1", "after": "https://a.example/2"},
        "fetch": {"url": "https://a.example", "quote": "x"},
    }[action]  # fmt: skip
    ran = Ran(capsys, "dry-run", GAME, tried(tmp_path, action=action, push=push, trace=trace), "--json")
    outlook = ran.json()["records"][0]["outlook"]
    fields = {
        field["path"]: {str(value): weight for value, weight in field["chances"]}
        for field in outlook["fields"]
        if field["key"].startswith("ask/")
    }
    exact = chances(dots + push)
    scale = outlook["whole"] // exact["failed"][1]
    assert fields["result"]["failed"] == exact["failed"][0] * scale
    assert fields["result"]["mixed"] == exact["mixed"][0] * scale
    assert fields["result"]["clean"] == (exact["clean"][0] + exact["crit"][0]) * scale


def test_a_move_that_would_be_refused_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tried(tmp_path)
    path.write_text(path.read_text().replace("@cat", "@stranger"))
    ran = Ran(capsys, "dry-run", GAME, path)
    assert ran.code == 0
    assert "report no-sheet" in ran.out


def test_about_gives_the_credit(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "about")
    assert ran.code == 0
    assert CREDIT in " ".join(ran.out.split())
    assert Ran(capsys, "about", "--json").json()["credit"] == CREDIT
    assert Options().dots == 7
