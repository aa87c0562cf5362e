"""The scenario files: every report code is provoked, and the specification's own ten hold unchanged."""

from __future__ import annotations

import json
import os
import re

import pytest
from delvetown_town import PLUGIN, SCENARIOS, files, fold_file, handed
from weighbridge.fold.records import CODES as KERNEL_CODES
from weighbridge_delvetown import CREDIT, RULES

CODES = (
    "over-ration", "unwitnessed", "outside-window", "not-invited", "gate", "no-sheet", "retired", "barred",
    "torn", "no-trace", "bad-form", "bad-trace", "stale-trace", "pending-trace", "unsettled-trace", "untimely",
    "lister-timed", "overtaken", "struck", "too-late", "not-gm", "bad-ruling", "bad-consequence", "bad-resist",
    "bad-root", "bad-shape", "unknown-field", "bad-sheet", "second-sheet", "edited", "deleted", "scar-deleted",
    "clock-skew", "not-your-crew", "not-landlord", "bad-answer", "clock-full", "double-claim", "bad-claim",
    "no-price", "not-paid",
)  # fmt: skip
ELSEWHERE = {"clock-skew": "test_calendar: an entry's commit time is nothing a scenario states"}


def test_every_code_is_provoked_by_a_scenario() -> None:
    seen: set[str] = set(ELSEWHERE)
    for path in files():
        for said in json.loads(path.read_text())["expect"].get("reports", {}).values():
            seen |= set(said)
    assert [code for code in CODES if code not in seen] == []


def test_every_report_names_its_section() -> None:
    said: dict[str, str] = {}
    for path in files():
        for reports in fold_file(path).reports.values():
            said |= {code: sentence for code, sentence in reports.items() if code in RULES.codes}
    del said["scar-deleted"]  # the kernel's sentence: it says what became of the record
    assert [code for code, sentence in said.items() if not re.search(r"\(.*§\d+.*\)\.?$", sentence)] == []
    assert len(said) > 25


def test_the_codes_are_those_of_the_specification() -> None:
    own = set(RULES.codes)
    assert set(CODES) <= own | set(KERNEL_CODES)
    assert own - set(CODES) == {"note"}, "an attachment's report is the one code more"


def test_the_ten_of_the_specification_are_here_unchanged() -> None:
    folder = handed()
    if not folder.is_dir():
        reason = "the specification's scenarios are not beside this checkout"
        (pytest.fail if os.environ.get("WEIGHBRIDGE_REQUIRE_VECTORS") else pytest.skip)(reason)
    given = {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}
    assert len(given) == 10
    assert {path.name: path.read_bytes() for path in sorted((SCENARIOS / "given").glob("*.json"))} == given


def test_the_readme_s_table_names_every_scenario_and_no_other() -> None:
    text = (PLUGIN / "README.md").read_text("utf-8")
    named = set(re.findall(r"`([1-9]-[a-z0-9-]+)`", text))
    here = {path.stem for path in SCENARIOS.glob("*.json")}
    assert named - here == set()
    assert here - named == set()


def test_the_readme_quotes_the_rule_book_word_for_word() -> None:
    books = sorted((handed().parents[1] / "seeds").glob("000_*.txt"))
    if not books:
        pytest.skip("the rule book is not beside this checkout")
    book = " ".join(books[0].read_text("utf-8").replace("`", "").split())
    rows = re.findall(r"^\| §[2-8] \| (.+?) \| `", (PLUGIN / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 80
    assert [row for row in rows if row not in book] == []


def test_each_scenario_is_named_by_its_section_and_says_it() -> None:
    for path in SCENARIOS.glob("*.json"):
        about = json.loads(path.read_text("utf-8"))["about"]
        assert about.startswith(f"§{path.stem[0]}") or about.startswith("§10"), path.stem


def test_the_credit_stands_in_the_readme() -> None:
    text = " ".join((PLUGIN / "README.md").read_text("utf-8").split())
    assert CREDIT in text
