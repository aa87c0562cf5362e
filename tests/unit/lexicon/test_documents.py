from __future__ import annotations

import pytest
from weighbridge.lexicon import LexiconMalformed, LexiconUnresolved, LexiconUnsupported, check, load


def document(**defs):
    return {"lexicon": 1, "id": "example.toy.thing", "defs": defs}


def of(**properties):
    return document(main={"type": "object", "properties": properties})


MALFORMED = {
    "no document": (5, "$"),
    "no defs": ({"lexicon": 1, "id": "example.toy.thing"}, "$"),
    "empty defs": (document(), "$.defs"),
    "true for the version": ({**document(a={"type": "null"}), "lexicon": True}, "$.lexicon"),
    "an odd name": (document(**{"a/b": {"type": "null"}}), '$.defs["a/b"]'),
    "an unknown word": (of(a={"type": "string", "maxLenght": 3}), "$.defs.main.properties.a.maxLenght"),
    "an unknown word at the top": ({**document(a={"type": "null"}), "extra": 1}, "$.extra"),
    "an unknown type": (of(a={"type": "text"}), "$.defs.main.properties.a.type"),
    "no type": (of(a={}), "$.defs.main.properties.a.type"),
    "an unknown format": (of(a={"type": "string", "format": "email"}), "$.defs.main.properties.a.format"),
    "a size below nothing": (of(a={"type": "bytes", "minLength": -1}), "$.defs.main.properties.a.minLength"),
    "a range upside down": (
        of(a={"type": "integer", "minimum": 2, "maximum": 1}),
        "$.defs.main.properties.a.minimum",
    ),
    "const and default": (
        of(a={"type": "integer", "const": 2, "default": 1}),
        "$.defs.main.properties.a.default",
    ),
    "a text as a number": (of(a={"type": "integer", "enum": ["1"]}), "$.defs.main.properties.a.enum[0]"),
    "items missing": (of(a={"type": "array"}), "$.defs.main.properties.a"),
    "required, not declared": (
        document(main={"type": "object", "required": ["b"], "properties": {}}),
        "$.defs.main.required[0]",
    ),
    "a reference to nothing": (of(a={"type": "ref", "ref": "#gone"}), "$.defs.main.properties.a"),
    "a reference that is none": (of(a={"type": "ref", "ref": "gone"}), "$.defs.main.properties.a.ref"),
    "a union with nothing": (of(a={"type": "union", "refs": ["#gone"]}), "$.defs.main.properties.a"),
    "a record key of no kind": (
        document(main={"type": "record", "key": "some", "record": {"type": "object", "properties": {}}}),
        "$.defs.main.key",
    ),
    "a record that is no object": (
        document(main={"type": "record", "key": "any", "record": {"type": "string"}}),
        "$.defs.main.record.type",
    ),
}


@pytest.mark.parametrize(("value", "path"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_document_is_refused_with_its_path(value, path):
    with pytest.raises(LexiconMalformed) as caught:
        load(value)
    assert caught.value.detail["path"] == path
    assert caught.value.code == "lexicon-malformed"


def test_a_definition_that_is_not_there_is_refused():
    with pytest.raises(LexiconUnresolved, match="defines no 'other'"):
        check(document(main={"type": "integer"}), 1, "other")


def test_a_reference_into_a_document_not_at_hand_is_refused():
    with pytest.raises(LexiconUnresolved, match=r"example\.other\.thing#part"):
        check(of(a={"type": "ref", "ref": "example.other.thing#part"}), {})


def test_a_reference_into_a_document_at_hand_is_followed():
    other = load({"lexicon": 1, "id": "example.other.thing", "defs": {"part": {"type": "integer"}}})
    lexicon = load(of(a={"type": "ref", "ref": "example.other.thing#part"}), other)
    assert check(lexicon, {"a": 1}).problems == ()
    assert [each.path for each in check(lexicon, {"a": "1"}).problems] == ["$.a"]


def test_the_strong_reference_is_always_at_hand():
    lexicon = load(of(a={"type": "ref", "ref": "com.atproto.repo.strongRef"}))
    shape = check(lexicon, {"a": {"uri": "at://did:plc:x/a.b.c/d"}})
    assert [(each.path, each.says) for each in shape.problems] == [("$.a.cid", "is missing")]


def test_what_describes_no_value_is_refused():
    with pytest.raises(LexiconUnsupported, match="describes no value"):
        check(document(main={"type": "query"}), {})


def test_a_definition_may_refer_to_itself():
    tree = {"type": "object", "properties": {"child": {"type": "ref", "ref": "#tree"}}}
    lexicon = document(tree=tree)
    shape = check(lexicon, {"child": {"child": {"child": 5}}}, "tree")
    assert [each.path for each in shape.problems] == ["$.child.child.child"]
