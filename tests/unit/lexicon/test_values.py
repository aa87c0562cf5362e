from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.cid import Cid
from weighbridge.identity.syntax import is_at_uri
from weighbridge.lexicon import check, formats

LINK = Cid.of(b"")
BLOB = {"$type": "blob", "ref": LINK, "mimeType": "image/png", "size": 9}
IS_BLOB = 'must be a blob: {"$type": "blob", ref, mimeType, size}'


def lexicon(required=(), nullable=(), **properties):
    record = {
        "type": "object",
        "required": list(required),
        "nullable": list(nullable),
        "properties": properties,
    }
    main = {"type": "record", "key": "any", "record": record}
    return {
        "lexicon": 1,
        "id": "example.toy.thing",
        "defs": {"main": main, "red": {"type": "token"}, "part": PART},
    }


PART = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
ARRAY = {"type": "array", "items": {"type": "integer"}, "minLength": 1, "maxLength": 2}
CLOSED = {"type": "union", "refs": ["#part"], "closed": True}

WRONG = {
    "null": ({"type": "null"}, 0, "must be null"),
    "boolean": ({"type": "boolean"}, 1, "must be true or false"),
    "boolean const": ({"type": "boolean", "const": True}, False, "must be true"),
    "integer": ({"type": "integer"}, True, "must be a whole number"),
    "minimum": ({"type": "integer", "minimum": 2}, 1, "must be at least 2"),
    "maximum": ({"type": "integer", "maximum": 2}, 3, "must be at most 2"),
    "integer enum": ({"type": "integer", "enum": [4, 6]}, 5, "must be 4 or 6"),
    "string": ({"type": "string"}, b"a", "must be a text"),
    "UTF-8 bytes": ({"type": "string", "maxLength": 3}, "éé", "must have at most 3 bytes, has 4"),
    "a lone surrogate": ({"type": "string", "maxLength": 2}, "\ud800", "must have at most 2 bytes, has 3"),
    "too short": ({"type": "string", "minLength": 3}, "a", "must have at least 3 bytes, has 1"),
    "string const": ({"type": "string", "const": "a"}, "b", "must be a"),
    "string enum": ({"type": "string", "enum": ["a", "c"]}, "b", "must be a or c"),
    "format": ({"type": "string", "format": "did"}, "did:", "must be a DID"),
    "bytes": ({"type": "bytes"}, "a", "must be bytes"),
    "bytes length": ({"type": "bytes", "maxLength": 1}, b"ab", "must have at most 1 bytes, has 2"),
    "cid-link": ({"type": "cid-link"}, str(LINK), "must be a link (a CID)"),
    "blob": (
        {"type": "blob"},
        {**BLOB, "size": -1},
        'must be a blob: {"$type": "blob", ref, mimeType, size}',
    ),
    "blob size": ({"type": "blob", "maxSize": 8}, BLOB, "must be at most 8 bytes in size"),
    "blob type": ({"type": "blob", "accept": ["text/*"]}, BLOB, "must be of the media type text/*"),
    "array": ({"type": "array", "items": {"type": "null"}}, (), "must be a list"),
    "array length": (ARRAY, [], "must have at least 1 items, has 0"),
    "unknown": ({"type": "unknown"}, [], "must be a map"),
    "token": ({"type": "ref", "ref": "#red"}, "red", "must be 'example.toy.thing#red'"),
    "union": (CLOSED, {"n": 1}, "must be a map whose $type says what it is"),
}


@pytest.mark.parametrize(("schema", "value", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_a_problem_with_a_sentence(schema, value, says):
    shape = check(lexicon(a=schema), {"a": value})
    assert [(each.path, each.says) for each in shape.problems] == [("$.a", says)]


RIGHT = {
    "known values are a hint": ({"type": "string", "knownValues": ["a"]}, "b"),
    "any media type": ({"type": "blob", "accept": ["*/*"]}, BLOB),
    "an open union of something else": (
        {"type": "union", "refs": ["#part"]},
        {"$type": "example.other.thing", "x": 1},
    ),
    "a member of a union": (CLOSED, {"$type": "example.toy.thing#part", "n": 1}),
    "the name of a token": ({"type": "ref", "ref": "#red"}, "example.toy.thing#red"),
    "an unknown map": ({"type": "unknown"}, {"x": [1]}),
}


@pytest.mark.parametrize(("schema", "value"), RIGHT.values(), ids=RIGHT)
def test_a_right_value_has_no_problem(schema, value):
    shape = check(lexicon(a=schema), {"a": value})
    assert (shape.problems, shape.unknown) == ((), ())


def test_every_problem_is_named_at_once_in_the_order_of_the_document():
    schema = lexicon(["b", "c"], a={"type": "integer"}, b={"type": "string"}, c=PART, d=ARRAY)
    shape = check(schema, {"d": [1, "2", "3"], "c": {}, "a": "x"})
    assert [each.path for each in shape.problems] == ["$.a", "$.b", "$.c.n", "$.d", "$.d[1]", "$.d[2]"]


def test_unknown_fields_are_listed_and_refuse_nothing():
    shape = check(lexicon(a=PART), {"zeta": 1, "alpha": 2, "a": {"n": 1, "odd key": 3}})
    assert shape.problems == ()
    assert shape.unknown == ('$.a["odd key"]', "$.alpha", "$.zeta")


def test_game_and_created_at_are_known_to_every_record_and_not_to_its_parts():
    shape = check(lexicon(a=PART), {"game": 1, "createdAt": "never", "a": {"n": 1, "game": 2}})
    assert (shape.problems, shape.unknown) == ((), ("$.a.game",))


@pytest.mark.parametrize(("kind", "problems"), [("example.toy.thing", 0), ("example.toy.other", 1), (5, 1)])
def test_the_type_of_a_record_is_its_collection_where_it_says_one(kind, problems):
    assert len(check(lexicon(), {"$type": kind}).problems) == problems


def test_null_is_a_value_only_where_it_may_stand():
    schema = lexicon(["a"], ["a"], a={"type": "integer"}, b={"type": "integer"})
    assert check(schema, {"a": None}).problems == ()
    assert [each.path for each in check(schema, {"a": None, "b": None}).problems] == ["$.b"]


def test_a_closed_union_says_what_it_is_closed_to():
    shape = check(lexicon(a=CLOSED), {"a": {"$type": "example.toy.thing#red"}})
    assert [(each.path, each.says) for each in shape.problems] == [
        ("$.a.$type", "must be example.toy.thing#part")
    ]


KEYS = st.sampled_from(["a", "n", "$type", "x"]) | st.integers()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.just(LINK),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["a", "n", "$type", "x"]) | st.integers(), inner)
    ),
    max_leaves=12,
)
SCHEMAS = st.sampled_from([schema for schema, *_ in (*WRONG.values(), *RIGHT.values())])


@given(SCHEMAS, ANYTHING)
def test_no_value_raises(schema, value):
    check(lexicon(a=schema), value)
    check(lexicon(a=schema), {"a": value})


@given(st.from_regex(formats._COMMON_AT_URI, fullmatch=True, alphabet=st.characters(codec="ascii")))
def test_an_at_uri_of_the_common_form_is_one_by_the_full_check(text):
    assert is_at_uri(text)


DAYS = {"2024-02-29": True, "2023-02-29": False, "1900-02-29": False, "2000-02-29": True, "2026-04-31": False}


@pytest.mark.parametrize(("day", "exists"), DAYS.items(), ids=DAYS)
def test_a_date_that_the_calendar_does_not_have_is_none(day, exists):
    assert formats.is_datetime(f"{day}T00:00:00Z") is exists
