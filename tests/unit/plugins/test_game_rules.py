"""Which installed rule set a game has, seen from its root alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from weighbridge.plugins import PinMismatch, PluginUnknown
from weighbridge_services.game_rules import NoRuleSet, rules_of_collection, rules_of_game

Toy = Callable[..., Path]

TEXT = """
from weighbridge.contract import Attachment, RuleSet

NOTE = {{"lexicon": 1, "id": "x.y.{last}", "defs": {{"main": {{"type": "record", "key": "any", "record":
    {{"type": "object", "required": ["text"], "properties": {{"text": {{"type": "string"}}}}}}}}}}}}

class Rules({base}):
    name = "{name}"
    version = "1"
    root = "x.y.root"
    collections = {{"x.y.{last}": NOTE}}

    def rules(self, root):
        return None, ()

RULES = Rules()
"""


def text(name: str, last: str, base: str = "RuleSet") -> str:
    return TEXT.format(name=name, last=last, base=base)


def test_the_only_rule_set_with_such_a_root_is_found_without_being_named(toy: Toy):
    toy("one", text=text("one", "note"))
    found = rules_of_collection("x.y.root")
    assert (found.name, found.collections) == ("one", ("x.y.note", "x.y.root"))
    assert rules_of_game("x.y.root", {"fold": {"name": "one", "pin": found.pin}}) == found


def test_of_several_the_root_or_a_person_has_to_name_one(toy: Toy):
    toy("one", text=text("one", "note"))
    toy("two", text=text("two", "note"))
    with pytest.raises(NoRuleSet, match=r"\(one, two\)"):
        rules_of_collection("x.y.root")
    assert rules_of_collection("x.y.root", "two").name == "two"
    assert rules_of_game("x.y.root", {"fold": {"name": "one"}}).name == "one"


def test_one_that_cannot_be_imported_is_none_that_is_meant(toy: Toy):
    toy("one", text=text("one", "note"))
    toy("bad", text="raise RuntimeError")
    assert rules_of_collection("x.y.root").name == "one"


def test_what_is_not_here_or_here_with_another_pin_is_refused(toy: Toy):
    toy("one", text=text("one", "note"))
    with pytest.raises(NoRuleSet, match=r"x\.z\.root"):
        rules_of_collection("x.z.root")
    with pytest.raises(PluginUnknown):
        rules_of_game("x.y.root", {"fold": {"name": "three"}})
    with pytest.raises(PinMismatch):
        rules_of_game("x.y.root", {"fold": {"name": "one", "pin": "another"}})


def test_what_a_root_attaches_is_of_the_game_with_its_collections(toy: Toy):
    toy("one", text=text("one", "note"))
    toy("cards", text=text("cards", "card", "Attachment"))
    found = rules_of_game("x.y.root", {"fold": {"name": "one", "with": {"name": "cards"}}})
    assert found.collections == ("x.y.card", "x.y.note", "x.y.root")
    assert list(found.attached) == ["cards"]
    for collection in ("x.y.card", "x.y.note"):
        shape = found.shape(collection, {"text": 5})
        assert shape is not None
        assert [each.path for each in shape.problems] == ["$.text"]
    assert found.shape("x.y.other", {}) is None
