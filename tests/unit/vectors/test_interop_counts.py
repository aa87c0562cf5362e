"""Every interoperability file of AT Protocol: how many cases it has, and the test that runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from vectors_root import REPOSITORY

CODEC = "tests/unit/codec/test_vectors.py"
KEYS = "tests/unit/repos/test_keys.py"
LEXICON = "tests/unit/lexicon/test_interop.py"
NAMES = "tests/unit/identity/test_syntax.py"
TREE = "tests/unit/tree/test_vectors.py"

VALID, INVALID = (
    "test_each_valid_name_of_the_vectors_is_accepted",
    "test_each_invalid_name_of_the_vectors_is_refused",
)
FORMAT = "test_every_valid_text_has_its_format_and_no_invalid_one_has"

# File -> (cases, the test file that runs them, its test).
RUN: dict[str, tuple[int, str, str]] = {
    "crypto/signature-fixtures.json": (6, KEYS, "test_every_signature_fixture_holds_or_not_as_it_says"),
    "crypto/w3c_didkey_K256.json": (5, KEYS, "test_every_did_key_of_the_vectors_is_that_of_its_private_key"),
    "crypto/w3c_didkey_P256.json": (1, KEYS, "test_every_did_key_of_the_vectors_is_that_of_its_private_key"),
    "data-model/data-model-fixtures.json": (
        3,
        CODEC,
        "test_the_at_protocol_fixtures_have_their_bytes_their_json_and_their_cid",
    ),
    "data-model/data-model-invalid.json": (
        12,
        CODEC,
        "test_every_data_model_vector_is_judged_as_it_says_or_listed",
    ),
    "data-model/data-model-valid.json": (
        5,
        CODEC,
        "test_every_data_model_vector_is_judged_as_it_says_or_listed",
    ),
    "firehose/commit-proof-fixtures.json": (
        6,
        TREE,
        "test_a_commit_can_be_undone_from_the_blocks_of_its_proof_alone",
    ),
    "lexicon/catalog/permission-set.json": (1, LEXICON, "test_every_document_of_the_catalogue_is_loaded"),
    "lexicon/catalog/procedure.json": (1, LEXICON, "test_every_document_of_the_catalogue_is_loaded"),
    "lexicon/catalog/query.json": (1, LEXICON, "test_every_document_of_the_catalogue_is_loaded"),
    "lexicon/catalog/record.json": (1, LEXICON, "test_every_document_of_the_catalogue_is_loaded"),
    "lexicon/catalog/subscription.json": (1, LEXICON, "test_every_document_of_the_catalogue_is_loaded"),
    "lexicon/lexicon-invalid.json": (7, LEXICON, "test_every_invalid_document_is_refused_with_its_path"),
    "lexicon/lexicon-valid.json": (3, LEXICON, "test_every_valid_document_is_loaded"),
    "lexicon/record-data-invalid.json": (
        50,
        LEXICON,
        "test_every_invalid_record_has_a_problem_where_it_is_wrong",
    ),
    "lexicon/record-data-valid.json": (3, LEXICON, "test_every_valid_record_has_no_problems"),
    "mst/common_prefix.json": (13, TREE, "test_common_prefixes_are_those_of_atproto"),
    "mst/example_keys.txt": (156, TREE, "test_the_example_keys_have_the_depths_their_names_say"),
    "mst/key_heights.json": (9, TREE, "test_key_heights_are_those_of_atproto"),
    "syntax/atidentifier_syntax_invalid.txt": (22, NAMES, INVALID),
    "syntax/atidentifier_syntax_valid.txt": (11, NAMES, VALID),
    "syntax/aturi_syntax_invalid.txt": (72, NAMES, INVALID),
    "syntax/aturi_syntax_valid.txt": (23, NAMES, VALID),
    "syntax/cid_syntax_invalid.txt": (10, CODEC, "test_no_text_that_is_no_cid_is_read_as_one"),
    "syntax/cid_syntax_valid.txt": (8, LEXICON, FORMAT),
    "syntax/datetime_parse_invalid.txt": (7, LEXICON, FORMAT),
    "syntax/datetime_syntax_invalid.txt": (45, LEXICON, FORMAT),
    "syntax/datetime_syntax_valid.txt": (35, LEXICON, FORMAT),
    "syntax/did_syntax_invalid.txt": (18, NAMES, INVALID),
    "syntax/did_syntax_valid.txt": (24, NAMES, VALID),
    "syntax/handle_syntax_invalid.txt": (48, NAMES, INVALID),
    "syntax/handle_syntax_valid.txt": (71, NAMES, VALID),
    "syntax/language_parse_invalid.txt": (4, LEXICON, FORMAT),
    "syntax/language_syntax_invalid.txt": (7, LEXICON, FORMAT),
    "syntax/language_syntax_valid.txt": (18, LEXICON, FORMAT),
    "syntax/nsid_syntax_invalid.txt": (27, NAMES, INVALID),
    "syntax/nsid_syntax_valid.txt": (25, NAMES, VALID),
    "syntax/recordkey_syntax_invalid.txt": (11, NAMES, INVALID),
    "syntax/recordkey_syntax_valid.txt": (16, NAMES, VALID),
    "syntax/tid_syntax_invalid.txt": (9, NAMES, INVALID),
    "syntax/tid_syntax_valid.txt": (4, NAMES, VALID),
    "syntax/uri_syntax_invalid.txt": (12, LEXICON, FORMAT),
    "syntax/uri_syntax_valid.txt": (9, LEXICON, FORMAT),
}
NO_CASES = {"LICENSE-CC0", "README.md"}


@pytest.fixture(scope="module")
def interop(vectors: Path) -> Path:
    return vectors / "atproto" / "interop"


def cases_in(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        value = json.loads(text)
        return len(value) if isinstance(value, list) else 1
    return len([line for line in text.split("\n") if line and not line.startswith("#")])


def test_every_file_is_in_the_table(interop):
    there = {path.relative_to(interop).as_posix() for path in interop.rglob("*") if path.is_file()}
    assert there - NO_CASES == set(RUN)


@pytest.mark.parametrize("file", RUN)
def test_a_file_has_the_cases_the_table_says(interop, file):
    assert cases_in(interop / file) == RUN[file][0]


@pytest.mark.parametrize("file", RUN)
def test_the_test_that_runs_a_file_is_there_and_names_it(file):
    _, where, test = RUN[file]
    text = (REPOSITORY / where).read_text(encoding="utf-8")
    assert re.search(rf"^def {test}\(", text, re.MULTILINE)
    name = file.rpartition("/")[2].partition(".")[0]
    # Families of files are named by their first part, from a table in the test.
    assert re.search(
        rf"\b{re.split(r'_(?:syntax|parse)_|-(?:valid|invalid|fixtures)$', name)[0]}\b", text
    ) or ("catalog" in file and "catalog" in text)
