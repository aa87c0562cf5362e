from __future__ import annotations

from typing import Any

import pytest
from weighbridge.dice import QUICKNET, SCHEME, BeaconRule, chain_of

OWN: dict[str, Any] = {
    "hash": "ab" * 32,
    "publicKey": QUICKNET.public_key.hex(),
    "period": 1,
    "genesis": 1_700_000_000,
    "scheme": SCHEME,
}


@pytest.mark.parametrize("value", [None, {}, {"margin": 15}], ids=["absent", "empty", "the default margin"])
def test_without_a_chain_a_root_gets_quicknet_and_fifteen_seconds(value: object) -> None:
    assert chain_of(value) == (BeaconRule(QUICKNET, 15), ())


@pytest.mark.parametrize("margin", [3, 600])
def test_the_bounds_of_the_margin_are_allowed(margin: int) -> None:
    assert chain_of({"margin": margin}) == (BeaconRule(QUICKNET, margin), ())


def test_another_chain_named_in_full_is_taken_and_called_private() -> None:
    rule, problems = chain_of({"chain": OWN, "margin": 4})

    assert problems == ()
    assert (rule.chain.hash, rule.chain.period, rule.margin) == ("ab" * 32, 1, 4)
    assert rule.chain.label == "private chain"


def test_quicknet_named_in_full_is_quicknet() -> None:
    named = OWN | {"hash": QUICKNET.hash, "period": 3, "genesis": QUICKNET.genesis}

    assert chain_of({"chain": named})[0].chain.label == "quicknet"


INFINITY = "c0" + "00" * 95
OFF_CURVE = "80" + "00" * 94 + "01"


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        pytest.param([], ["$.beacon"], id="a list"),
        pytest.param({"margin": -1}, ["$.beacon.margin"], id="a negative margin"),
        pytest.param({"margin": 2}, ["$.beacon.margin"], id="a margin of 2"),
        pytest.param({"margin": 601}, ["$.beacon.margin"], id="a margin of 601"),
        pytest.param({"margin": True}, ["$.beacon.margin"], id="a margin of true"),
        pytest.param({"margin": "15"}, ["$.beacon.margin"], id="a margin in text"),
        pytest.param({"seconds": 15}, ["$.beacon.seconds"], id="an unknown key"),
        pytest.param({"chain": "quicknet"}, ["$.beacon.chain"], id="a chain by name alone"),
        pytest.param({"chain": {**OWN, "hash": "AB" * 32}}, ["$.beacon.chain.hash"], id="an upper-case hash"),
        pytest.param(
            {"chain": {**OWN, "hash": QUICKNET.hash}}, ["$.beacon.chain.hash"], id="quicknet's hash alone"
        ),
        pytest.param({"chain": {**OWN, "publicKey": "00"}}, ["$.beacon.chain.publicKey"], id="a short key"),
        pytest.param(
            {"chain": {**OWN, "publicKey": INFINITY}}, ["$.beacon.chain.publicKey"], id="infinity as a key"
        ),
        pytest.param({"chain": {**OWN, "publicKey": OFF_CURVE}}, ["$.beacon.chain.publicKey"], id="no point"),
        pytest.param({"chain": {**OWN, "period": 0}}, ["$.beacon.chain.period"], id="a period of 0"),
        pytest.param({"chain": {**OWN, "genesis": -1}}, ["$.beacon.chain.genesis"], id="a negative genesis"),
        pytest.param(
            {"chain": {**OWN, "scheme": "bls-unchained-on-g1"}}, ["$.beacon.chain.scheme"], id="fastnet's"
        ),
        pytest.param({"chain": {**OWN, "scheme": None}}, ["$.beacon.chain.scheme"], id="no scheme"),
        pytest.param(
            {"chain": {**OWN, "seed": "00"}}, ["$.beacon.chain.seed"], id="an unknown key of a chain"
        ),
        pytest.param(
            {"chain": {}, "margin": 0},
            [
                "$.beacon.chain.genesis",
                "$.beacon.chain.hash",
                "$.beacon.chain.period",
                "$.beacon.chain.publicKey",
                "$.beacon.chain.scheme",
                "$.beacon.margin",
            ],
            id="every problem at once",
        ),
    ],
)
def test_a_beacon_that_is_not_well_formed_is_told_where(value: object, paths: list[str]) -> None:
    rule, problems = chain_of(value)

    assert sorted(problem.path for problem in problems) == paths
    assert rule == BeaconRule()


def test_a_scheme_that_is_not_verified_is_refused_by_its_name() -> None:
    [problem] = chain_of({"chain": {**OWN, "scheme": "pedersen-bls-chained"}})[1]

    assert "pedersen-bls-chained" in problem.says
