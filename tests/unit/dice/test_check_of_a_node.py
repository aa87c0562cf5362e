"""What a node's own folder tells of its dice: `dice check`, and the chain's name wherever a roll is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import coin
import pytest
from weighbridge.chain import QUICKNET, Chain, chain_value, round_after
from weighbridge.codec import encode
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry
from weighbridge.logfile import log_to_jsonl
from weighbridge_services import cli
from weighbridge_services.commands import _dicing
from weighbridge_services.creating import create_node
from weighbridge_services.folding.replaying import Moving, from_start
from weighbridge_services.folding.rulesets import Configured
from weighbridge_services.folding.store import FoldStore

LOCAL = LocalChain(b"a seed for tests", genesis=1_700_000_000)
GM, ANN = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm", "did:plc:annannannannannannannann"
AT = _dicing.parse_time("2026-10-18T12:00:00Z")
FLIP = f"at://{ANN}/example.coin.flip/1"
WAITING = f"at://{ANN}/example.coin.flip/2"
Run = Callable[..., tuple[int, str, str]]


def game_named(name: str) -> str:
    return f"at://{GM}/example.coin.root/{name}"


def log_of(game: str, chain: Chain = LOCAL.chain) -> list[Listed]:
    """A root, a flip with its beacon, and a flip that waits for another."""
    number = round_after(chain, AT, 5)
    root = {"gm": GM, "fold": {"name": "coin"}, "beacon": {"chain": chain_value(chain), "margin": 5}}
    beacon = {"game": game, "round": number, "signature": LOCAL.sign(number), "chain": chain.hash}
    made: list[tuple[int, str, str, Any]] = [
        (AT - 1, GM, game, root),
        (AT, ANN, FLIP, {"game": game, "call": "heads"}),
        (AT + 30_000_000, GM, f"at://{GM}/network.weighbridge.beacon/1", beacon),
        (AT + 30_000_001, ANN, WAITING, {"game": game, "call": "heads"}),
    ]
    entries: list[Listed] = []
    for when, author, uri, value in made:
        fields: dict[str, Any] = {"op": "create", "uri": uri, "author": author, "record": encode(value)}
        entries.append(make_entry(entries[-1] if entries else None, game=game, at=when, **fields))
    return entries


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the toy look installed."""
    info = tmp_path / "site" / "coin_toy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[weighbridge.rulesets]\ncoin = coin:RULES\n")
    (tmp_path / "site" / "coin.py").write_bytes(Path(str(coin.__file__)).read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """These nodes do not run: a second of patience with each one's broker would be lost."""
    for module in ("folding.standing", "inspecting"):
        monkeypatch.setattr(f"weighbridge_services.{module}.PATIENCE", 0.0)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, its output and its errors."""

    def command(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(list(map(str, arguments)))
        out, err = capsys.readouterr()
        return code, out, err

    return command


def node_of(folder: Path, *logs: list[Listed]) -> Path:
    """Make a node that has folded some games."""
    names = [log[0].entry.game for log in logs]
    tables = "".join(f'[[games]]\nuri = "{name}"\nrole = "lister"\nruleset = "coin"\n' for name in names)
    node = create_node(folder, f'[node]\nname = "alma"\n[plugins]\nrulesets = ["coin"]\n{tables}')
    with node.ledger("fold") as ledger:
        for game, log in zip(names, logs, strict=True):
            store = FoldStore(ledger, game)
            with ledger.batch():
                store.log.extend(log)
                moving = Moving(from_start(store, Configured(["coin"], "coin")))
                store.add_era(moving.era)
                for each in log:
                    step, era, _ = moving.step(each)
                    store.add_step(step, moving.fold, era)
                store.flush()
    return node.folder


@pytest.fixture
def node(tmp_path: Path) -> Path:
    return node_of(tmp_path / "alma", log_of(game_named("one")))


def test_a_node_s_folder_tells_what_its_log_tells(run: Run, node: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(log_to_jsonl(log_of(game_named("one")))))
    told = [
        run("dice", "check", log, FLIP, "--json"),
        run("dice", "check", node, FLIP, "--json"),
        run("dice", "check", "--node", node, FLIP, "--json"),
        run("dice", "check", game_named("one"), FLIP, "--node", node, "--json"),
    ]
    assert [code for code, _, _ in told] == [0, 0, 0, 0]
    assert len({out for _, out, _ in told}) == 1
    found = json.loads(told[0][1])
    assert found["chain"] == "private chain"
    assert found["dice"][0]["dice"][0]["sides"] == 2


def test_a_record_that_waits_in_a_node_s_log_exits_with_1(run: Run, node: Path) -> None:
    code, out, _ = run("dice", "check", node, WAITING)
    assert code == 1
    assert "none drawn yet" in out


def test_of_a_node_with_two_games_one_is_named(run: Run, tmp_path: Path) -> None:
    node = node_of(tmp_path / "alma", log_of(game_named("one")), log_of(game_named("two")))
    code, out, _ = run("dice", "check", game_named("two"), FLIP, "--node", node)
    assert code == 0
    assert f"entry 1 of {game_named('two')}" in out
    code, _, err = run("dice", "check", node, FLIP)
    assert (code, err.split(": ")[1]) == (2, "no-such-game")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        pytest.param(["{node}", f"at://{ANN}/example.coin.flip/9"], 2, "record-not-in-log", id="no-record"),
        pytest.param(["{node}", game_named("one")], 2, "does-not-roll", id="a-record-that-rolls-nothing"),
        pytest.param([game_named("nine"), FLIP, "--node", "{node}"], 2, "no-such-game", id="another-game"),
        pytest.param(["{node}/keys", FLIP], 2, "no-node", id="a-folder-that-is-no-node"),
        pytest.param(["--node", "{node}/none", FLIP], 2, "no-node", id="no-folder"),
        pytest.param([game_named("one"), FLIP], 2, "no-such-file", id="an-at-uri-without-a-node"),
    ],
)
def test_what_cannot_be_checked_says_why(
    run: Run, node: Path, arguments: list[str], exit_code: int, code: str
) -> None:
    found, out, err = run("dice", "check", *(each.replace("{node}", str(node)) for each in arguments))
    assert (found, out, err.split(": ")[:2]) == (exit_code, "", ["weighbridge", code])


def test_a_node_that_has_not_run_has_no_ledger(run: Run, tmp_path: Path) -> None:
    table = f'[[games]]\nuri = "{game_named("one")}"\nrole = "lister"\nruleset = "coin"\n'
    folder = tmp_path / "new"
    create_node(folder, f'[node]\nname = "alma"\n[plugins]\nrulesets = ["coin"]\n{table}')
    code, _, err = run("dice", "check", folder, FLIP)
    assert (code, err.split(": ")[1]) == (4, "ledger-missing")
    _, out, _ = run("node", "status", "--node", folder, "--json")
    assert json.loads(out)["games"][0]["chain"] is None


def test_a_node_whose_log_is_empty_has_nothing_to_check(run: Run, tmp_path: Path) -> None:
    table = f'[[games]]\nuri = "{game_named("one")}"\nrole = "lister"\nruleset = "coin"\n'
    node = create_node(tmp_path / "new", f'[node]\nname = "alma"\n[plugins]\nrulesets = ["coin"]\n{table}')
    with node.ledger("fold"):
        pass
    code, _, err = run("dice", "check", node.folder, FLIP)
    assert (code, err.split(": ")[1]) == (3, "no-log")


def test_a_game_must_be_named(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run("dice", "check", FLIP)
    assert end.value.code == 2
    assert "name the game" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("chain", "label"),
    [
        pytest.param(LOCAL.chain, "private chain", id="the-gms-own"),
        pytest.param(QUICKNET, "quicknet", id="quicknet"),
    ],
)
def test_the_chain_is_named_wherever_a_roll_is_shown(
    run: Run, tmp_path: Path, chain: Chain, label: str
) -> None:
    entries = log_of(game_named("one"), chain)
    node = node_of(tmp_path / "alma", entries)
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(log_to_jsonl(entries)))
    number = round_after(chain, entries[-1].entry.at, 5)
    cell = f"flip/{ANN}:1"
    shown = {
        "dice check": (run("dice", "check", node, WAITING), f"round       {number} of {label}"),
        "me": (run("me", "--node", node, "--did", ANN), f"the beacon of round {number} of {label}"),
        "explain, node": (run("explain", cell, "--node", node), f"the game's dice are of {label}"),
        "explain, log": (run("explain", cell, "--log", log), f"the game's dice are of {label}"),
        "node status": (run("node", "status", "--node", node), f"dice of {label}"),
        "fold": (run("fold", log), f"dice      of {label}"),
    }
    assert [name for name, ((_, out, _), says) in shown.items() if says not in out] == []
    for command in (
        ("explain", cell, "--node", node), ("explain", cell, "--log", log), ("me", "--node", node), ("fold", log),
    ):  # fmt: skip
        assert json.loads(run(*command, "--json")[1])["chain"] == label
    assert json.loads(run("node", "status", "--node", node, "--json")[1])["games"][0]["chain"] == label
