"""What a root's `fold` names is held against the plugins that are installed, attachments too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import coin
import listening
import pytest
from weighbridge.codec import cid_of
from weighbridge.plugins import PinMismatch, PluginUnknown, pin
from weighbridge_services.folding.rulesets import Configured
from weighbridge_services.installed import rules_of_root

OTHER = str(cid_of("another pin"))


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("coin", "listening"):
        info = tmp_path / f"{name}_toy-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-toy\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[weighbridge.rulesets]\n{name} = {name}:RULES\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "coin" in sys.modules


def attaching(**settings: Any) -> dict[str, Any]:
    return {"fold": {"name": "coin", "with": {"name": "listening", **settings}}}


def test_a_pin_covers_the_pins_of_what_is_attached() -> None:
    own = str(pin(coin.RULES, {"listening": pin(listening.RULES)}))
    root = attaching(pin=str(pin(listening.RULES)))
    assert Configured(["coin", "listening"], "coin").first(root).pin == own
    assert rules_of_root(root, None).pin == own
    assert own != str(pin(coin.RULES))


@pytest.mark.parametrize("pin_named", [OTHER, "no CID"])
def test_an_attachment_with_another_pin_than_the_root_names_cannot_be_run(pin_named: str) -> None:
    root = attaching(pin=pin_named)
    with pytest.raises(PinMismatch, match="listening"):
        Configured(["coin", "listening"], "coin").first(root)
    with pytest.raises(PinMismatch, match="listening"):
        rules_of_root(root, None)


def test_an_attachment_that_the_configuration_does_not_name_cannot_be_run() -> None:
    with pytest.raises(PluginUnknown, match="add it there"):
        Configured(["coin"], "coin").first(attaching())


def test_the_pin_that_a_root_asks_for_is_known_without_what_it_attaches() -> None:
    asked = str(pin(coin.RULES, {"listening": cid_of("another pin")}))
    assert Configured(["coin", "listening"], "coin").asked(attaching(pin=OTHER)) == asked
