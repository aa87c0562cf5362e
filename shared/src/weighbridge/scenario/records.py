"""The records of a scenario: who wrote them, their uris, and their bytes with every name replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from weighbridge.cid import Cid
from weighbridge.codec import encode, from_json
from weighbridge.errors import WeighbridgeError
from weighbridge.identity.syntax import is_did
from weighbridge.limits import MAX_RECORD
from weighbridge.scenario import steps as s
from weighbridge.scenario.mentions import Json, account, did_of, replace_key, replace_value
from weighbridge.scenario.wrong import wrong
from weighbridge.seals import seal_hash


class Place(msgspec.Struct, frozen=True):
    """Where a record stands: its author's DID, its collection and record key, never its value."""

    author: str
    collection: str
    rkey: str

    @property
    def uri(self) -> str:
        """The at-uri."""
        return f"at://{self.author}/{self.collection}/{self.rkey}"

    @property
    def id(self) -> str:
        """The id in cell keys: `<did>:<rkey>`."""
        return f"{self.author}:{self.rkey}"

    @property
    def cell(self) -> str:
        """What the kernel's cells about the record end in: `<collection>/<did>:<rkey>`."""
        return f"{self.collection}/{self.id}"


class Records:
    """Resolves the names of one scenario, under the collections of one rule set."""

    def __init__(self, scenario: s.Scenario, root: str, collections: Iterable[str]) -> None:
        """`root` is the NSID of the root's collection, `collections` are all NSIDs that `put` may mean."""
        self._scenario = scenario
        self._collections = tuple(collections)
        self._values: dict[str, tuple[Any, str]] = {"root": (scenario.root, "$.root")}
        self._bytes: dict[str, bytes] = {}
        self._under_way: list[str] = []
        self.root = Place(_root_author(scenario.root), root, "root")
        self.places: dict[str, Place] = {"root": self.root}
        self.puts: dict[int, Place] = {}
        for at, step in enumerate(scenario.steps):
            if isinstance(step, s.Put):
                self._add(at, step)

    def _add(self, at: int, step: s.Put) -> None:
        # A name has no dot in it, so that no name is the record key of a nameless record.
        rkey = step.name or f"step.{at + 1}"
        place = Place(did_of(step.by), self._collection(step.collection, f"$.steps[{at}].put"), rkey)
        self.puts[at] = place
        if step.name is not None:
            self.places[step.name] = place
            self._values[step.name] = (step.value, f"$.steps[{at}].value")

    def _collection(self, last: str, path: str) -> str:
        found = [nsid for nsid in self._collections if nsid.rpartition(".")[2] == last]
        if not found:
            names = sorted({nsid.rpartition(".")[2] for nsid in self._collections})
            wrong(path, f"must be a collection of {self._scenario.ruleset}: {', '.join(names)}")
        return found[0]

    @property
    def game(self) -> str:
        """The at-uri of the game's root."""
        return self.root.uri

    def accounts(self) -> dict[str, str]:
        """Return the DIDs of the accounts that are mentioned, by `@name`, so that a reader can tell them."""
        found: dict[str, str] = {}

        def note(kind: str, name: str) -> str:
            if kind == "@":
                found[f"@{name}"] = account(name)
            return ""

        for step in self._scenario.steps:
            replace_value([getattr(step, field) for field in step.__struct_fields__], note)
        replace_value(self._scenario.root, note)
        return dict(sorted(found.items()))

    # --- names -------------------------------------------------------------------------------------------

    def value(self, value: Json) -> Json:
        """Return a JSON value with its names replaced."""
        return replace_value(value, self._stands_for)

    def key(self, key: str) -> str:
        """Return a cell key with its names replaced."""
        return replace_key(key, self._stands_for)

    def _stands_for(self, kind: str, name: str) -> Json:
        if kind == "ref:":
            return {"uri": self.places[name].uri, "cid": str(self.cid(name))}
        by_kind: Mapping[str, Callable[[], str]] = {
            "@": lambda: account(name),
            "uri:": lambda: self.places[name].uri,
            "id:": lambda: self.places[name].id,
            "cid:": lambda: str(self.cid(name)),
            "seal:": lambda: self.seal(name),
        }
        return by_kind[kind]()

    def cid(self, name: str) -> Cid:
        """Return the CID of the first version of a record."""
        if name not in self._bytes:
            value, path = self._values[name]
            self._begin(name, path)
            self._bytes[name] = self.encoded(value, path, is_root=name == "root")
            self._under_way.pop()
        return Cid.of(self._bytes[name])

    def seal(self, name: str) -> str:
        """Return the hash of a seal, in hex."""
        sealed, path = self._scenario.seals[name], f"$.seals.{name}"
        self._begin(f"seal:{name}", path)
        slot = [str(part) for part in self.value(list(sealed.slot))]
        value = self._from_json(self.value(sealed.value), path)
        found = seal_hash(self.game, did_of(sealed.by), slot, sealed.salt, value)
        self._under_way.pop()
        return found

    def _begin(self, name: str, path: str) -> None:
        if name in self._under_way:
            wrong(path, f"holds its own hash, by way of {', '.join(self._under_way)}")
        self._under_way.append(name)

    # --- bytes -------------------------------------------------------------------------------------------

    def encoded(self, value: Json, path: str, *, is_root: bool = False) -> bytes:
        """Return the DAG-CBOR of a record: names replaced, `game` filled in in all but the root."""
        record = self._from_json(self.value(value), path)
        if not is_root and isinstance(record, dict):
            record["game"] = self.game
        data = self._encode(record, path)
        if len(data) > MAX_RECORD:
            wrong(path, f"is a record of {len(data)} bytes, and at most {MAX_RECORD} are listed")
        return data

    def _encode(self, value: Any, path: str) -> bytes:
        try:
            return encode(value)
        except WeighbridgeError as error:
            wrong(path, f"cannot be a record: {error.message}")

    def _from_json(self, value: Json, path: str) -> Any:
        try:
            return from_json(value)
        except WeighbridgeError as error:
            wrong(path, f"cannot be a record: {error.message}")


def _root_author(root: Json) -> str:
    """The root is the GM's; where the root names none, it is that of `@gm`, and the fold reports it."""
    gm = root.get("gm") if isinstance(root, dict) else None
    if isinstance(gm, str):
        did = replace_value(gm, lambda kind, name: account(name) if kind == "@" else "")
        if is_did(did):
            return str(did)
    return account("gm")
