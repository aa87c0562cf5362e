"""`weighbridge ledger`: copies that are verified, also of a node that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from weighbridge.ledger import Report, restore
from weighbridge_services.cli import main
from weighbridge_services.commands import ledger
from weighbridge_services.creating import create_node
from weighbridge_services.locks import Lock
from weighbridge_services.node import Node


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = create_node(tmp_path / "alma", '[node]\nname = "alma"\n')
    for name in ("fold", "ingest"):
        with made.ledger(name) as ledger:
            ledger.values.set("greeting", name.encode())
    return made


def test_a_backup_is_restored_into_a_node_that_lost_its_ledgers(node: Node, tmp_path: Path) -> None:
    assert main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")]) == 0
    (node.folder / "ledger").rename(tmp_path / "lost")
    assert main(["ledger", "restore", "--node", str(node.folder), str(tmp_path / "copy")]) == 0
    with node.ledger("fold") as ledger:
        assert ledger.values.get("greeting") == b"fold"


def test_a_ledger_in_use_is_backed_up_and_verified(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with node.ledger("fold") as ledger:
        ledger.values.set("late", b"yes")
        assert main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")]) == 0
        assert main(["ledger", "verify", "--node", str(node.folder)]) == 0
    assert capsys.readouterr().out.count("fold.db: sound") == 2
    assert sorted(path.name for path in (node.folder / "ledger").glob("*.copy*")) == []
    (node.folder / "ledger").rename(tmp_path / "lost")
    main(["ledger", "restore", "--node", str(node.folder), str(tmp_path / "copy")])
    with node.ledger("fold") as ledger:
        assert ledger.values.get("late") == b"yes"


def test_a_damaged_ledger_is_reported_and_never_restored(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")])
    path = tmp_path / "copy" / "fold.db"
    data = bytearray(path.read_bytes())
    at = data.index(b"greeting")
    data[at] ^= 1
    path.write_bytes(data)
    (node.folder / "ledger").rename(tmp_path / "lost")
    capsys.readouterr()
    assert main(["ledger", "restore", "--node", str(node.folder), str(tmp_path / "copy")]) == 4
    assert "ledger-corrupt" in capsys.readouterr().err
    assert not (node.folder / "ledger" / "fold.db").exists()


def test_verify_says_it_of_every_ledger(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    path = node.folder / "ledger" / "fold.db"
    data = bytearray(path.read_bytes())
    data[data.index(b"greeting")] ^= 1
    path.write_bytes(data)
    assert main(["ledger", "verify", "--node", str(node.folder), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["fold.db"]["sound"], found["ingest.db"]["sound"]) == (False, True)
    assert found["fold.db"]["faults"]


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        pytest.param(["verify"], 2, "no-ledgers", id="a node that never ran"),
        pytest.param(["restore", "nowhere"], 2, "no-ledgers", id="no backup there"),
    ],
)
def test_what_is_not_there_is_one_line(
    tmp_path: Path, arguments: list[str], code: int, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node = create_node(tmp_path / "alma", '[node]\nname = "alma"\n')
    more = [str(tmp_path / each) for each in arguments[1:]]
    assert main(["ledger", arguments[0], "--node", str(node.folder), *more]) == code
    assert capsys.readouterr().err.startswith(f"weighbridge: {name}: ")


def test_nothing_is_restored_under_a_node_that_runs(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")])
    lock = Lock(node.folder, "fold")
    lock.take()
    assert main(["ledger", "restore", "--node", str(node.folder), str(tmp_path / "copy")]) == 2
    lock.release()
    assert "node-runs" in capsys.readouterr().err


def test_a_backup_does_not_write_over_another(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "copy").mkdir()
    assert main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")]) == 0
    assert main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")]) == 2
    assert capsys.readouterr().err.startswith("weighbridge: folder-in-use: ")


def test_a_backup_that_is_interrupted_leaves_nothing(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_then_ctrl_c(source: Path, target: Path) -> Report:
        if target.name == "ingest.db":
            raise KeyboardInterrupt
        return restore(source, target)

    monkeypatch.setattr(ledger, "restore", one_then_ctrl_c)
    before = sorted(tmp_path.iterdir())
    assert main(["ledger", "backup", "--node", str(node.folder), str(tmp_path / "copy")]) == 130
    assert sorted(tmp_path.iterdir()) == before
