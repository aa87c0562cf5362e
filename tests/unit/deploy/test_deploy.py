from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from simple_yaml import load
from vectors_root import REPOSITORY
from weighbridge_services import cli
from weighbridge_services.broker.rights import operator_rights, player_rights
from weighbridge_services.broker.server import NoBrokerBinary, binary
from weighbridge_services.commands.broker import BadUser
from weighbridge_services.failures import EXIT, INTERRUPTED
from weighbridge_services.service import names, port_of
from weighbridge_services.subjects import token

DEPLOY = REPOSITORY / "deploy"
NATS = DEPLOY / "nats"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PARTS = ("nats", "streams")
"""What compose.yaml runs beside the services: the broker, and the command that declares the streams."""


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return load((REPOSITORY / "compose.yaml").read_text())


def parsed(arguments: list[str]) -> Any:
    return cli.parser(arguments).parse_args(arguments)


# --- compose.yaml ------------------------------------------------------------------------------------------------


def test_compose_runs_every_service_once_and_each_in_a_process_of_its_own(compose: dict[str, Any]) -> None:
    ran = {name: parsed(each["command"]) for name, each in compose["services"].items() if name not in PARTS}
    assert sorted(ran) == names()
    assert {name: each.service for name, each in ran.items()} == {name: name for name in names()}


def test_compose_declares_streams_before_any_service_and_after_the_broker(compose: dict[str, Any]) -> None:
    services = compose["services"]
    streams = parsed(services["streams"]["command"])
    assert streams.run.__name__ == "streams"
    assert services["streams"]["depends_on"] == {"nats": {"condition": "service_healthy"}}
    for name in names():
        assert services[name]["depends_on"] == {"streams": {"condition": "service_completed_successfully"}}


def test_compose_has_one_image_and_nodes_in_one_place(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {each["image"] for each in services.values()} == {"weighbridge"}
    assert (REPOSITORY / services["ingest"]["build"]["dockerfile"]).is_file()
    folders = {str(parsed(each["command"]).node) for name, each in services.items() if name != "nats"}
    assert folders == {"/node/self"}


def test_compose_gives_the_broker_its_configuration_and_keeps_its_data(compose: dict[str, Any]) -> None:
    nats = compose["services"]["nats"]
    assert nats["command"] == ["-c", "/etc/weighbridge/nats.conf"]
    assert "./deploy/nats:/etc/weighbridge:ro" in nats["volumes"]
    assert "broker:/broker" in nats["volumes"]
    assert "broker" in compose["volumes"]
    assert 'store_dir: "/broker"' in (NATS / "nats.conf").read_text()


def test_compose_asks_for_no_file_that_the_way_there_does_not_make(compose: dict[str, Any]) -> None:
    assert [name for name, each in compose["services"].items() if "env_file" in each] == []
    included = re.findall(r'^include "(.+)"', (NATS / "nats.conf").read_text(), re.MULTILINE)
    assert included == ["passwords.conf"]
    assert f"deploy/nats/{included[0]}.example" in (DEPLOY / "README.md").read_text()


@pytest.mark.parametrize("text", ["a:\n    b: 1\n  c: 2", "a: 1\na: 2", "just words", "a: [1, {b: 2}]"])
def test_what_the_reader_of_compose_does_not_know_it_refuses(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        load(text)


# --- nats.conf ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nats", "hub"])
def test_the_broker_takes_the_example_configurations(name: str, tmp_path: Path) -> None:
    try:
        program = binary()
    except NoBrokerBinary as error:
        pytest.skip(error.message)
    for path in NATS.glob("*.conf*"):
        shutil.copy(path, tmp_path / path.name.removesuffix(".example"))
    done = subprocess.run(
        [program, "-t", "-c", tmp_path / f"{name}.conf"], capture_output=True, text=True, check=False
    )
    assert "is valid" in done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["nats", "hub"])
def test_the_rights_in_the_examples_are_those_that_nodes_need_today(name: str) -> None:
    text = (NATS / f"{name}.conf").read_text()
    users = re.findall(
        r"# (did:key:\w+|the players)\n.*?user: \"(\w+)\".*?permissions: ({.*?\n {8}})", text, re.S
    )
    assert len(users) >= 2
    (game,) = {GAMES[name]}
    for did, login, rights in users:
        wanted = player_rights() if did == "the players" else operator_rights(did, [game])
        assert json.loads(rights) == wanted
        assert login == ("player" if did == "the players" else token(did))


GAMES = dict.fromkeys(
    ("nats", "hub"),
    "at://did:key:z6Mkj47LJQAxm1oyRo3nim5oceJE8GzuAHUUE71cx62o1mVC/town.delve.root/demo-2023",
)


def test_no_password_is_part_of_the_repository() -> None:
    assert not list(NATS.glob("*passwords.conf"))
    assert "*passwords.conf" in (NATS / ".gitignore").read_text().split()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--did", "alma", "--game", "at://x"], "no DID"),
        (["--did", "did:key:z6MkvqEyb7mTfsd13R8i7yKKdoZi31nThAfL9fjj9QhZtA88"], "at least one --game"),
        (["--did", "did:key:z6MkvqEyb7mTfsd13R8i7yKKdoZi31nThAfL9fjj9QhZtA88", "--game", "x"], "at-uri"),
        (["--players", "--password", "1 A"], "name of a variable"),
    ],
    ids=["no DID", "no game", "a game that is none", "no variable"],
)
def test_a_user_cannot_be_made_of(arguments: list[str], says: str) -> None:
    args = parsed(["broker", "user", *arguments])
    with pytest.raises(BadUser, match=says):
        args.run(args)


