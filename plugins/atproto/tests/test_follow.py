"""`game follow`: from the at-uri alone to who runs and plays a game, to its records, and to a node that keeps up."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from atproto_commands import FITS, GAME, GM, LISTER, MOVE, ROOT, ROOT_FITS, SHEET, Shell, outside
from atproto_helping import code_of
from repo_making import ALICE, BOB
from weighbridge.identity import Signer
from weighbridge.plugins import Plugins
from weighbridge.ports import LocalChain, Unavailable, chain_value
from weighbridge_atproto.players import Player
from weighbridge_atproto_tools.shown import table
from weighbridge_services.node import Node

pytest.importorskip("weighbridge_delvetown", reason="the rule set of the game that is followed")
OTHER = Signer(bytes([9] * 32)).did
URL = "nats://lister.delve.town:4222"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with outside(2) as at:
        at.hosts[0].member(GM, 3)
        at.hosts[0].member(ALICE, 5)
        at.hosts[1].member(BOB, 7)
        yield Shell(at, tmp_path)


def begun(shell: Shell, **root: Any) -> None:
    """The root at the GM's, a sheet on each host."""
    at = shell.at
    at.commit(0, at.hosts[0].repos[GM], {f"{ROOT}/one": {"$type": ROOT, **ROOT_FITS, **root}})
    for number, did in ((0, ALICE), (1, BOB)):
        sheet = {"$type": SHEET, "game": GAME, **FITS}
        at.commit(number, at.hosts[number].repos[did], {f"{SHEET}/self": sheet})


def follow(shell: Shell, *arguments: object, game: str = GAME) -> int:
    more = ["--relay", shell.at.relay.url] if "--no-relay" not in arguments else []
    return shell.run("game", "follow", game, *more, *arguments)


