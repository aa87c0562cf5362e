"""Lexicon documents: read strictly, so that a slip of the pen is not a rule nobody enforces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from weighbridge.errors import Refused
from weighbridge.identity.syntax import is_nsid, is_rkey
from weighbridge.lexicon.formats import FORMATS
from weighbridge.lexicon.paths import below


class LexiconMalformed(Refused):
    """A Lexicon document is not one: the message and `path` say where and why."""

    code = "lexicon-malformed"


class Lexicon:
    """A checked Lexicon document: its `id` (NSID), its `defs`, and the documents its references may name."""

    __slots__ = ("defs", "id", "others")

    def __init__(
        self, nsid: str, defs: Mapping[str, Mapping[str, Any]], others: Mapping[str, Lexicon]
    ) -> None:
        self.id = nsid
        self.defs = defs
        self.others = others

    def full_name(self, name: str) -> str:
        """Return what `$type` says of a definition: the NSID, with `#name` for all but `main`."""
        return self.id if name == "main" else f"{self.id}#{name}"


def load(document: object, *others: Lexicon) -> Lexicon:
    """Read a Lexicon document (as JSON gives it). `others` are those its references may name, beside itself.

    Raises `LexiconMalformed` with the path of the first thing that is wrong.
    """
    outer = _mapping(document, "$")
    _only(outer, ("lexicon", "id", "defs"), ("$type", "revision", "description"), "$")
    if type(outer["lexicon"]) is not int or outer["lexicon"] != 1:
        _wrong("$.lexicon", "must be 1")
    nsid = outer["id"]
    if not isinstance(nsid, str) or not is_nsid(nsid):
        _wrong("$.id", "must be an NSID, such as town.delve.sheet")
    defs = _mapping(outer["defs"], "$.defs")
    if not defs:
        _wrong("$.defs", "must hold a definition")
    for name, schema in defs.items():
        _definition(name, schema, below("$.defs", name))
    lexicon = Lexicon(nsid, defs, {other.id: other for other in others})
    _local_references(defs, lexicon, "$.defs")
    return lexicon


def _wrong(path: str, says: str) -> NoReturn:
    raise LexiconMalformed(f"{path} {says}", path=path)


def _mapping(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        _wrong(path, "must be an object")
    return value


def _only(value: Mapping[str, Any], needed: tuple[str, ...], allowed: tuple[str, ...], path: str) -> None:
    for key in needed:
        if key not in value:
            _wrong(path, f"has no {key!r}")
    for key in value:
        if key not in needed and key not in allowed:
            _wrong(below(path, key), "is no word of Lexicon here")


# --- What each word may hold -------------------------------------------------------------------------------


def _text(value: object, path: str) -> None:
    if not isinstance(value, str):
        _wrong(path, "must be a text")


def _flag(value: object, path: str) -> None:
    if not isinstance(value, bool):
        _wrong(path, "must be true or false")


def _integer(value: object, path: str) -> None:
    if type(value) is not int:
        _wrong(path, "must be a whole number")


def _size(value: object, path: str) -> None:
    if type(value) is not int or value < 0:
        _wrong(path, "must be a whole number, not below 0")


def _list_of(item: Callable[[object, str], None]) -> Callable[[object, str], None]:
    def run(value: object, path: str) -> None:
        if not isinstance(value, list | tuple):
            _wrong(path, "must be a list")
        for at, each in enumerate(value):
            item(each, f"{path}[{at}]")

    return run


def _format(value: object, path: str) -> None:
    if not isinstance(value, str) or value not in FORMATS:
        _wrong(path, f"must be one of {', '.join(FORMATS)}")


def _reference(value: object, path: str) -> None:
    if not isinstance(value, str):
        _wrong(path, "must be a text")
    nsid, mark, name = value.partition("#")
    if (mark and not _is_name(name)) or not (is_nsid(nsid) if nsid else mark):
        _wrong(path, "must be a reference: `#name`, an NSID, or an NSID with `#name`")


def _is_name(name: str) -> bool:
    return is_rkey(name) and "." not in name and ":" not in name


def _properties(value: object, path: str) -> None:
    for name, schema in _mapping(value, path).items():
        _schema(schema, below(path, name), _FIELDS)


def _field(value: object, path: str) -> None:
    _schema(value, path, _FIELDS)


def _key(value: object, path: str) -> None:
    literal = isinstance(value, str) and value.startswith("literal:") and is_rkey(value[8:])
    if value not in ("tid", "nsid", "any") and not literal:
        _wrong(path, "must be tid, nsid, any or literal:<record key>")


def _record_object(value: object, path: str) -> None:
    _schema(value, path, {"object": _FIELDS["object"]})


def _params(value: object, path: str) -> None:
    _schema(value, path, {"params": _OBJECT})


def _body(value: object, path: str) -> None:
    body = _mapping(value, path)
    _only(body, ("encoding",), ("description", "schema"), path)
    _text(body["encoding"], f"{path}.encoding")
    if "schema" in body:
        _schema(body["schema"], f"{path}.schema", _BODIES)


def _message(value: object, path: str) -> None:
    message = _mapping(value, path)
    _only(message, ("schema",), ("description",), path)
    _schema(message["schema"], f"{path}.schema", {"union": _FIELDS["union"]})


def _error(value: object, path: str) -> None:
    error = _mapping(value, path)
    _only(error, ("name",), ("description",), path)
    _text(error["name"], f"{path}.name")


def _permission(value: object, path: str) -> None:
    permission = _mapping(value, path)
    if permission.get("type") != "permission":
        _wrong(path, "must have type 'permission'")
    _text(permission.get("resource"), f"{path}.resource")


def _translations(value: object, path: str) -> None:
    for language, text in _mapping(value, path).items():
        _text(text, below(path, language))


# --- The types: their words, those that must be there marked by `!` -----------------------------------------

_Words = Mapping[str, Callable[[object, str], None]]

_RANGE: _Words = {"minLength": _size, "maxLength": _size}
_OBJECT: _Words = {"properties!": _properties, "required": _list_of(_text), "nullable": _list_of(_text)}
_FIELDS: Mapping[str, _Words] = {
    "null": {},
    "boolean": {"default": _flag, "const": _flag},
    "integer": {
        **dict.fromkeys(("minimum", "maximum", "default", "const"), _integer),
        "enum": _list_of(_integer),
    },
    "string": {
        **_RANGE,
        **dict.fromkeys(("minGraphemes", "maxGraphemes"), _size),
        **dict.fromkeys(("default", "const"), _text),
        **dict.fromkeys(("enum", "knownValues"), _list_of(_text)),
        "format": _format,
    },
    "bytes": _RANGE,
    "cid-link": {},
    "blob": {"accept": _list_of(_text), "maxSize": _size},
    "array": {"items!": _field, **_RANGE},
    "object": _OBJECT,
    "ref": {"ref!": _reference},
    "union": {"refs!": _list_of(_reference), "closed": _flag},
    "unknown": {},
}
_BODIES: Mapping[str, _Words] = {name: _FIELDS[name] for name in ("object", "ref", "union")}
_CALL: _Words = {"parameters": _params, "output": _body, "errors": _list_of(_error)}
_PRIMARY: Mapping[str, _Words] = {
    "record": {"key!": _key, "record!": _record_object},
    "query": _CALL,
    "procedure": {**_CALL, "input": _body},
    "subscription": {"parameters": _params, "message": _message, "errors": _list_of(_error)},
    "permission-set": {
        "permissions!": _list_of(_permission),
        **dict.fromkeys(("title", "detail"), _text),
        **dict.fromkeys(("title:lang", "detail:lang"), _translations),
    },
}
# A reference, a union or an unknown has no name of its own: it stands only where it is used.
_NAMED: Mapping[str, _Words] = {
    "token": {},
    **{name: words for name, words in _FIELDS.items() if name not in ("ref", "union", "unknown")},
}


def _definition(name: str, schema: object, path: str) -> None:
    if not _is_name(name):
        _wrong(path, "must be named in ASCII letters and digits")
    kind = _mapping(schema, path).get("type")
    if kind in _PRIMARY and name != "main":
        _wrong(path, f"a {kind} may only be the definition `main`")
    _schema(schema, path, {**_NAMED, **_PRIMARY})


def _schema(value: object, path: str, kinds: Mapping[str, _Words]) -> None:
    schema = _mapping(value, path)
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in kinds:
        _wrong(f"{path}.type", f"must be one of {', '.join(kinds)}")
    words = kinds[kind]
    needed = tuple(word[:-1] for word in words if word.endswith("!"))
    _only(schema, ("type", *needed), ("description", *words), path)
    for word, holds in words.items():
        name = word.rstrip("!")
        if name in schema:
            holds(schema[name], below(path, name))
    _consistent(schema, path)


def _consistent(schema: Mapping[str, Any], path: str) -> None:
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minGraphemes", "maxGraphemes")):
        if least in schema and most in schema and schema[least] > schema[most]:
            _wrong(f"{path}.{least}", f"is above {most}")
    if "const" in schema and "default" in schema:
        _wrong(f"{path}.default", "stands beside const, which leaves no choice")
    for names in ("required", "nullable"):
        for at, name in enumerate(schema.get(names, ())):
            if name not in schema["properties"]:
                _wrong(f"{path}.{names}[{at}]", f"names {name!r}, which is not among the properties")


def _local_references(value: object, lexicon: Lexicon, path: str) -> None:
    """Refuse a reference into this document that leads nowhere, wherever it stands."""
    if isinstance(value, Mapping):
        for reference in _references(value):
            nsid, _, name = reference.partition("#")
            if nsid in ("", lexicon.id) and (name or "main") not in lexicon.defs:
                _wrong(path, f"refers to {reference}, which is not defined")
        for key, each in value.items():
            _local_references(each, lexicon, below(path, key))
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            _local_references(each, lexicon, f"{path}[{at}]")


def _references(schema: Mapping[str, Any]) -> tuple[str, ...]:
    if schema.get("type") == "ref":
        return (schema["ref"],)
    return tuple(schema["refs"]) if schema.get("type") == "union" else ()
