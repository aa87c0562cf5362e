"""Schemas to closures: the types that hold others, and the references between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from weighbridge.errors import Refused
from weighbridge.lexicon.documents import Lexicon, load
from weighbridge.lexicon.leaves import LEAVES, Check, Findings, Schema, measure, token
from weighbridge.lexicon.paths import Path, render

_ALWAYS_KNOWN = frozenset(("game", "createdAt"))
"""Fields that any record may carry: the kernel reads the one, nobody the other."""

_STRONG_REF = load(
    {
        "lexicon": 1,
        "id": "com.atproto.repo.strongRef",
        "defs": {
            "main": {
                "type": "object",
                "required": ["uri", "cid"],
                "properties": {
                    "uri": {"type": "string", "format": "at-uri"},
                    "cid": {"type": "string", "format": "cid"},
                },
            }
        },
    }
)


class LexiconUnsupported(Refused):
    """A Lexicon asks for what the kernel cannot decide alike everywhere, or is no description of a value."""

    code: ClassVar[str] = "lexicon-unsupported"


class LexiconUnresolved(Refused):
    """A definition is named that no document at hand holds."""

    code: ClassVar[str] = "lexicon-unresolved"


class Compiler:
    """Compiles the definitions of a document, each once; references reach into `lexicon.others` too."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._documents = {_STRONG_REF.id: _STRONG_REF, **lexicon.others, lexicon.id: lexicon}
        self._done: dict[tuple[str, str], Check] = {}
        self._begun: set[tuple[str, str]] = set()

    def named(self, nsid: str, name: str) -> Check:
        """Return the check of a definition."""
        target = (nsid, name)
        if target in self._done:
            return self._done[target]
        if target in self._begun:
            return self._later(target)
        document = self._documents.get(nsid)
        schema = None if document is None else document.defs.get(name)
        if document is None or schema is None:
            raise LexiconUnresolved(f"no document at hand defines {nsid}#{name}", nsid=nsid, name=name)
        self._begun.add(target)
        check = self._definition(schema, document, name)
        self._done[target] = check
        return check

    def _later(self, target: tuple[str, str]) -> Check:
        """A definition that refers to itself is looked up when a value gets there."""
        done = self._done

        def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
            done[target](value, parent, key, out)

        return run

    def _definition(self, schema: Schema, document: Lexicon, name: str) -> Check:
        full_name = document.full_name(name)
        match schema["type"]:
            case "record":
                return self._object(schema["record"], document, full_name, _ALWAYS_KNOWN)
            case "object":
                return self._object(schema, document, full_name)
            case "token":
                return token(full_name)
            case "query" | "procedure" | "subscription" | "permission-set" as kind:
                raise LexiconUnsupported(f"{full_name} is a {kind}, which describes no value", name=full_name)
        return self._field(schema, document, full_name)

    def _field(self, schema: Schema, document: Lexicon, where: str) -> Check:
        match schema["type"]:
            case "object":
                return self._object(schema, document, None, where=where)
            case "array":
                return self._array(schema, document, where)
            case "ref":
                return self.named(*_target(schema["ref"], document))
            case "union":
                return self._union(schema, document)
        if "minGraphemes" in schema or "maxGraphemes" in schema:
            raise LexiconUnsupported(
                f"{where} is measured in graphemes, which differ between versions of Unicode: "
                "give it minLength or maxLength (bytes), or let the rule set check it",
                name=where,
            )
        return LEAVES[schema["type"]](schema)

    def _object(
        self,
        schema: Schema,
        document: Lexicon,
        full_name: str | None,
        always_known: frozenset[str] = frozenset(),
        where: str = "",
    ) -> Check:
        """`full_name` is what `$type` must say, where it may stand: in what has a name."""
        needed, nullable = schema.get("required", ()), schema.get("nullable", ())
        fields = tuple(
            (
                name,
                self._field(inner, document, f"{full_name or where}.{name}"),
                name in needed,
                name in nullable,
            )
            for name, inner in schema["properties"].items()
        )
        extras = _extras(schema, always_known, full_name)

        def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
            if not isinstance(value, dict):
                out.wrong(parent, key, "must be a map")
                return
            here = (parent, key)
            met = 0
            for name, check, is_needed, is_nullable in fields:
                if name in value:
                    met += 1
                    item = value[name]
                    if item is not None or not is_nullable:
                        check(item, here, name, out)
                elif is_needed:
                    out.wrong(here, name, "is missing")
            if met != len(value):
                extras(value, here, out)

        return run

    def _array(self, schema: Schema, document: Lexicon, where: str) -> Check:
        measured = measure(schema, "items")
        item = self._field(schema["items"], document, f"{where}[]")

        def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
            if not isinstance(value, list):
                out.wrong(parent, key, "must be a list")
                return
            if measured is not None:
                measured(len(value), parent, key, out)
            here = (parent, key)
            for at, each in enumerate(value):
                item(each, here, at, out)

        return run

    def _union(self, schema: Schema, document: Lexicon) -> Check:
        targets = [_target(reference, document) for reference in schema["refs"]]
        table = {_full_name(*target): self.named(*target) for target in targets}
        closed = schema.get("closed", False)

        def run(value: object, parent: Path, key: str | int, out: Findings) -> None:
            kind = value.get("$type") if isinstance(value, dict) else None
            if not isinstance(kind, str):
                out.wrong(parent, key, "must be a map whose $type says what it is")
            elif kind in table:
                table[kind](value, parent, key, out)
            elif closed:
                out.wrong((parent, key), "$type", f"must be {' or '.join(table) or 'nothing at all'}")

        return run


def _extras(
    schema: Schema, always_known: frozenset[str], full_name: str | None
) -> Callable[[dict[Any, Any], tuple[Path, str | int], Findings], None]:
    """Return what judges the fields that no property names: `$type`, the always known, and the unknown."""
    declared = frozenset(schema["properties"]) | always_known

    def run(value: dict[Any, Any], here: tuple[Path, str | int], out: Findings) -> None:
        if not all(isinstance(name, str) for name in value):
            out.wrong(*here, "must have texts as its keys")
            return
        for name in sorted(value):
            if name in declared:
                continue
            if name != "$type" or full_name is None:
                out.unknown.append(render(here, name))
            elif value[name] != full_name:
                out.wrong(here, name, f"must be {full_name!r}")

    return run


def _target(reference: str, document: Lexicon) -> tuple[str, str]:
    nsid, _, name = reference.partition("#")
    return nsid or document.id, name or "main"


def _full_name(nsid: str, name: str) -> str:
    return nsid if name == "main" else f"{nsid}#{name}"
