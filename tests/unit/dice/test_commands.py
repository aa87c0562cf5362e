from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from coin import RULES
from weighbridge.chain import chain_value
from weighbridge.codec import encode
from weighbridge.dice import round_after
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry
from weighbridge.logfile import log_to_car, log_to_jsonl
from weighbridge_services import cli
from weighbridge_services.commands import _dice_check, _dicing

FOLDER = Path(__file__).parents[2] / "vectors"
BEACONS = FOLDER / "drand" / "quicknet_beacons.json"
NEGATIVES = json.loads((FOLDER / "drand" / "negatives.json").read_text())
CASES = json.loads((FOLDER / "dice" / "values.json").read_text())["cases"]
REAL = next(beacon for beacon in json.loads(BEACONS.read_text()) if beacon["round"] == 1000)
LOCAL = LocalChain(b"a seed for tests", genesis=1_700_000_000)


@pytest.fixture
def dice(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `weighbridge dice ...`; return its exit code, its output and its errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(["dice", *map(str, arguments)])
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(chain_value(LOCAL.chain)))
    return path


def test_a_round_is_told_for_a_time(dice: Any) -> None:
    code, out, _ = dice("round", "2026-10-18T12:00:00Z")

    assert code == 0
    assert "33173812" in out
    assert "33173818, due 2026-10-18T12:00:18Z" in out


def test_a_round_is_told_as_json_on_another_chain(dice: Any, chain_file: Path) -> None:
    _, out, _ = dice("round", "2026-10-18T12:00:00.5Z", "--margin", 3, "--chain", chain_file, "--json")

    assert json.loads(out) == {
        "chain": "private chain",
        "newest": 30774934,
        "round": 30774936,
        "due": "2026-10-18T12:00:05Z",
        "margin": 3,
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["round", "2026-10-18T12:00:00"], "bad-time"),
        (["round", "2026-10-18T12:00:00+02:00"], "bad-time"),
        (["round", "2026-02-30T12:00:00Z"], "bad-time"),
        (["round", "tomorrow"], "bad-time"),
        (["round", "2026-10-18T12:00:00Z", "--margin", "-15"], "bad-margin"),
        (["round", "2026-10-18T12:00:00Z", "--chain", str(BEACONS)], "bad-chain"),
        (["round", "2026-10-18T12:00:00Z", "--chain", __file__], "bad-chain"),
        (["verify", "--file", str(FOLDER / "drand" / "negatives.json")], "bad-beacon-file"),
        (["verify", "--file", __file__], "bad-beacon-file"),
        (["verify", "--file", "/nowhere"], "no-such-file"),
    ],
)
def test_arguments_that_are_wrong_are_refused_with_a_code(dice: Any, arguments: list[str], code: str) -> None:
    exit_code, out, err = dice(*arguments)

    assert (exit_code, out) == (2, "")
    assert err.startswith(f"weighbridge: {code}: ")


