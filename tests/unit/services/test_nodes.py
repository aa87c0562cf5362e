"""A node's folder: made whole or not at all, its keys its own, one process per service."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from weighbridge.plugins import PluginUnknown
from weighbridge_services.clock import RecordedClock, SystemClock
from weighbridge_services.config import BadConfig, ForeignNode
from weighbridge_services.creating import FolderInUse, create_node
from weighbridge_services.files import write_new
from weighbridge_services.locks import AlreadyRunning, Lock
from weighbridge_services.node import BadKeyFile, Node
from weighbridge_services.secret_files import loose_modes, read_secret

GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/network.weighbridge.game/one"
CONFIG = f'[node]\nname = "alma"\n[[games]]\nuri = "{GAME}"\nrole = "lister"\nruleset = "coin"\n'


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return create_node(tmp_path / "alma", CONFIG)


def test_a_new_node_opens_and_is_nobody_elses_business(node: Node) -> None:
    assert Node.open(node.folder).did == node.did
    for path in [node.folder, node.folder / "keys", *(node.folder / "keys").iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert loose_modes(node.folder / "keys") == []
    assert len({node.keys.records.did, node.keys.log.did, node.keys.recompute.did}) == 3


def test_two_nodes_have_nothing_in_common(node: Node, tmp_path: Path) -> None:
    other = create_node(tmp_path / "bela", CONFIG)
    assert node.did != other.did
    passwords = {read_secret(each.folder / "keys" / "broker.password") for each in (node, other)}
    assert len(passwords) == 2


def test_an_empty_folder_will_do_and_a_full_one_will_not(tmp_path: Path, node: Node) -> None:
    (tmp_path / "empty").mkdir()
    assert create_node(tmp_path / "empty", CONFIG).name == "alma"
    for full in (node.folder, tmp_path, node.folder / "weighbridge.toml"):
        with pytest.raises(FolderInUse):
            create_node(full, CONFIG)


def test_a_bad_configuration_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadConfig):
        create_node(tmp_path / "alma", "[node]")
    assert list(tmp_path.iterdir()) == []


def test_a_node_that_cannot_be_finished_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("weighbridge_services.creating.write_new", full)
    with pytest.raises(OSError, match="No space"):
        create_node(tmp_path / "alma", CONFIG)
    assert list(tmp_path.iterdir()) == []


def damage_mode(keys: Path) -> None:
    (keys / "records.key").chmod(0o640)


def damage_text(keys: Path) -> None:
    (keys / "records.key").write_text("not hex")


def damage_length(keys: Path) -> None:
    (keys / "records.key").write_text("00" * 31)


def damage_bytes(keys: Path) -> None:
    (keys / "records.key").write_bytes(b"\xff" * 32)


def damage_missing(keys: Path) -> None:
    (keys / "records.key").unlink()


def damage_empty(keys: Path) -> None:
    (keys / "records.key").write_text("")


def damage_folder(keys: Path) -> None:
    (keys / "records.key").unlink()
    (keys / "records.key").mkdir(mode=0o700)


def damage_other(keys: Path) -> None:
    (keys / "records.key").write_text("07" * 32)


def damage_public(keys: Path) -> None:
    (keys / "public.json").write_text("[]")


def damage_public_missing(keys: Path) -> None:
    (keys / "public.json").unlink()


@pytest.mark.parametrize(
    "damage",
    [each for name, each in sorted(globals().items()) if name.startswith("damage_")],
    ids=lambda each: each.__name__.removeprefix("damage_"),
)
def test_a_wrong_key_file_is_named_and_said_what_to_do_about(node: Node, damage: object) -> None:
    damage(node.folder / "keys")  # type: ignore[operator]
    with pytest.raises(BadKeyFile) as caught:
        Node.open(node.folder)
    assert str(node.folder / "keys") in caught.value.message
    assert re.search("restore|chmod|cannot be read", caught.value.message)


def test_another_nodes_keys_make_a_foreign_node(node: Node, tmp_path: Path) -> None:
    other = create_node(tmp_path / "bela", CONFIG)
    for path in (other.folder / "keys").glob("*.key"):
        (node.folder / "keys" / path.name).write_text(path.read_text())
    with pytest.raises(ForeignNode) as caught:
        Node.open(node.folder)
    assert node.did in caught.value.message
    assert other.did in caught.value.message


def test_a_rule_set_that_the_configuration_does_not_name_is_not_loaded(node: Node) -> None:
    with pytest.raises(PluginUnknown):
        node.ruleset(node.games[0])


def test_a_node_has_one_clock(tmp_path: Path, node: Node) -> None:
    assert isinstance(node.clock(), SystemClock)
    recorded = create_node(tmp_path / "bela", '[node]\nname = "b"\nclock = "recorded"\n')
    recorded.clock().advance(7)
    recorded.clock().advance(5)
    assert recorded.clock().now() == 7
    assert isinstance(recorded.clock(), RecordedClock)
    node.clock().advance(1)
    assert node.clock().now() > 1_700_000_000_000_000


def test_an_operators_record_names_its_keys(node: Node) -> None:
    record = node.operator_record(GAME)
    assert record.name == "alma"
    assert json.loads((node.folder / "keys" / "public.json").read_text())["records"] == node.did


def test_each_service_has_a_ledger_of_its_own(node: Node) -> None:
    with node.ledger("fold") as fold, node.ledger("ingest") as ingest:
        assert fold.path != ingest.path
        assert fold.path.parent == node.folder / "ledger"


def test_a_service_runs_once(node: Node) -> None:
    first, second, other = Lock(node.folder, "fold"), Lock(node.folder, "fold"), Lock(node.folder, "ingest")
    assert first.holder is None
    first.take()
    other.take()
    with pytest.raises(AlreadyRunning, match=str(os.getpid())):
        second.take()
    assert second.holder == os.getpid()
    first.release()
    first.release()
    second.take()
    second.release()
    other.release()


def test_a_lock_dies_with_its_process(node: Node) -> None:
    code = "import os, sys; from pathlib import Path; from weighbridge_services.locks import Lock\n"
    code += "Lock(Path(sys.argv[1]), 'fold').take(); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(node.folder)], check=False)
    lock = Lock(node.folder, "fold")
    lock.take()
    lock.release()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_new(path, b"first")
    with pytest.raises(FileExistsError):
        write_new(path, b"second")
    write_new(path, b"second", replace=True)
    assert path.read_bytes() == b"second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("weighbridge_services.files.os.fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        write_new(path, b"third", replace=True)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"second"
