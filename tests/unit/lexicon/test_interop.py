"""The AT Protocol's interop files for Lexicon and for the string formats it uses."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from weighbridge.cid import Cid
from weighbridge.lexicon import LexiconMalformed, LexiconUnsupported, check, load
from weighbridge.lexicon.formats import FORMATS

RECORD = "example.lexicon.record"


@pytest.fixture(scope="module")
def interop(vectors: Path) -> Path:
    return vectors / "atproto" / "interop"


def cases(interop: Path, name: str) -> Any:
    return json.loads((interop / "lexicon" / f"{name}.json").read_text())


def data(value: Any) -> Any:
    """AT Protocol JSON as values; lenient about base64, as the files are; what is no link stays a map."""
    if isinstance(value, list):
        return [data(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$link"}:
        return Cid.parse(value["$link"])
    if value.keys() == {"$bytes"}:
        text = value["$bytes"]
        return base64.b64decode(text[: len(text) - (len(text) % 4 == 1)] + "==")
    return {key: data(each) for key, each in value.items()}


def without_graphemes(document: Any) -> Any:
    del document["defs"]["main"]["record"]["properties"]["graphemeString"]
    return document


def test_every_valid_document_is_loaded(interop):
    names = [load(case["lexicon"]).id for case in cases(interop, "lexicon-valid")]
    assert len(names) == 3


def test_every_document_of_the_catalogue_is_loaded(interop):
    for path in sorted((interop / "lexicon" / "catalog").iterdir()):
        assert load(json.loads(path.read_text())).id


def test_every_invalid_document_is_refused_with_its_path(interop):
    for case in cases(interop, "lexicon-invalid"):
        with pytest.raises(LexiconMalformed) as caught:
            load(case["lexicon"])
        assert str(caught.value.detail["path"]).startswith("$"), case["name"]


def test_every_valid_record_has_no_problems(interop):
    lexicon = without_graphemes(cases(interop, "catalog/record"))
    for case in cases(interop, "record-data-valid"):
        value = data(case["data"])
        value.pop("graphemeString", None)
        assert check(lexicon, value).problems == (), case["name"]


def test_every_invalid_record_has_a_problem_where_it_is_wrong(interop):
    lexicon = without_graphemes(cases(interop, "catalog/record"))
    judged = 0
    for case in cases(interop, "record-data-invalid"):
        value = data(case["data"])
        if "graphemeString" in value:
            continue
        shape = check(lexicon, value)
        assert shape.problems, case["name"]
        wrong = [key for key in value if key not in ("$type", "integer")] or ["integer"]
        assert any(problem.path.startswith(f"$.{wrong[0]}") for problem in shape.problems), case["name"]
        judged += 1
    assert judged == 48


def test_a_field_measured_in_graphemes_is_refused_rather_than_guessed(interop):
    with pytest.raises(LexiconUnsupported, match="graphemeString is measured in graphemes"):
        check(cases(interop, "catalog/record"), {"integer": 1})


FILES = {
    "at-identifier": "atidentifier",
    "at-uri": "aturi",
    "cid": "cid",
    "datetime": "datetime",
    "did": "did",
    "handle": "handle",
    "language": "language",
    "nsid": "nsid",
    "record-key": "recordkey",
    "tid": "tid",
    "uri": "uri",
}


def lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            yield line


@pytest.mark.parametrize("name", FORMATS)
def test_every_valid_text_has_its_format_and_no_invalid_one_has(interop, name):
    has_format, _ = FORMATS[name]
    folder, stem = interop / "syntax", FILES[name]
    assert [line for line in lines(folder / f"{stem}_syntax_valid.txt") if not has_format(line)] == []
    invalid = [folder / f"{stem}_syntax_invalid.txt", folder / f"{stem}_parse_invalid.txt"]
    assert [line for path in invalid if path.exists() for line in lines(path) if has_format(line)] == []
