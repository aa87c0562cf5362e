"""The repository is laid out as agreed, and adding a plugin is adding a folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from repository import MEMBERS, PLUGINS, REPOSITORY, TOOLS, files, manifest, named
from weighbridge.plugins import GROUPS

TOP = {
    "pyproject.toml", "services", "shared", "plugins", "deploy", "compose.yaml", "tests",
    "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "conftest.py",
}  # fmt: skip
KNOWN = {*GROUPS, "weighbridge.commands"}


def ids(path: Path) -> str:
    return named(path)


def entry_points(member: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = manifest(member)["project"].get("entry-points", {})
    return found


def test_the_top_level_is_the_agreed_one() -> None:
    there = {path.name for path in REPOSITORY.iterdir() if not path.name.startswith(".")}
    assert there <= TOP
    assert there >= TOP - {"compose.yaml"}


@pytest.mark.parametrize("member", MEMBERS, ids=ids)
def test_a_distribution_has_one_typed_package_with_our_prefix(member: Path) -> None:
    """And beside it, where it has commands of its own, one more for those: no part of the pin."""
    packages = sorted(
        path for path in (member / "src").iterdir() if path.is_dir() and path.name != "__pycache__"
    )
    name = manifest(member)["project"]["name"].replace("-", "_")
    assert re.fullmatch(r"weighbridge(_[a-z]+)*", name)
    tools = f"{name}{TOOLS}"
    has_commands = member in PLUGINS and "weighbridge.commands" in entry_points(member)
    assert [path.name for path in packages] in ([name], [name, tools] if has_commands else [name])
    assert all((package / "py.typed").exists() for package in packages)
    built = manifest(member)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(built) == [f"src/{path.name}" for path in packages]


@pytest.mark.parametrize("member", MEMBERS, ids=ids)
def test_every_folder_of_a_package_says_it_is_one(member: Path) -> None:
    folders = {path.parent for path in files(member / "src") if path.suffix == ".py"}
    assert [named(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_test_folders_are_not_packages() -> None:
    tests = [path for path in files() if path.name == "__init__.py" and "src" not in path.parts]
    assert [named(path) for path in tests] == []


@pytest.mark.parametrize("plugin", PLUGINS, ids=ids)
def test_a_plugin_is_named_like_its_folder(plugin: Path) -> None:
    assert manifest(plugin)["project"]["name"] == f"weighbridge-{plugin.name}"


@pytest.mark.parametrize("plugin", PLUGINS, ids=ids)
def test_a_plugin_declares_an_entry_point_of_ours(plugin: Path) -> None:
    declared = entry_points(plugin)
    assert declared
    assert set(declared) <= KNOWN


@pytest.mark.parametrize("plugin", PLUGINS, ids=ids)
def test_a_plugin_says_what_it_is_in_a_readme(plugin: Path) -> None:
    assert len((plugin / "README.md").read_text()) > 200


@pytest.mark.parametrize("plugin", [p for p in PLUGINS if "weighbridge.rulesets" in entry_points(p)], ids=ids)
def test_a_rule_set_runs_the_conformance_suite(plugin: Path) -> None:
    tests = [path.read_text() for path in (plugin / "tests").glob("test_*.py")]
    assert any("from weighbridge.conformance import" in text for text in tests)
    assert any(re.search(r"^class Test\w+\(.*Conformance\b.*\):", text, re.MULTILINE) for text in tests)


def test_no_name_is_claimed_by_two_plugins() -> None:
    claimed = [
        (group, name) for plugin in PLUGINS for group, names in entry_points(plugin).items() for name in names
    ]
    assert sorted(claimed) == sorted(set(claimed))
