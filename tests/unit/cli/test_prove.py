"""`weighbridge prove`: the CAR that a log gives for a record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repo_making import ALICE, MOVES, NOW, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import Signer, sign_record
from weighbridge.log.entries import Listed, make_entry
from weighbridge.logfile import log_to_car
from weighbridge.repos import Proved, carry, open_carried, parse_did_key, read_proof
from weighbridge_services.cli import main

GAME = f"at://{ALICE}/town.delve.root/one"
PATH = f"{MOVES}/a"
URI = f"at://{ALICE}/{PATH}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that lists a record of a repository, its end, and one in an envelope."""
    made, last, entries = Made(), None, list[Listed]()
    for n, value in enumerate(({"game": GAME, "text": "north"}, None)):
        made.commit({PATH: value})
        assert made.last is not None
        record = None if value is None else codec.encode(value)
        proved = Proved(made.last, made.tree.get(PATH), record)
        opened = open_carried(
            carry(URI, made.key.public.did_key, Cid.of(b"", 0x55), proved, made.tree.prove(PATH))
        )
        op = "create" if record else "delete"
        last = make_entry(
            last, game=GAME, at=NOW + n, op=op, uri=URI, author=ALICE, record=record, prov=opened.prov
        )  # type: ignore[arg-type]
        entries.append(last)
    envelope = sign_record(Signer(b"p" * 32), GAME, MOVES, "x", {"game": GAME})
    entries.append(
        make_entry(
            last, game=GAME, at=NOW + 9, op="create", uri=envelope.uri, author=envelope.author,
            record=envelope.record, prov={"sig": envelope.sig},
        )
    )  # fmt: skip
    path = tmp_path / "log.car"
    path.write_bytes(b"".join(log_to_car(entries, entries[-1].cid)))
    return path


def test_the_car_proves_the_record_and_its_end_to_a_stranger(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "proof.car"
    for version, text in (("0", "north"), ("1", None)):
        assert main(["prove", URI, "--log", str(log), "--out", str(out), "--version", version]) == 0
        told = json.loads(capsys.readouterr().out)
        found = read_proof(out.read_bytes(), ALICE, PATH, parse_did_key(told["key"]))
        assert (None if found.record is None else codec.decode(found.record)["text"]) == text  # type: ignore[index,call-overload]
        assert (told["rev"], told["grade"]) == (found.commit.rev, "proved-now")


def test_what_has_no_proof_of_a_repository_is_refused(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "proof.car")
    other = f"at://{Signer(b'p' * 32).did}/{MOVES}/x"
    for uri, more in ((URI + "z", []), (URI, ["--version", "2"]), (other, [])):
        assert main(["prove", uri, "--log", str(log), "--out", out, *more]) == 2
        assert "nothing-to-prove" in capsys.readouterr().err
    assert not Path(out).exists()
