"""A configuration says every mistake at once, each with its path."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge_services.config import BadConfig, NoNode, config_of, read_config
from weighbridge_services.example import example

URI = "at://did:plc:z72i7hdynmk6r22z27h6tvur/network.weighbridge.game/one"
NAMED = '[node]\nname = "alma"\n'
GAME = f'[[games]]\nuri = "{URI}"\nrole = "lister"\nruleset = "coin"\n'


def problems(text: str) -> list[str]:
    """The paths at which a configuration is wrong."""
    with pytest.raises(BadConfig) as caught:
        config_of(text)
    found = caught.value.detail["problems"]
    assert isinstance(found, list)
    assert all(path and sentence and sentence in caught.value.message for path, sentence in found)
    return [path for path, _ in found]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("", ["node"], id="nothing"),
        pytest.param("x =", ["the file"], id="no TOML"),
        pytest.param("node = 3", ["node"], id="a number for a table"),
        pytest.param("[node]", ["node.name"], id="no name"),
        pytest.param(
            '[node]\nname = 7\nclok = "x"', ["node.clok", "node.name"], id="a wrong type and an unknown key"
        ),
        pytest.param('[node]\nname = "a b"', ["node.name"], id="a name that cannot name a key"),
        pytest.param('[node]\nname = "a"\nclock = "sun"', ["node.clock"], id="a clock nobody has"),
        pytest.param(
            '[node]\nname = "a"\n[broker]\nkind = "urll"', ["broker.kind"], id="a broker of no kind"
        ),
        pytest.param(NAMED + "[broker]\nport = 70000", ["broker.port"], id="a port beyond all ports"),
        pytest.param(NAMED + '[broker]\nkind = "url"', ["broker.url"], id="a broker nowhere"),
        pytest.param(
            NAMED + '[broker]\nkind = "url"\nurl = "http://x"',
            ["broker.url"],
            id="an address that is not of NATS",
        ),
        pytest.param(
            NAMED + '[broker]\nurl = "nats://x"', ["broker.url"], id="an address for an embedded broker"
        ),
        pytest.param(NAMED + '[broker]\nsync-interval = "often"', ["broker.sync-interval"], id="no interval"),
        pytest.param(NAMED + '[broker]\ndomain = "a.b"', ["broker.domain"], id="a domain with a dot"),
        pytest.param(
            NAMED + "[[broker.operators]]",
            ["broker.operators[0].did", "broker.operators[0].password-file"],
            id="an empty operator",
        ),
        pytest.param(NAMED + "[games]", ["games"], id="one table for a list of tables"),
        pytest.param(
            NAMED + "[[games]]", ["games[0].uri", "games[0].role", "games[0].ruleset"], id="an empty game"
        ),
        pytest.param(NAMED + GAME + GAME, ["games[1].uri"], id="a game twice"),
        pytest.param(NAMED + GAME.replace("lister", "follower"), ["games[0].lister"], id="following nobody"),
        pytest.param(NAMED + GAME.replace("at://", "http://"), ["games[0].uri"], id="no at-uri"),
        pytest.param(
            NAMED + GAME.replace('"lister"', '"follower"\nlister = "alma"'), ["games[0].lister"], id="no DID"
        ),
        pytest.param(
            NAMED + GAME.replace('"lister"', '"follower"\nlister = "did:key:z6Mkzzz"'),
            ["games[0].lister"],
            id="a did:key that is cut off",
        ),
        pytest.param(NAMED + GAME + 'lister = "did:plc:b"', ["games[0].lister"], id="a lister that follows"),
        pytest.param(
            NAMED + GAME + "withheld-after = 0", ["games[0].withheld-after"], id="no time to list in"
        ),
        pytest.param(
            NAMED + GAME + '[[games.peers]]\ndid = "did:plc:b"\ndomain = "a b"',
            ["games[0].peers[0].domain"],
            id="no domain of a peer",
        ),
        pytest.param(
            NAMED + "[plugins]\nrulesets = [3]", ["plugins.rulesets[0]"], id="a number in a list of names"
        ),
        pytest.param(NAMED + "[log]\nformat = 3\n[moon]", ["moon", "log.format"], id="several at once"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(text: str, paths: list[str]) -> None:
    assert sorted(problems(text)) == sorted(paths)


def test_a_near_miss_is_told() -> None:
    with pytest.raises(BadConfig, match="did you mean 'sync-interval'"):
        config_of(NAMED + '[broker]\nsync_interval = "1s"')


def test_the_table_of_a_tracer_that_is_misspelt_is_told_and_that_of_one_not_in_use_may_stay() -> None:
    with pytest.raises(
        BadConfig, match=r"games\[0\]\.traces\.dictatd is no tracer .*; did you mean 'dictated'"
    ):
        config_of(NAMED + '[plugins]\ntracers = ["dictated"]\n' + GAME + "[games.traces.dictatd]\n")
    assert config_of(NAMED + '[plugins]\ntracers = ["form"]\n' + GAME + "[games.traces.dictated]\n").games


def test_settings_of_a_source_whose_plugin_is_misspelt_are_told() -> None:
    source = '[games.source]\nroot = "r"\nplugn = "firehose"\nhost = "https://a.example"\n'
    with pytest.raises(BadConfig) as refused:
        config_of(NAMED + GAME + source)
    assert refused.value.detail["problems"] == [
        ("games[0].source.plugn", "is no setting where no source is named; did you mean 'plugin'?"),
        ("games[0].source.host", "is no setting where no source is named; `plugin` names whose it is"),
    ]
    assert config_of(NAMED + GAME + source.replace("plugn", "plugin")).games


def test_a_whole_configuration_is_read() -> None:
    config = config_of(
        NAMED + GAME + '[[games.peers]]\ndid = "did:plc:b"\ndomain = "b"\n[games.source]\nroot = "x"\n'
    )
    assert config.games[0].peers[0].domain == "b"
    assert config.games[0].source == {"root": "x"}
    assert (config.broker.kind, config.broker.port, config.test.crash) == ("embedded", 4222, False)


@pytest.mark.parametrize("game", [None, URI])
@pytest.mark.parametrize("url", [None, "nats://localhost:4222"])
@pytest.mark.parametrize("recorded", [False, True])
def test_the_example_is_a_configuration(game: str | None, url: str | None, recorded: bool) -> None:
    text = example("alma", game=game, ruleset="coin", url=url, recorded=recorded, http=8422)
    config = config_of(text)
    assert config.node.clock == ("recorded" if recorded else "system")
    assert [each.uri for each in config.games] == ([game] if game else [])
    assert config.broker.url == url


def test_every_setting_that_the_example_shows_behind_a_hash_is_one() -> None:
    """What is commented out there must work when it is not any more."""
    shown = example("alma", game=URI, ruleset="coin")
    lines = []
    for line in shown.splitlines():
        setting = line.removeprefix("# ")
        commented = line.startswith("# ") and (" = " in setting or setting.startswith("["))
        lines.append(setting.replace("…", "a") if commented else line)
    text = (
        "\n".join(lines).replace('"did:key:a"', '"did:plc:a"').replace('role = "lister"', 'role = "follower"')
    )
    config = config_of(text)
    assert config.broker.leaf.port == 7422
    assert config.games[0].peers[0].domain == "bela"


def test_a_name_with_quotes_cannot_write_settings_of_its_own() -> None:
    with pytest.raises(BadConfig, match=r"node\.name"):
        config_of(example('alma"\nclock = "recorded'))


def test_a_folder_without_a_configuration_is_no_node(tmp_path: Path) -> None:
    with pytest.raises(NoNode, match="node init"):
        read_config(tmp_path)


def test_a_file_in_another_encoding_is_said_to_be_that(tmp_path: Path) -> None:
    (tmp_path / "weighbridge.toml").write_bytes(b'[node]\nname = "\xff"')
    with pytest.raises(BadConfig, match="UTF-8"):
        read_config(tmp_path)


WORDS = st.sampled_from(["node", "name", "broker", "port", "games", "uri", "peers", "did", "x"])
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)


@given(
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
        max_leaves=12,
    )
)
def test_no_table_makes_anything_but_a_configuration_or_problems(value: object) -> None:
    from weighbridge.settings import problems_of  # noqa: PLC0415
    from weighbridge_services.config import Config  # noqa: PLC0415

    for path, sentence in problems_of(value, Config):
        assert path
        assert sentence


def test_a_word_that_is_none_of_those_allowed_is_told_with_them_and_the_nearest() -> None:
    with pytest.raises(BadConfig) as caught:
        config_of('[node]\nname = "a"\n[broker]\nkind = "urll"\n')
    assert "one of embedded, url; did you mean 'url'?" in caught.value.message
