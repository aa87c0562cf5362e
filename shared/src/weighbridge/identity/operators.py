"""Operator records: the three keys of an operator, each for one purpose.

A record of the collection `network.weighbridge.operator` is signed by the operator's did:key, which signs its
records and statements, and names two more Ed25519 keys as C2SP verifier keys:

- `log` (0x01) signs the checkpoints of a log it lists; the same key material cosigns, as 0x04, the listing
  checkpoints of others that it holds and has verified: its receipts (`cosigner`);
- `recompute` (0x04) cosigns transcripts. It means "I recomputed this" and signs nothing else.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from weighbridge.contract import Problem
from weighbridge.errors import Refused
from weighbridge.identity import syntax
from weighbridge.identity.didkey import public_key
from weighbridge.identity.vkeys import COSIGNATURE, SIGNATURE, VerifierKey, parse_vkey, verifier_key
from weighbridge.limits import MAX_OPERATOR_NAME

OPERATOR = "network.weighbridge.operator"


class BadOperatorRecord(Refused):
    """An operator record does not fit; `detail["problems"]` are the problems, each with its path."""

    code: ClassVar[str] = "bad-operator"


class OperatorRecord(msgspec.Struct, frozen=True):
    """An operator: its DID (a did:key: the key of its records), a name for people, and its two note keys."""

    did: str
    game: str
    name: str
    log: VerifierKey
    recompute: VerifierKey

    @property
    def cosigner(self) -> VerifierKey:
        """The key of its receipts: the log key as a cosigner (0x04)."""
        return verifier_key(self.log.name, COSIGNATURE, self.log.public)

    @property
    def value(self) -> dict[str, Any]:
        """The record, as it is signed and listed."""
        return {"game": self.game, "name": self.name, "log": str(self.log), "recompute": str(self.recompute)}


def make_operator_record(
    did: str, game: str, name: str, log: VerifierKey, recompute: VerifierKey
) -> OperatorRecord:
    """Return an operator record, checked. Raises BadOperatorRecord."""
    return parse_operator(did, OperatorRecord(did, game, name, log, recompute).value)


def parse_operator(author: str, value: object) -> OperatorRecord:
    """Return the operator that a record of `author` describes. Raises BadOperatorRecord with all problems."""
    record, problems = check_operator(author, value)
    if record is None:
        told = "; ".join(f"{problem.path}: {problem.says}" for problem in problems)
        raise BadOperatorRecord(f"the operator record of {author} does not fit: {told}", problems=problems)
    return record


def check_operator(author: str, value: object) -> tuple[OperatorRecord | None, tuple[Problem, ...]]:
    """Return the operator that a record describes, or None and every problem at once, each with its path.

    Fields that nobody knows are left alone.
    """
    if not isinstance(value, dict):
        return None, (Problem("$", "an operator record is a map"),)
    problems: list[Problem] = []
    if not syntax.is_record_uri(value.get("game")):
        problems.append(Problem("$.game", "the at-uri of the game's root"))
    name = value.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_OPERATOR_NAME:
        problems.append(Problem("$.name", f"a text of 1 to {MAX_OPERATOR_NAME} characters"))
    log = _key(value, "log", SIGNATURE, problems)
    recompute = _key(value, "recompute", COSIGNATURE, problems)
    _check_apart(author, log, recompute, problems)
    if problems or log is None or recompute is None:
        return None, tuple(problems)
    return OperatorRecord(author, value["game"], value["name"], log, recompute), ()


def _key(value: dict[str, Any], field: str, type: int, problems: list[Problem]) -> VerifierKey | None:
    text = value.get(field)
    if not isinstance(text, str):
        problems.append(Problem(f"$.{field}", f"a verifier key of type 0x{type:02x}, as text"))
        return None
    try:
        return parse_vkey(text, type)
    except Refused as refused:
        problems.append(Problem(f"$.{field}", refused.message))
        return None


def _check_apart(
    author: str, log: VerifierKey | None, recompute: VerifierKey | None, problems: list[Problem]
) -> None:
    # A key with two purposes can be made to say, by a signature for one, what it never meant for the other.
    try:
        records = public_key(author)
    except Refused as refused:
        problems.append(Problem("$", f"an operator signs its records with a did:key: {refused.message}"))
        return
    if log is not None and log.public == records:
        problems.append(Problem("$.log", "another key than the did:key of the records"))
    if recompute is not None and recompute.public in {records, log.public if log is not None else None}:
        problems.append(Problem("$.recompute", "another key than the two others"))