def test_no_beacons_at_all_are_not_said_to_be_valid(dice: Any, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("[]")
    for more in ([], ["--json"]):
        exit_code, out, err = dice("verify", "--file", path, *more)
        assert (exit_code, out) == (2, "")
        assert err.startswith("weighbridge: bad-beacon-file: ")
        assert "empty list" in err


def test_a_real_beacon_is_valid(dice: Any) -> None:
    code, out, _ = dice("verify", 1000, REAL["signature"], "--json")

    assert code == 0
    assert json.loads(out) == {"valid": True, "randomness": REAL["randomness"], "code": None}


def test_a_beacon_is_shown_with_its_chain(dice: Any, chain_file: Path) -> None:
    assert "quicknet" in dice("verify", 1000, REAL["signature"])[1]
    assert "private chain" in dice("verify", 7, LOCAL.sign(7).hex(), "--chain", chain_file)[1]


@pytest.mark.parametrize(
    ("round", "signature", "code"),
    [
        pytest.param(999, REAL["signature"], "signature-wrong", id="another round"),
        pytest.param(1000, REAL["signature"].upper(), "signature-text", id="upper case"),
        pytest.param(1000, "0x" + REAL["signature"], "signature-text", id="0x in front"),
        pytest.param(1000, "c0" + "00" * 47, "signature-infinity", id="infinity"),
        pytest.param(0, REAL["signature"], "round-out-of-range", id="round 0"),
        pytest.param(-1, REAL["signature"], "round-out-of-range", id="round -1"),
        pytest.param(2**64, REAL["signature"], "round-out-of-range", id="round 2^64"),
        pytest.param("9" * 5000, REAL["signature"], "round-out-of-range", id="a round of 5,000 digits"),
        pytest.param("1_000", REAL["signature"], "round-out-of-range", id="an underscore"),
        pytest.param("²", REAL["signature"], "round-out-of-range", id="a digit of another kind"),
    ],
)
def test_a_false_beacon_is_not_valid_and_says_why(
    dice: Any, round: object, signature: str, code: str
) -> None:
    exit_code, out, _ = dice("verify", round, signature, "--json")

    assert exit_code == 1
    assert json.loads(out) == {"valid": False, "randomness": None, "code": code}
    assert dice("verify", round, signature)[0] == 1


def test_a_file_of_real_beacons_is_valid_as_one_batch(dice: Any) -> None:
    code, out, _ = dice("verify", "--file", BEACONS)

    assert (code, out) == (0, "315 of 315 beacons are valid on quicknet\n")


def test_a_file_says_of_each_beacon_what_it_is(dice: Any, tmp_path: Path) -> None:
    path = tmp_path / "beacons.json"
    items = [REAL, REAL | {"randomness": "00" * 32}, {"round": 7}, *NEGATIVES["signature_cases"]]
    path.write_text(json.dumps(items))
    code, out, _ = dice("verify", "--file", path, "--json")
    told = json.loads(out)

    assert code == 1
    assert told[0] == {"round": 1000, "valid": True, "randomness": REAL["randomness"], "code": None}
    assert [each["code"] for each in told[1:3]] == ["randomness-mismatch", "signature-text"]
    assert [each["round"] for each in told] == [item["round"] for item in items]
    assert not any(each["valid"] for each in told[1:])
    assert "not valid" in dice("verify", "--file", path)[1]


def test_a_port_that_there_is_not_is_refused(dice: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        dice("serve", "--seed", "ab" * 16, "--port", "65536")
    assert end.value.code == 2
    assert "a port is 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "256.0.0.1", "198.51.100.7"])
def test_an_address_that_cannot_be_had_is_said_so(dice: Any, host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = dice("serve", "--seed", "ab" * 16, "--host", host, "--port", port)
    assert (code, out) == (3, "")
    assert err.startswith(f"weighbridge: cannot-listen: cannot listen at {host}, port {port}: ")


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_serving_ends_when_it_is_told_to(sign: int, code: int) -> None:
    command = [
        sys.executable,
        "-m",
        "weighbridge_services",
        "dice",
        "serve",
        "--seed",
        "ab" * 16,
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        with urllib.request.urlopen(f"{told['url']}/chains") as answer:
            assert json.load(answer) == [told["chain"]["hash"]]
        server.send_signal(sign)
        _, err = server.communicate(timeout=60)
    assert server.returncode == code
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [[], ["1000"], ["1000", "ab", "--file", "x"], ["1000", "--file", "x"]])
def test_one_beacon_or_a_file_must_be_given(dice: Any, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        dice("verify", *arguments)
    assert stopped.value.code == 2


def roll_of(case: dict[str, Any]) -> list[object]:
    facts = [
        "--game",
        case["game"],
        "--record",
        case["uri"],
        "--cid",
        case["cid"],
        "--purpose",
        case["purpose"],
    ]
    return ["roll", case["round"], *(f"1d{sides}" for sides in case["sizes"]), *facts]


@pytest.mark.parametrize("case", CASES, ids=[str(case["round"]) for case in CASES])
def test_a_what_if_gives_the_independent_values(dice: Any, case: dict[str, Any]) -> None:
    told = json.loads(dice(*roll_of(case), "--signature", case["signature"], "--json")[1])

    assert told["randomness"] == case["randomness"]
    assert told["blocks"][0] == case["firstBlock"]
    assert [face for [face] in told["dice"]] == case["values"]


def test_a_what_if_takes_its_beacon_from_a_source(dice: Any) -> None:
    code, out, _ = dice(*roll_of(CASES[0]), "--source", "file", "--set", f"path={BEACONS}")

    assert code == 0
    assert CASES[0]["randomness"] in out
    assert f"block 0: {CASES[0]['firstBlock']}" in out


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (["--source", "nobody"], "no-beacon-source"),
        (["--source", "file", "--set", "path"], "beacon-settings"),
        (["--source", "file", "--set", f"path={__file__}"], "beacon-settings"),
        (["--signature", "00"], "signature-text"),
        (["--cid", "x", "--signature", CASES[0]["signature"]], "cid-form"),
    ],
)
def test_a_what_if_that_cannot_be_is_refused(dice: Any, changed: list[str], code: str) -> None:
    exit_code, _, err = dice(*roll_of(CASES[0]), *changed)

    assert exit_code == 2
    assert err.startswith(f"weighbridge: {code}: ")


@pytest.mark.parametrize(
    "asked", ["d6", "2d", "2D6", "0d6", "2d1", "2d99999999999999999999", "1000000d6", "-1d6"]
)
def test_dice_that_there_are_not_are_refused(dice: Any, asked: str) -> None:
    arguments = [*roll_of(CASES[0] | {"sizes": []}), "--signature", CASES[0]["signature"], "--", asked]
    exit_code, _, err = dice(*arguments)

    assert exit_code == 2
    assert err.startswith("weighbridge: bad-dice: ")


# --- check -------------------------------------------------------------------------------------------------


def scenario(tmp_path: Path, *evidence: dict[str, Any]) -> Path:
    root = {"gm": "@gm", "beacon": {"chain": chain_value(LOCAL.chain), "margin": 5}}
    flip = {"at": "2026-10-18T12:00:00Z", "by": "@ann", "put": "flip", "as": "f", "value": {"call": "heads"}}
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps({"ruleset": "coin", "root": root, "steps": [flip, *evidence]}))
    return path


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_dice_check, "ruleset_named", lambda _: RULES)
    monkeypatch.setattr(_dice_check, "attachments_for", lambda _: {})


