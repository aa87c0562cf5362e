"""`weighbridge prove`: the CAR that a log or a node gives for a record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from repo_making import ALICE, MOVES, NOW, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import Signer, open_envelope, sign_record
from weighbridge.log.entries import Listed, make_entry
from weighbridge.logfile import log_to_car
from weighbridge.logfile.car import CarReader
from weighbridge.repos import Proved, carry, open_carried, parse_did_key, read_proof
from weighbridge_services.cli import main
from weighbridge_services.creating import create_node

GAME = f"at://{ALICE}/town.delve.root/one"
PATH = f"{MOVES}/a"
URI = f"at://{ALICE}/{PATH}"
PLAYER = Signer(b"p" * 32)
NODE = f"""
[node]
name = "alma"
[broker]
port = 0
[[games]]
uri = "{GAME}"
role = "lister"
ruleset = "delvetown"
"""
VERSIONS = (("0", "north"), ("1", "south"), ("2", None))


def entries() -> list[Listed]:
    """A log that lists two versions of a record of a repository, its end, one in an envelope and one unsigned."""
    made, last, found = Made(), None, list[Listed]()
    for n, (_, text) in enumerate(VERSIONS):
        value = None if text is None else {"game": GAME, "text": text}
        made.commit({PATH: value})
        assert made.last is not None
        record = None if value is None else codec.encode(value)
        proved = Proved(made.last, made.tree.get(PATH), record)
        opened = open_carried(
            carry(URI, made.key.public.did_key, Cid.of(b"", 0x55), proved, made.tree.prove(PATH))
        )
        op = "delete" if record is None else "update" if n else "create"
        last = make_entry(
            last, game=GAME, at=NOW + n, op=op, uri=URI, author=ALICE, record=record, prov=opened.prov
        )  # type: ignore[arg-type]
        found.append(last)
    for rkey in ("x", "y"):
        envelope = sign_record(PLAYER, GAME, MOVES, rkey, {"game": GAME})
        last = make_entry(
            last, game=GAME, at=NOW + 9, op="create", uri=envelope.uri, author=envelope.author,
            record=envelope.record, prov={"sig": envelope.sig} if rkey == "x" else None,
        )  # fmt: skip
        found.append(last)
    return found


def log_file(folder: Path) -> list[str]:
    path, listed = folder / "log.car", entries()
    path.write_bytes(b"".join(log_to_car(listed, listed[-1].cid)))
    return ["--log", str(path)]


@pytest.fixture(params=["a log file", "a node that is stopped", "a node that is up"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Where the log is that is looked into."""
    if request.param == "a log file":
        yield log_file(tmp_path)
        return
    node = create_node(tmp_path / "alma", NODE)
    ledger = node.ledger("ingest")
    ledger.log(GAME).extend(entries())
    if request.param == "a node that is stopped":
        ledger.close()
        yield ["--node", str(node.folder)]
        return
    with ledger:  # its one writer holds it open, as a service does that runs
        yield ["--node", str(node.folder), "--game", GAME]


def test_the_car_proves_each_version_and_the_end_to_a_stranger(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "proof.car"
    for version, text in VERSIONS:
        assert main(["prove", URI, *where, "--out", str(out), "--version", version]) == 0
        told = json.loads(capsys.readouterr().out)
        found = read_proof(out.read_bytes(), ALICE, PATH, parse_did_key(told["key"]))
        assert (None if found.record is None else codec.decode(found.record)["text"]) == text  # type: ignore[index,call-overload]
        assert (told["rev"], told["grade"]) == (found.commit.rev, "proved-now")
        assert (told["version"], told["versions"]) == (int(version), 3)


def test_without_a_version_the_newest_is_proved(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", URI, *where, "--out", str(tmp_path / "proof.car")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["op"], told["cid"], told["version"]) == ("delete", None, 2)


def test_the_car_of_a_record_that_a_did_key_signed_holds_its_envelope(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "proof.car"
    assert main(["prove", f"at://{PLAYER.did}/{MOVES}/x", *where, "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    reader = CarReader([out.read_bytes()])
    blocks = {block.cid: block.data for block in reader.blocks()}
    envelope = open_envelope(blocks[reader.roots[0]])
    assert (told["key"], told["cid"]) == (PLAYER.did, str(envelope.cid))


@pytest.mark.parametrize(
    ("uri", "more", "code"),
    [
        pytest.param(URI + "z", [], "nothing-to-prove", id="a record that is not listed"),
        pytest.param(URI, ["--version", "3"], "nothing-to-prove", id="a version too many"),
        pytest.param(URI, ["--version", "-1"], "nothing-to-prove", id="a version before the first"),
        pytest.param(f"at://{PLAYER.did}/{MOVES}/y", [], "nothing-to-prove", id="an entry with no proof"),
        pytest.param(f"at://{ALICE}", [], "bad-at-uri", id="no uri of a record"),
        pytest.param("https://delve.example/a", [], "bad-at-uri", id="no at-uri"),
    ],
)
def test_what_cannot_be_proved_is_refused_and_nothing_is_written(
    where: list[str], uri: str, more: list[str], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "proof.car"
    assert main(["prove", uri, *where, "--out", str(out), *more]) == 2
    assert code in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param([], "ledger-missing", id="a node that has never run"),
        pytest.param(["--game", URI], "no-such-game", id="a game that is not the node's"),
    ],
)
def test_a_node_that_holds_no_such_log_is_refused(
    more: list[str], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node, out = create_node(tmp_path / "alma", NODE), tmp_path / "proof.car"
    assert main(["prove", URI, "--node", str(node.folder), "--out", str(out), *more]) != 0
    assert code in capsys.readouterr().err
    assert not out.exists()
