"""`weighbridge explain` and `dry-run`: the same of a log, a scenario and a node's ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from weighbridge.identity import Signer, envelope_to_json, sign_record
from weighbridge.log.entries import Listed
from weighbridge.logfile import log_to_car, log_to_jsonl
from weighbridge_services.cli import main
from weighbridge_services.commands._dicing import shown_time
from weighbridge_services.creating import create_node
from weighbridge_services.folding.replaying import Moving, from_start
from weighbridge_services.folding.rulesets import Configured
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.standing import standing

SCENARIO = Path(__file__).parents[3] / "plugins" / "delvetown" / "scenarios" / "7-heat-falls.json"
TRY = {
    "by": "@ann", "put": "move", "as": "x1",
    "value": {
        "kind": "ask", "action": "fetch", "prompt": "uri:p1", "push": True,
        "trace": {"url": "https://delve.example/x", "quote": "the ferry runs at dawn"},
    },
}  # fmt: skip


def entries() -> tuple[str, list[Listed], str]:
    with standing(SCENARIO) as game:
        return game.fold.game, list(game.entries), game.names.key("crew/id:lamps")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(log_to_jsonl(entries()[1])))
    return path


@pytest.fixture
def node(tmp_path: Path) -> Path:
    game, listed, _ = entries()
    games = f'[[games]]\nuri = "{game}"\nrole = "lister"\nruleset = "delvetown"\n'
    config = f'[node]\nname = "alma"\n[plugins]\nrulesets = ["delvetown"]\n{games}'
    made = create_node(tmp_path / "alma", config)
    with made.ledger("fold") as ledger:
        store = FoldStore(ledger, game)
        with ledger.batch():
            store.log.extend(listed)
            moving = Moving(from_start(store, Configured(["delvetown"], "delvetown")))
            store.add_era(moving.era)
            for each in listed:
                step, era, _ = moving.step(each)
                store.add_step(step, moving.fold, era)
            store.flush()
    return made.folder


class Ran:
    """What a command printed, and its exit code."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.code = main([str(each) for each in arguments])
        self.out, self.err = capsys.readouterr()

    def json(self) -> Any:
        return json.loads(self.out)


def test_a_crew_s_heat_is_explained_from_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "crew/id:lamps", "--log", SCENARIO)
    assert ran.code == 0
    assert "  · heat +1: a1 was exposed and listed on 18 Oct 2026 (§7)." in ran.out
    assert "heat: 1 → 2" in ran.out


def test_a_log_and_a_node_tell_the_same(log: Path, node: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = entries()[2]
    named = ("--ruleset", "delvetown")
    from_log = Ran(capsys, "explain", key, "--log", log, "--json", *named)
    from_node = Ran(capsys, "explain", key, "--node", node, "--json")
    assert (from_log.code, from_node.code) == (0, 0)
    assert len(from_log.json()["changes"]) > 3
    for one, other in zip(from_log.json()["changes"], from_node.json()["changes"], strict=True):
        assert {name: other[name] for name in one} == one
        assert other["ruleset"] == "delvetown"


def test_a_cell_that_never_was_has_no_history(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "explain", "crew/nobody", "--log", log, "--ruleset", "delvetown")
    assert ran.code == 1
    assert "nothing ever stood there" in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(
            ["crew/id:nobody", "--log", SCENARIO], 2, "nobody", id="a name that the scenario has not"
        ),
        pytest.param(["crew/x", "--log", "missing.car"], 2, "no-such-file", id="a file that is not there"),
    ],
)
def test_what_cannot_be_explained_says_why(
    arguments: list[Any], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "explain", *arguments)
    assert ran.code == code
    assert says in ran.err


def test_an_empty_log_has_no_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.car").write_bytes(b"".join(log_to_car([], None)))
    ran = Ran(capsys, "dry-run", tmp_path / "log.car", tried(tmp_path, TRY))
    assert (ran.code, ran.err.split(": ")[1]) == (2, "empty-log")