def beacon() -> tuple[dict[str, Any], int, bytes]:
    round = round_after(LOCAL.chain, _dicing.parse_time("2026-10-18T12:00:00Z"), 5)
    stated = {"round": round, "signature": LOCAL.sign(round).hex()}
    return {"at": "2026-10-18T12:00:30Z", "dice": "f", "beacon": stated}, round, LOCAL.sign(round)


@pytest.mark.usefixtures("coins")
def test_a_check_tells_the_whole_chain_of_reasoning(dice: Any, tmp_path: Path) -> None:
    step, round, signature = beacon()
    path = scenario(tmp_path, step)
    code, out, _ = dice("check", path, "f", "--json")
    told = json.loads(out)

    assert code == 0
    assert (told["at"], told["margin"], told["round"]) == ("2026-10-18T12:00:00Z", 5, round)
    assert (told["due"], told["chain"]) == ("2026-10-18T12:00:08Z", "private chain")
    assert told["signature"] == signature.hex()
    [purpose] = told["dice"]
    assert (purpose["purpose"], purpose["randomness"]) == ("flip", told["randomness"])
    first = int(purpose["blocks"][0][:2], 16)
    assert purpose["dice"] == [{"sides": 2, "face": 1 + first % 2}]

    lines = dice("check", path, told["record"])[1]
    for shown in (
        str(round),
        signature.hex(),
        told["randomness"],
        purpose["blocks"][0],
        "private chain",
        "d2:",
    ):
        assert shown in lines


@pytest.mark.usefixtures("coins")
def test_a_check_of_a_roll_that_waits_says_what_for_and_exits_with_1(dice: Any, tmp_path: Path) -> None:
    tick = {"at": "2026-10-18T12:00:30Z", "tick": True}
    code, out, _ = dice("check", scenario(tmp_path, tick), "f")

    assert code == 1
    assert "none drawn yet" in out


@pytest.mark.usefixtures("coins")
def test_a_check_of_an_unknown_record_is_refused(dice: Any, tmp_path: Path) -> None:
    code, _, err = dice("check", scenario(tmp_path), "at://did:plc:x/a.b.c/1")

    assert code == 2
    assert err.startswith("weighbridge: record-not-in-log: ")


def rolled_log() -> list[Listed]:
    """A root, a flip and its beacon."""
    gm, ann = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm", "did:plc:annannannannannannannann"
    game = f"at://{gm}/example.coin.root/self"
    at = _dicing.parse_time("2026-10-18T12:00:00Z")
    round = round_after(LOCAL.chain, at, 5)
    stated = {"game": game, "round": round, "signature": LOCAL.sign(round), "chain": LOCAL.chain.hash}
    root = {"gm": gm, "beacon": {"chain": chain_value(LOCAL.chain), "margin": 5}}
    records: list[tuple[int, str, str, Any]] = [
        (at - 1, gm, game, root),
        (at, ann, f"at://{ann}/example.coin.flip/1", {"game": game, "call": "heads"}),
        (at + 30_000_000, gm, f"at://{gm}/network.weighbridge.beacon/1", stated),
    ]
    entries: list[Listed] = []
    for when, author, uri, value in records:
        fields: dict[str, Any] = {"op": "create", "uri": uri, "author": author, "record": encode(value)}
        entries.append(make_entry(entries[-1] if entries else None, game=game, at=when, **fields))
    return entries


@pytest.mark.parametrize("form", ["car", "jsonl"])
def test_a_check_reads_a_log_in_either_form(
    dice: Any, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site" / "coin_toy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[weighbridge.rulesets]\ncoin = coin:RULES\n")
    monkeypatch.syspath_prepend(str(info.parent))
    entries = rolled_log()
    pieces = log_to_jsonl(entries) if form == "jsonl" else log_to_car(entries, entries[-1].cid)
    path = tmp_path / f"log.{form}"
    path.write_bytes(b"".join(pieces))
    code, out, _ = dice("check", path, entries[1].entry.uri, "--ruleset", "coin", "--json")
    told = json.loads(out)

    assert code == 0
    assert told["due"] == "2026-10-18T12:00:08Z"
    assert told["beacon"] == entries[2].entry.uri
    assert told["roll"] == "lister-timed"
    assert len(told["dice"][0]["dice"]) == 1


def test_a_check_of_an_empty_log_is_refused(dice: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"")
    code, _, err = dice("check", path, "at://did:plc:x/a.b.c/1")

    assert code == 2
    assert err.startswith("weighbridge: ")