def lines_of(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_who_runs_and_plays_a_game_is_found_from_its_at_uri_and_its_records_are_printed(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    begun(shell)
    assert follow(shell, "--folder", tmp_path, "--count", 3, "--json") == 0
    said = capsys.readouterr()
    head, found, *lines = lines_of(said.out)
    assert (head["game"], head["gm"], head["lister"]) == (GAME, GM, LISTER)
    assert {each["did"]: (each["state"], each["records"]) for each in found["players"]} == {
        GM: ("plays", 1), ALICE: ("plays", 1), BOB: ("plays", 1),
    }  # fmt: skip
    assert sorted(line["uri"] for line in lines) == sorted(
        [GAME, f"at://{ALICE}/{SHEET}/self", f"at://{BOB}/{SHEET}/self"]
    )
    assert f"weighbridge: asking {shell.at.relay.url} for {MOVE}" in said.err


@pytest.mark.parametrize("count", ["0", "-2", "1.5", "many", "", "9" * 19, "9" * 5000, "१"])
def test_a_number_of_records_that_is_none_is_refused_before_anybody_is_asked(
    count: str, shell: Shell, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        follow(shell, f"--count={count}")
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "argument --count: " in said.err
    assert "is no number of records: a whole number from 1 on" in said.err


def test_a_person_reads_it_as_lines_and_a_table(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    begun(shell)
    assert follow(shell, "--folder", tmp_path, "--count", 3) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"game    {GAME}", f"gm      {GM}", f"lister  {LISTER}"]
    assert lines[3].startswith('policy  {"dids": [')
    table = [line.split() for line in lines[4:8]]
    assert table[0] == ["account", "handle", "host", "records", "state"]
    host = shell.at.hosts[1].url.partition("://")[2]
    assert [BOB, "alice.delve.town", "(not", "verified)", host, "1", "plays"] in table
    assert sorted(line.split()[0] for line in lines[8:]) == sorted(
        [GAME, f"at://{ALICE}/{SHEET}/self", f"at://{BOB}/{SHEET}/self"]
    )


def test_of_those_that_do_not_play_a_few_are_shown_and_the_rest_counted():
    players = [Player(BOB, "plays", "https://pds.delve.town", 2, "bob.delve.town", True)]
    players += [Player(f"did:plc:{number}", "did-gone") for number in range(25)]
    players += [Player(f"did:plc:x{number}", "no-records") for number in range(7)]
    lines = table(players)
    assert lines[1].split() == [BOB, "bob.delve.town", "pds.delve.town", "2", "plays"]
    assert len(lines) == 1 + 1 + 20 + 2
    assert lines[-2:] == [
        "5 more that were named could not be looked into",
        "7 more that were named hold no record of this game",
    ]


def test_it_ends_with_who_plays_where_no_more_is_asked_for(shell: Shell, capsys: pytest.CaptureFixture[str]):
    begun(shell)
    assert follow(shell, "--list", "--no-relay", "--repo", BOB, "--json") == 0
    said = capsys.readouterr()
    assert [each["did"] for each in json.loads(said.out.splitlines()[1])["players"]] == sorted(
        [GM, ALICE, BOB]
    )
    assert shell.at.relay.indexes == []


def test_a_game_of_a_rule_set_that_is_not_here_is_looked_at_by_its_family(
    shell: Shell, capsys: pytest.CaptureFixture[str]
):
    game = f"at://{GM}/example.unheard.root/one"
    at = shell.at
    at.commit(0, at.hosts[0].repos[GM], {"example.unheard.root/one": {"gm": GM}})
    at.commit(1, at.hosts[1].repos[BOB], {"example.unheard.move/x": {"game": game}})
    at.commit(1, at.hosts[1].member(ALICE[:-1] + "b", 11), {"example.unheard.odd/x": {"game": game}})
    assert follow(shell, "--list", "--collection", "example.unheard.odd", "--json", game=game) == 0
    said = capsys.readouterr()
    assert "Going by the root's family of collections" in said.err
    assert sum(each["state"] == "plays" for each in json.loads(said.out.splitlines()[1])["players"]) == 3


def test_a_node_is_made_that_follows_the_game(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    beacon = {"margin": 20}
    begun(shell, policy={"dids": [LISTER, OTHER], "quorum": 2}, beacon=beacon)
    folder = tmp_path / "self"
    assert follow(shell, "--node", folder, "--name", "witness.example.org", "--nats", URL) == 0
    node = Node.open(folder)
    (game,) = node.games
    assert (node.name, game.uri, game.role, game.lister) == ("witness.example.org", GAME, "follower", LISTER)
    assert game.ruleset == "delvetown"
    assert [each.did for each in game.peers] == [LISTER, OTHER]
    assert (node.config.broker.kind, node.config.broker.url) == ("url", URL)
    assert node.config.plugins.rulesets == ("delvetown",)
    assert node.config.plugins.sources == ("network",)
    assert node.config.plugins.beacons == ("drand",)
    source = game.source
    assert source["hosts"] == sorted(host.url for host in shell.at.hosts)
    assert source["repos"] == sorted([GM, ALICE, BOB])
    assert source["index"] == shell.at.relay.url
    assert set(source["collections"]) == {"town.delve.crew", MOVE, ROOT, SHEET}
    node.plugins.check()
    said = capsys.readouterr().out
    assert f"weighbridge node up --node {folder}" in said
    assert f"weighbridge broker user --did {node.did} --game {GAME}" in said


def test_its_source_can_be_opened_as_it_stands_in_the_configuration(shell: Shell, tmp_path: Path):
    begun(shell)
    folder = tmp_path / "self"
    assert follow(shell, "--node", folder, "--nats", URL, "--firehose") == 0
    (game,) = Node.open(folder).games
    assert (game.source["host"], game.source["relay"]) == (shell.at.relay.url, True)
    load = Plugins({"weighbridge.sources": ["network"]}).load("weighbridge.sources", "network")
    load({"game": GAME, **game.source}, str(folder))


def test_of_a_private_chain_no_public_relay_is_asked(shell: Shell, tmp_path: Path):
    chain = LocalChain(b"5eed" * 8, 1_700_000_000, 1).chain
    begun(shell, beacon={"chain": chain_value(chain)})
    assert follow(shell, "--node", tmp_path / "self", "--nats", URL) == 0
    assert Node.open(tmp_path / "self").config.plugins.beacons == ()


def test_what_stands_in_a_node_s_way_is_refused_by_its_code_and_leaves_nothing(shell: Shell, tmp_path: Path):
    folder = tmp_path / "self"
    node = ("--node", folder, "--nats", URL)
    at = shell.at
    at.commit(0, at.hosts[0].repos[GM], {"app.other.thing/x": {}})
    assert code_of(lambda: follow(shell, *node)) == "root-absent"

    def root(**fields: Any) -> None:
        at.commit(0, at.hosts[0].repos[GM], {f"{ROOT}/one": {"$type": ROOT, **fields}})

    root(gm=GM)
    assert code_of(lambda: follow(shell, *node)) == "no-lister"
    root(**ROOT_FITS, fold={"name": "unheard"})
    assert code_of(lambda: follow(shell, *node)) == "plugin-unknown"
    root(**ROOT_FITS, fold={"name": "delvetown", "pin": "bafyreigh2akiscaildc"})
    assert code_of(lambda: follow(shell, *node)) == "pin-mismatch"
    root(gm="nobody", lister=LISTER)
    assert code_of(lambda: follow(shell, *node)) == "bad-root"
    root(**ROOT_FITS)
    other = f"at://{GM}/example.unheard.root/one"
    at.commit(0, at.hosts[0].repos[GM], {"example.unheard.root/one": ROOT_FITS})
    assert code_of(lambda: follow(shell, *node, game=other)) == "no-rule-set"
    assert not folder.exists()
    folder.mkdir()
    (folder / "x").write_text("something")
    assert code_of(lambda: follow(shell, *node)) == "folder-in-use"
    assert code_of(lambda: follow(shell, "--node", tmp_path / "b")) == "no-broker-address"
    assert code_of(lambda: follow(shell, "--node", tmp_path / "b", "--nats", "lister")) == "no-broker-address"
    assert code_of(lambda: follow(shell, "--node", tmp_path / "b c", "--nats", URL)) == "bad-operator-name"
    assert not (tmp_path / "b").exists()


def test_a_person_at_a_terminal_is_asked_for_the_nats_server(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun(shell)
    typed = io.StringIO(f"{URL}\n")
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert follow(shell, "--node", tmp_path / "self") == 0
    assert Node.open(tmp_path / "self").config.broker.url == URL


def test_a_gm_whose_host_is_dark_is_said(shell: Shell, tmp_path: Path):
    begun(shell)
    shell.at.hosts[0].dark = True
    with pytest.raises(Unavailable) as dark:
        follow(shell, "--node", tmp_path / "self", "--nats", URL)
    assert dark.value.code == "host-unavailable"


def test_names_that_are_none_are_refused(shell: Shell):
    for wrong in (["--repo", "alice"], ["--collection", "move"]):
        assert code_of(lambda wrong=wrong: follow(shell, *wrong)) == "bad-at-uri"  # type: ignore[misc]
    assert code_of(lambda: follow(shell, game="https://delve.town")) == "bad-at-uri"
