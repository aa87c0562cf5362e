from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from weighbridge.cid import Cid
from weighbridge.contract import RuleSet
from weighbridge.plugins import (
    CannotRun,
    PinMismatch,
    PluginBroken,
    PluginNameTaken,
    Plugins,
    PluginUnknown,
    find,
    pin,
    resolve,
)

RULESETS = "weighbridge.rulesets"
Toy = Callable[..., Path]


def test_only_what_the_configuration_names_is_imported(toy: Toy) -> None:
    toy("chess", text="raise AssertionError('imported')")
    toy("coin")
    plugins = Plugins({RULESETS: ["coin"]})
    assert "toy_coin" not in sys.modules
    assert isinstance(plugins.ruleset("coin"), RuleSet)
    assert plugins.ruleset("coin") is plugins.load(RULESETS, "coin")
    assert "toy_chess" not in sys.modules
    with pytest.raises(PluginUnknown, match="the configuration does not name it"):
        plugins.ruleset("chess")


def test_the_list_says_where_a_plugin_comes_from_and_whether_it_runs(toy: Toy) -> None:
    toy("chess", text="raise AssertionError('imported')")
    toy("coin")
    plugins = Plugins({RULESETS: ["coin"]})

    def listed() -> list[tuple[object, ...]]:
        return [tuple(one) for one in plugins.list() if one.distribution.startswith("toy-")]

    assert listed() == [
        (RULESETS, "chess", "toy-chess", "1.0", False, False),
        (RULESETS, "coin", "toy-coin", "1.0", True, False),
    ]
    plugins.ruleset("coin")
    assert listed()[1] == (RULESETS, "coin", "toy-coin", "1.0", True, True)


def test_a_group_of_a_plugins_own_is_loaded_the_same_way(install: Callable[..., Path]) -> None:
    install(
        "toy-dynasty",
        {"toy_dynasty.py": "DYNASTY = 'Ming'"},
        {"toy.dynasties": {"ming": "toy_dynasty:DYNASTY"}},
    )
    plugins = Plugins({"toy.dynasties": ["ming"]})
    plugins.check()
    assert plugins.load("toy.dynasties", "ming") == "Ming"


def test_a_name_that_two_distributions_claim_is_refused_naming_both(toy: Toy) -> None:
    toy("coin")
    toy("coin", distribution="toy-other", folder="other")
    plugins = Plugins({RULESETS: ["coin"]})
    with pytest.raises(PluginNameTaken, match=r"toy-coin 1\.0 and toy-other 1\.0 both claim the name 'coin'"):
        plugins.check()
    with pytest.raises(PluginNameTaken):
        plugins.ruleset("coin")


def test_a_distribution_twice_on_the_path_is_the_first_as_for_imports(toy: Toy) -> None:
    toy("coin", folder="second", text="raise AssertionError('imported')")
    toy("coin", distribution="Toy_Coin", folder="first")
    plugins = Plugins({RULESETS: ["coin"]})
    plugins.check()
    assert plugins.ruleset("coin").name == "coin"


def test_an_unknown_name_is_refused_with_the_nearest_ones(toy: Toy) -> None:
    toy("blognomic_toy")
    toy("chess")
    plugins = Plugins({RULESETS: ["blognomik_toy"]})
    with pytest.raises(
        PluginUnknown, match="installed are blognomic_toy; install it, or correct the name"
    ) as caught:
        plugins.check()
    assert isinstance(caught.value, CannotRun)
    with pytest.raises(PluginUnknown, match="nothing of this group is installed"):
        Plugins({"toy.nothing": ["x"]}).check()


BROKEN = [
    pytest.param("import toy_that_is_not_there", "ModuleNotFoundError", id="a-missing-import"),
    pytest.param("def", "SyntaxError", id="no-python"),
    pytest.param("1 / 0", "ZeroDivisionError", id="an-error-while-importing"),
    pytest.param("X = 1", "AttributeError", id="no-such-object"),
    pytest.param("RULES = object()", "no instance of RuleSet", id="another-object"),
    pytest.param(
        "from weighbridge.contract import RuleSet\nclass R(RuleSet):\n    name = 'x'\nRULES = R()",
        "calls itself 'x' and its entry point 'coin'",
        id="another-name",
    ),
    pytest.param(
        "from weighbridge.contract import RuleSet\nRULES = RuleSet()", "calls itself None", id="no-name"
    ),
    pytest.param(
        "from weighbridge.contract import RuleSet\nRULES = RuleSet()\nRULES.name = 'coin'",
        "of a class in weighbridge, which its pin would not cover",
        id="a-class-of-another-package",
    ),
]


@pytest.mark.parametrize(("text", "says"), BROKEN)
def test_a_plugin_that_cannot_be_used_is_broken_and_says_why(toy: Toy, text: str, says: str) -> None:
    toy("coin", text=text)
    with pytest.raises(PluginBroken, match=says):
        Plugins({RULESETS: ["coin"]}).ruleset("coin")


def test_rule_sets_and_attachments_are_told_apart(toy: Toy) -> None:
    attachment = (
        "from weighbridge.contract import Attachment\nclass A(Attachment):\n    name = 'cards'\nRULES = A()"
    )
    toy("cards", text=attachment)
    toy("coin")
    plugins = Plugins({RULESETS: ["cards", "coin"]})
    assert plugins.attachment("cards").name == "cards"
    with pytest.raises(PluginBroken, match="cannot own a game"):
        plugins.ruleset("cards")
    with pytest.raises(PluginBroken, match="no attachment"):
        plugins.attachment("coin")


def test_a_root_gets_the_rule_set_of_its_pin_or_a_reason(toy: Toy) -> None:
    toy("coin")
    plugins = Plugins({RULESETS: ["coin"]})
    here = plugins.pin("coin")
    assert here == pin(plugins.ruleset("coin"))
    assert plugins.resolve("coin", here) is plugins.resolve("coin", None) is plugins.ruleset("coin")
    assert resolve("coin", here, ["coin"]).name == "coin"
    with pytest.raises(PinMismatch, match="install the version that the root names") as caught:
        plugins.resolve("coin", Cid.of(b""))
    assert isinstance(caught.value, CannotRun)
    assert (caught.value.detail["wanted"], caught.value.detail["here"]) == (str(Cid.of(b"")), str(here))
    with pytest.raises(PluginUnknown):
        resolve("coin", here, [])


def test_a_pin_is_that_of_what_runs_even_if_files_change_later(toy: Toy) -> None:
    site = toy("coin")
    plugins = Plugins({RULESETS: ["coin"]})
    here = plugins.pin("coin")
    (site / "toy_coin" / "more.py").write_text("x = 1")
    assert plugins.resolve("coin", here) is plugins.ruleset("coin")
    assert pin(plugins.ruleset("coin")) != here


def test_the_remains_of_a_broken_installation_are_passed_over(toy: Toy) -> None:
    site = toy("coin")
    (site / "toy_ruin-1.dist-info").mkdir()
    (site / "toy_ruin-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\n")
    assert "coin" in {one.name for one in find()}
