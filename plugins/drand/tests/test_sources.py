"""Opening the sources, and those without a network."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from drand_loopback import DUE, LOCAL, NOW, Clock, run
from weighbridge.ports import QUICKNET, BadBeaconSettings, BeaconNotYet, BeaconSource, BeaconUnavailable
from weighbridge_drand import open_local, open_recorded, open_relays
from weighbridge_drand.settings import PUBLIC, relay_settings

CHAIN = LOCAL.chain
SEED = b"a seed for tests".hex()


def recorded(tmp_path: Path, rounds: list[int], lines: bool = False, now: int = NOW) -> BeaconSource:
    values = [{"round": round, "signature": LOCAL.sign(round).hex(), "source": "here"} for round in rounds]
    path = tmp_path / "beacons.json"
    path.write_text("\n".join(map(json.dumps, values)) if lines else json.dumps(values))
    return open_recorded({"path": str(path)}, Clock(now))


def local(tmp_path: Path, now: int = NOW) -> BeaconSource:
    return open_local({"seed": SEED, "genesis": CHAIN.genesis}, Clock(now))


def full(tmp_path: Path, now: int = NOW) -> BeaconSource:
    return recorded(tmp_path, list(range(1, 60)), now=now)


OFFLINE = pytest.mark.parametrize("opened", [full, local], ids=["file", "local"])
Opened = Callable[..., BeaconSource]


def test_the_three_are_found_as_plugins() -> None:
    found = {point.name: point.load() for point in entry_points(group="weighbridge.beacons")}

    assert (found["drand"], found["file"], found["local"]) == (open_relays, open_recorded, open_local)


@OFFLINE
def test_a_round_that_is_due_comes_verified(tmp_path: Path, opened: Opened) -> None:
    beacon = run(opened(tmp_path).fetch(CHAIN, 50))

    assert (beacon.round, beacon.signature) == (50, LOCAL.sign(50))


@OFFLINE
def test_no_source_gives_a_round_before_it_is_due(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(BeaconNotYet):
        run(opened(tmp_path, now=DUE - 1).fetch(CHAIN, 50))
    assert run(opened(tmp_path, now=DUE).fetch(CHAIN, 50)).round == 50


@OFFLINE
def test_the_latest_is_the_newest_round_that_is_due(tmp_path: Path, opened: Opened) -> None:
    assert run(opened(tmp_path, now=DUE - 1).latest(CHAIN)).round == 49


@OFFLINE
def test_before_the_genesis_there_is_no_latest(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(BeaconUnavailable):
        run(opened(tmp_path, now=CHAIN.genesis * 1_000_000 - 1).latest(CHAIN))


@OFFLINE
def test_another_chain_is_not_there(tmp_path: Path, opened: Opened) -> None:
    with pytest.raises(BeaconUnavailable):
        run(opened(tmp_path).fetch(QUICKNET, 50))


def test_a_file_may_hold_a_beacon_a_line(tmp_path: Path) -> None:
    assert run(recorded(tmp_path, [7, 50], lines=True).fetch(CHAIN, 7)).round == 7


def test_a_file_has_the_rounds_that_it_has(tmp_path: Path) -> None:
    with pytest.raises(BeaconUnavailable):
        run(recorded(tmp_path, [50]).fetch(CHAIN, 49))


def test_a_real_file_of_quicknet_beacons_is_read() -> None:
    path = Path(__file__).parents[3] / "tests" / "vectors" / "drand" / "quicknet_beacons.json"
    beacons = open_recorded({"path": str(path)}, Clock(2_000_000_000_000_000))

    assert run(beacons.fetch(QUICKNET, 1000)).randomness.hex().startswith("fe290beca108")


@pytest.mark.parametrize(
    "text",
    ["{", "[", "[" * 100_000, "[7]", '{"round": 1}', '{"round": 1, "signature": "00"}', "\ufeff[]"],
    ids=[
        "a brace",
        "a bracket",
        "many brackets",
        "a number",
        "no signature",
        "a short one",
        "a mark",
    ],
)
def test_what_is_no_file_of_beacons_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "beacons"
    path.write_text(text)

    with pytest.raises(BadBeaconSettings):
        open_recorded({"path": str(path)}, Clock(NOW))


@pytest.mark.parametrize(
    ("opening", "settings"),
    [
        pytest.param(open_relays, {"relays": "x"}, id="relays in text"),
        pytest.param(open_relays, {"relays": ["api.drand.sh"]}, id="no scheme"),
        pytest.param(open_relays, {"relays": ["ftp://x"]}, id="another scheme"),
        pytest.param(open_relays, {"relays": ["http://"]}, id="no host"),
        pytest.param(open_relays, {"relays": ["http://x:99999"]}, id="a port too high"),
        pytest.param(open_relays, {"relays": ["http://[x"]}, id="half an address"),
        pytest.param(open_relays, {"relays": ["http://x/?q=1"]}, id="a query"),
        pytest.param(open_relays, {"relays": ["http://a:b@x"]}, id="a password"),
        pytest.param(open_relays, {"relays": [{"url": "http://x", "api": "v3"}]}, id="a third interface"),
        pytest.param(open_relays, {"seconds": 0}, id="no time"),
        pytest.param(open_relays, {"wait": -1}, id="asking early"),
        pytest.param(open_relays, {"retries": 3}, id="an unknown setting"),
        pytest.param(open_recorded, {}, id="no path"),
        pytest.param(open_recorded, {"path": "/nowhere/at/all"}, id="no file"),
        pytest.param(open_local, {"seed": SEED}, id="no genesis"),
        pytest.param(open_local, {"seed": "xyz", "genesis": 0}, id="a seed that is no hex"),
        pytest.param(open_local, {"seed": "00", "genesis": 0}, id="a short seed"),
        pytest.param(open_local, {"seed": SEED, "genesis": 0, "period": 0}, id="no period"),
    ],
)
def test_settings_that_make_no_source_are_refused(opening: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(BadBeaconSettings):
        opening(settings, Clock(NOW))


@pytest.mark.parametrize(
    ("opening", "settings", "near"),
    [
        (open_relays, {"secnds": 1.0}, "secnds is no setting; did you mean 'seconds'?"),
        (open_recorded, {"path": "x", "paht": "y"}, "paht is no setting; did you mean 'path'?"),
        (open_local, {"seed": SEED, "genesys": 0}, "genesys is no setting; did you mean 'genesis'?"),
        (open_local, {"seed": SEED}, "genesis is missing"),
    ],
)
def test_a_setting_that_is_none_is_refused_with_its_path_and_the_nearest_name(
    opening: Any, settings: dict[str, Any], near: str
) -> None:
    with pytest.raises(BadBeaconSettings) as refused:
        opening(settings, Clock(NOW))
    assert f"beacons.settings.{near}" in refused.value.message


def test_without_settings_the_public_relays_are_asked_of_two_operators_at_least() -> None:
    relays, _ = relay_settings({})

    assert [relay.url for relay in relays] == list(PUBLIC)
    assert len({relay.url.rsplit(".", 2)[1] for relay in relays}) >= 2