# --- dry-run -----------------------------------------------------------------------------------------------


def tried(tmp_path: Path, *items: Any, lines: bool = False) -> Path:
    path = tmp_path / "try.json"
    texts = [json.dumps(item) for item in items]
    path.write_text("\n".join(texts) if lines else f"[{', '.join(texts)}]")
    return path


def test_a_scenario_s_names_may_be_used_in_what_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "dry-run", SCENARIO, tried(tmp_path, TRY))
    assert ran.code == 0
    assert ran.out.startswith("nothing of this is listed or published\n")
    assert "x1  at://did:plc:" in ran.out


def test_a_log_and_a_node_try_alike(
    log: Path, node: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, listed, _ = entries()
    file = tried(
        tmp_path, TRY | {"by": listed[1].entry.author}, {"by": "@ann", "kind": "move", "value": 7}, lines=True
    )
    one = Ran(capsys, "dry-run", log, file, "--ruleset", "delvetown", "--json")
    other = Ran(capsys, "dry-run", node, file, "--of", game, "--json")
    assert (one.code, other.code) == (0, 0)
    assert one.json() == other.json()
    assert one.json()["records"][1]["reports"].keys() == {"bad-shape"}


@pytest.mark.parametrize(
    ("item", "says"),
    [
        pytest.param(7, "record 1: a record to try is an object", id="a number"),
        pytest.param({"by": "@ann"}, "needs by and value", id="no value"),
        pytest.param(TRY | {"sgi": 1}, "unknown fields sgi", id="an unknown field"),
        pytest.param(TRY | {"put": "shout"}, "no kind of record of this game", id="an unknown kind"),
        pytest.param(TRY | {"by": "ann"}, "is no author", id="no DID"),
        pytest.param(TRY | {"value": {"n": 1.5}}, "float", id="a fraction"),
        pytest.param(
            TRY | {"value": {"prompt": "uri:nobody"}}, "nothing in the scenario is named nobody", id="a name"
        ),
        pytest.param({"sig": "x"}, "record 1", id="an envelope that is none"),
    ],
)
def test_what_cannot_be_tried_says_where_and_why(
    item: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, "dry-run", SCENARIO, tried(tmp_path, item))
    assert ran.code == 2
    assert ran.err.startswith("weighbridge: bad-draft: ")
    assert says in ran.err


def test_an_envelope_is_tried_if_its_signature_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, signer = entries()[0], Signer(b"\x07" * 32)
    value = {"kind": "say", "text": "hello", "game": game}
    envelope = envelope_to_json(sign_record(signer, game, "town.delve.move", "s1", value))
    assert Ran(capsys, "dry-run", SCENARIO, tried(tmp_path, envelope)).code == 0
    forged = envelope | {"value": value | {"text": "goodbye"}}
    ran = Ran(capsys, "dry-run", SCENARIO, tried(tmp_path, forged))
    assert (ran.code, ran.err.split(": ")[1]) == (2, "bad-draft")


@pytest.mark.parametrize(
    "text", ["", "[]", "{\n{", "not json"], ids=["empty", "no record", "cut off", "words"]
)
def test_a_file_without_records_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "try.json").write_text(text)
    ran = Ran(capsys, "dry-run", SCENARIO, tmp_path / "try.json")
    assert (ran.code, ran.err.split(": ")[1]) == (2, "bad-draft")


def test_a_time_before_the_last_entry_is_refused_in_times_that_a_person_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "records.json"
    file.write_text(json.dumps(TRY))
    last = shown_time(entries()[1][-1].entry.at)
    assert main(["dry-run", str(SCENARIO), str(file), "--at", last]) == 0
    capsys.readouterr()
    assert main(["dry-run", str(SCENARIO), str(file), "--at", "2001-02-03T04:05:06Z"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("weighbridge: bad-time: --at 2001-02-03T04:05:06Z is before the last entry")
    assert f"listed at {last};" in said.err
