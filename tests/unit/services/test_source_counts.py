"""What a source does not believe, or cannot give, is told by its node: none is dropped without a count."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from weighbridge_services.health import note
from weighbridge_services.ingest.driver import Driver
from weighbridge_services.metrics import REGISTRY

GAME = "at://did:plc:" + "g" * 24 + "/town.delve.game/one"


class Counting:
    name = "counting"
    refused: ClassVar = {"repo-proof-size": 2}


class Plain:
    name = "plain"


def driver(source: object) -> Driver:
    return Driver(cast(Any, None), cast(Any, source), "position")


def test_a_lister_says_by_code_what_its_source_refused():
    assert driver(Counting()).refused == {"repo-proof-size": 2}
    assert driver(Plain()).refused == {}


def test_what_a_source_refused_is_a_metric_by_code():
    note({"ingest": {"games": {GAME: {"size": 1, "refused": driver(Counting()).refused}}}})
    labels = {"service": "ingest", "code": "repo-proof-size"}
    assert REGISTRY.get_sample_value("weighbridge_refused", labels) == 2
