"""`game new`, `move` and `sheet`: held against the Lexicon, then published to a PDS or printed as an envelope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from atproto_commands import FITS, GAME, GM, LISTER, MOVE, ROOT, ROOT_FITS, SHEET, Shell, outside
from atproto_helping import code_of
from repo_making import ALICE
from weighbridge.errors import Refused
from weighbridge.identity import envelope_from_json
from weighbridge.identity.envelope import verify_envelope
from weighbridge.identity.syntax import is_tid, parse_record_uri
from weighbridge.repos import Signer

pytest.importorskip("weighbridge_delvetown", reason="the rule set that records are held against")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with outside(1) as at:
        at.hosts[0].member(GM, 3)
        at.hosts[0].member(ALICE, 5)
        yield Shell(at, tmp_path)


def test_a_game_is_begun_and_played_in_repositories(shell: Shell, capsys: pytest.CaptureFixture[str]):
    assert shell.run("game", "new", ROOT, shell.record(**ROOT_FITS), "--rkey", "one", account=GM) == 0
    assert shell.run("sheet", GAME, shell.record(**FITS), account=ALICE) == 0
    join = shell.record(kind="join", crew=f"at://{ALICE}/town.delve.crew/lamps")
    assert shell.run("move", GAME, join, "--rkey", "a", account=ALICE) == 0
    said = capsys.readouterr()
    published = [json.loads(line) for line in said.out.splitlines()]
    assert [each["uri"] for each in published] == [
        GAME, f"at://{ALICE}/{SHEET}/self", f"at://{ALICE}/{MOVE}/a",
    ]  # fmt: skip
    assert "does not fit" not in said.err
    made = shell.at.hosts[0].repos[ALICE]
    assert sorted(path for path, _ in made.tree.items()) == [f"{MOVE}/a", f"{SHEET}/self"]


def test_without_a_record_key_the_pds_or_the_time_makes_one(shell: Shell, capsys: pytest.CaptureFixture[str]):
    join = shell.record(kind="join", crew=f"at://{ALICE}/town.delve.crew/lamps")
    assert shell.run("move", GAME, join, account=ALICE) == 0
    assert json.loads(capsys.readouterr().out)["uri"] == f"at://{ALICE}/{MOVE}/generated"
    key = shell.secret("key", "07" * 32)
    assert shell.run("move", GAME, join, "--key", key) == 0
    assert is_tid(json.loads(capsys.readouterr().out)["rkey"])


@pytest.mark.parametrize("what", ["move", "sheet", "root"])
def test_a_record_is_signed_as_an_envelope_instead(
    what: str, shell: Shell, capsys: pytest.CaptureFixture[str]
):
    key, signer = shell.secret("key", "07" * 32 + "\n"), Signer(bytes([7] * 32))
    game = f"at://{signer.did}/{ROOT}/one"
    if what == "root":
        record = shell.record(**{**ROOT_FITS, "gm": signer.did})
        assert shell.run("game", "new", ROOT, record, "--rkey", "one", "--key", key) == 0
    elif what == "sheet":
        assert shell.run("sheet", game, shell.record(**FITS), "--key", key) == 0
    else:
        crew = f"at://{signer.did}/town.delve.crew/lamps"
        assert shell.run("move", game, shell.record(kind="join", crew=crew), "--rkey", "a", "--key", key) == 0
    envelope = envelope_from_json(json.loads(capsys.readouterr().out))
    verify_envelope(envelope)
    assert (envelope.author, envelope.game) == (signer.did, game)
    assert parse_record_uri(envelope.uri).rkey == {"root": "one", "sheet": "self", "move": "a"}[what]


def test_a_record_that_does_not_fit_is_not_published_and_every_problem_has_its_path(shell: Shell):
    bad = shell.record(**{**FITS, "abilities": "none", "look": 5})
    for way in ({"account": ALICE}, {}):
        more = [] if way else ["--key", shell.secret("key", "07" * 32)]
        with pytest.raises(Exception, match=r"\$\.look.*") as refused:
            shell.run("sheet", GAME, bad, *more, **way)  # type: ignore[arg-type]
        assert refused.value.code == "bad-record-shape"  # type: ignore[attr-defined]
        assert "$.abilities" in str(refused.value)
    assert shell.at.hosts[0].repos[ALICE].last is None
    unopened = shell.record(gm=GM, lister="nobody", policy={"dids": [], "quorum": 0})
    assert code_of(lambda: shell.run("game", "new", ROOT, unopened, account=GM)) == "bad-record-shape"
    other = shell.record(kind="join")
    strange = ("move", GAME, other, "--collection", "town.delve.strange")
    assert code_of(lambda: shell.run(*strange, account=ALICE)) == "bad-record-shape"


def test_forced_it_is_published_and_said_what_does_not_fit(shell: Shell, capsys: pytest.CaptureFixture[str]):
    bad = shell.record(**{**FITS, "look": 5})
    assert shell.run("sheet", GAME, bad, "--force", account=ALICE) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["uri"] == f"at://{ALICE}/{SHEET}/self"
    assert "although it does not fit: $.look" in said.err


def test_a_field_that_nobody_knows_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]):
    assert shell.run("sheet", GAME, shell.record(**FITS, mood="grim"), account=ALICE) == 0
    assert "$.mood: a field that nobody knows" in capsys.readouterr().err


def test_where_the_rule_set_is_not_installed_it_is_said_that_nothing_was_checked(
    shell: Shell, capsys: pytest.CaptureFixture[str]
):
    game = f"at://{GM}/example.unheard.root/one"
    assert shell.run("move", game, shell.record(kind="join"), account=ALICE) == 0
    assert "not held against any rule set: no rule set that is installed here" in capsys.readouterr().err
    named = ("move", game, shell.record(kind="join"), "--ruleset", "unheard")
    assert code_of(lambda: shell.run(*named, account=ALICE)) == "plugin-unknown"


def test_what_is_weak_in_a_root_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]):
    dids = [LISTER, *(Signer(bytes([number] * 32)).did for number in (8, 9))]
    weak = {**ROOT_FITS, "policy": {"dids": dids, "quorum": 2}}
    assert shell.run("game", "new", ROOT, shell.record(**weak), account=GM) == 0
    assert "$.policy.quorum: 2 of 3: one dishonest member" in capsys.readouterr().err
    assert shell.run("game", "new", ROOT, shell.record(gm=GM), "--rkey", "two", account=GM) == 0
    assert "nobody is named who lists this game" in capsys.readouterr().err


def test_where_a_record_stands_already_none_is_published_over_it(shell: Shell):
    assert shell.run("sheet", GAME, shell.record(**FITS), account=ALICE) == 0
    before = shell.at.hosts[0].repos[ALICE].last
    again = shell.record(**{**FITS, "name": "M"})
    assert code_of(lambda: shell.run("sheet", GAME, again, account=ALICE)) == "not-published"
    assert shell.at.hosts[0].repos[ALICE].last == before


def test_what_cannot_be_published_is_refused_by_what_is_wrong(shell: Shell, tmp_path: Path):
    good = shell.record(kind="join", crew=f"at://{ALICE}/town.delve.crew/lamps")
    key = shell.secret("key", "07" * 32)
    (tmp_path / "no.json").write_text("[1.5]")
    (tmp_path / "list.json").write_text("[1]")
    for arguments in (
        ["move", GAME, tmp_path / "no.json", "--key", key],
        ["move", GAME, tmp_path / "list.json", "--key", key],
        ["move", GAME, tmp_path / "nowhere.json", "--key", key],
    ):
        assert code_of(lambda arguments=arguments: shell.run(*arguments)) == "bad-record-file"  # type: ignore[misc]
    for arguments in (
        ["move", GAME, good],
        ["move", GAME, good, "--host", "https://pds.delve.town"],
        ["move", GAME, good, "--key", key, "--host", "https://pds.delve.town"],
        ["move", GAME, good, "--key", key, "--rkey", "a b"],
        ["game", "new", "nothing", good, "--key", key],
    ):
        assert code_of(lambda arguments=arguments: shell.run(*arguments)) == "bad-arguments"  # type: ignore[misc]
    for fields in ({"game": GAME + "x"}, {"$type": SHEET}):
        other = shell.record(kind="join", **fields)
        published = ("move", GAME, other)
        assert code_of(lambda it=published: shell.run(*it, account=ALICE)) == "bad-record-file"  # type: ignore[misc]


@pytest.mark.parametrize("gm", ["gm.delve.town", None, ALICE])
@pytest.mark.parametrize("root", [ROOT, "example.unheard.root"])
@pytest.mark.parametrize("way", ["account", "key"])
def test_a_root_whose_gm_is_not_who_publishes_it_is_published_by_force_only(
    gm: str | None, root: str, way: str, shell: Shell, capsys: pytest.CaptureFixture[str]
):
    fields = {name: value for name, value in {**ROOT_FITS, "gm": gm}.items() if value is not None}
    command: list[object] = ["game", "new", root, shell.record(**fields), "--rkey", "one"]
    if way == "key":
        command += ["--key", shell.secret("key", "07" * 32)]
    account = GM if way == "account" else None
    with pytest.raises(Refused, match=r"\$\.gm: ") as refused:
        shell.run(*command, account=account)
    assert refused.value.code == "bad-record-shape"
    assert capsys.readouterr().out == ""
    assert shell.at.hosts[0].repos[GM].last is None
    assert shell.run(*command, "--force", account=account) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)
    assert "although it does not fit: $.gm: " in said.err


@pytest.mark.parametrize("text", ["nothing", ""])
def test_a_key_file_that_holds_no_key_is_said(text: str, shell: Shell):
    key = shell.secret("key", text)
    with pytest.raises(Refused, match="key"):
        shell.run("sheet", GAME, shell.record(**FITS), "--key", key)
    good = shell.secret("key", "07" * 32)
    good.chmod(0o644)
    with pytest.raises(Refused, match="chmod 600"):
        shell.run("sheet", GAME, shell.record(**FITS), "--key", good)


def test_a_wrong_password_is_said_in_the_pds_s_words(shell: Shell):
    shell.secret("password", "wrong")
    with pytest.raises(Exception, match="401") as refused:
        shell.run("sheet", GAME, shell.record(**FITS), account=ALICE)
    assert refused.value.code == "not-published"  # type: ignore[attr-defined]


def test_a_lister_s_did_is_the_same_in_the_root_that_is_published(shell: Shell):
    assert shell.run("game", "new", ROOT, shell.record(**ROOT_FITS), "--rkey", "one", account=GM) == 0
    made = shell.at.hosts[0].repos[GM]
    assert LISTER.encode() in made.records[made.tree.get(f"{ROOT}/one")]  # type: ignore[index]