# --- systemd -----------------------------------------------------------------------------------------------------


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text())
    return parser


def commands_of(path: Path) -> list[list[str]]:
    lines = [value for key, value in unit(path)["Service"].items() if key.startswith("ExecStart")]
    return [line.replace("%i", "ingest").split() for line in lines]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_runs_commands_that_there_are(path: Path) -> None:
    for words in commands_of(path):
        if words[0].endswith("/bin/weighbridge"):
            assert parsed(words[1:]).run is not None


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_runs_without_rights_that_it_does_not_need(path: Path) -> None:
    service = unit(path)["Service"]
    assert service["User"] != "root"
    assert service["NoNewPrivileges"] == "true"
    assert service["ProtectSystem"] == "strict"
    assert service["StateDirectoryMode"] == "0700"


def test_refused_input_and_broken_state_are_not_started_again_and_again() -> None:
    for name in ("weighbridge.service", "weighbridge@.service"):
        assert unit(DEPLOY / "systemd" / name)["Service"]["RestartPreventExitStatus"] == "2 4"


def test_the_units_name_every_service() -> None:
    text = (DEPLOY / "systemd" / "weighbridge@.service").read_text()
    (listed,) = re.findall(r"for s in ([\w -]+); do", text)
    assert sorted(listed.split()) == names()


def test_systemd_has_nothing_to_say_about_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    for path in (DEPLOY / "systemd").iterdir():
        text = path.read_text().replace("/opt/weighbridge/bin/weighbridge", "/bin/true")
        (tmp_path / path.name).write_text(text.replace("/opt/weighbridge/bin/nats-server", "/bin/true"))
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stderr.splitlines() if str(tmp_path) in line or "weighbridge" in line] == []


# --- the image ---------------------------------------------------------------------------------------------------


def test_the_image_is_made_of_locked_packages_and_this_repository_alone() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    installs = re.findall(r"pip install ([^\n]*)", text)
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert "requirements.lock" in installs[0]
    assert "--no-index" in installs[1]
    assert all((REPOSITORY / folder).is_dir() for folder in ("shared", "services", "plugins"))
    assert "USER weighbridge" in text


def test_the_ports_of_services_are_as_the_readme_says() -> None:
    text = (NATS.parent / "README.md").read_text()
    (row,) = re.findall(r"^\| the node \|(.+)\|$", text, re.MULTILINE)
    assert [each.strip() for each in row.split("|")] == names()
    assert [port_of(name, 9_100) for name in names()] == list(range(9_101, 9_101 + len(names())))
    assert port_of(names()[0], 0) == 0


# --- exit codes --------------------------------------------------------------------------------------------------


def test_the_table_of_exit_codes_says_what_every_kind_of_failure_ends_with() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+)", (DEPLOY / "README.md").read_text(), re.MULTILINE)
    told = {int(code): word for code, word in rows}
    assert {told[code]: code for code in EXIT.values()} == EXIT
    assert sorted(told) == sorted([0, 1, *EXIT.values(), INTERRUPTED])


def test_what_does_not_mend_itself_is_not_started_again() -> None:
    for path in UNITS:
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.read(path)
        if (
            unit["Service"].get("Restart") == "on-failure"
            and "/bin/weighbridge" in unit["Service"]["ExecStart"]
        ):
            lasting = unit["Service"]["RestartPreventExitStatus"].split()
            assert lasting == [str(EXIT["refused"]), str(EXIT["broken"])], path.name
