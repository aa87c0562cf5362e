"""Every failure has a code of its own, and a test that provokes it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from repository import MEMBERS, PLUGINS, REPOSITORY, named, package_of, sources
from weighbridge.errors import Broken, Refused, Unavailable, WeighbridgeError

FATES = (Refused, Unavailable, Broken)


def load_everything() -> None:
    for member in MEMBERS:
        for path in sources(member):
            parts = [*package_of(path), *([] if path.stem == "__init__" else [path.stem])]
            if parts[-1] != "__main__":
                importlib.import_module(".".join(parts))


def below(error: type[WeighbridgeError]) -> list[type[WeighbridgeError]]:
    return [each for child in error.__subclasses__() for each in (child, *below(child))]


def errors() -> list[type[WeighbridgeError]]:
    """Every error class of the project that has a code of its own."""
    load_everything()
    found = {
        each
        for each in below(WeighbridgeError)
        if each not in FATES and each.__module__.startswith("weighbridge")
    }
    return sorted((each for each in found if "code" in vars(each)), key=lambda each: each.code)


def written_tests() -> dict[str, str]:
    folders = [REPOSITORY / "tests" / kind for kind in ("unit", "wiring", "network")]
    folders += [plugin / "tests" for plugin in PLUGINS]
    paths: list[Path] = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".json")
    ]
    return {named(path): path.read_text() for path in paths}


def test_every_error_has_one_of_three_fates() -> None:
    assert [each.__name__ for each in errors() if not issubclass(each, FATES)] == []


def test_codes_are_kebab_case_and_stable_to_read() -> None:
    assert [
        each.code for each in errors() if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", each.code)
    ] == []


def test_no_two_errors_share_a_code() -> None:
    by_code: dict[str, set[str]] = {}
    for each in errors():
        by_code.setdefault(each.code, set()).add(f"{each.__module__}.{each.__qualname__}")
    assert {code: sorted(names) for code, names in by_code.items() if len(names) > 1} == {}


def test_every_code_is_provoked_in_a_test() -> None:
    """By its code or the name of its class; what the test does with it is for its reader to judge."""
    text = "\n".join(written_tests().values())
    words = set(re.findall(r"\w+", text))
    codes = set(re.findall(r"(?<=[\"' ])[a-z][a-z0-9-]*(?=[\"':])", text))
    missing = [each.code for each in errors() if each.__name__ not in words and each.code not in codes]
    assert missing == []


@pytest.mark.parametrize("error", FATES, ids=lambda error: error.__name__)
def test_a_fate_says_what_it_is(error: type[WeighbridgeError]) -> None:
    assert error.fate == error.code
