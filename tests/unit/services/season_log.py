"""The demo's season as a log without any node: operators, receipts, reports and beacons put in by hand."""

from __future__ import annotations

from typing import Any

from weighbridge.codec import decode
from weighbridge.dice import QUICKNET, round_time
from weighbridge.fold.operators import listing_origin
from weighbridge.fold.records import BEACON, RECEIPT, TRACE
from weighbridge.identity import (
    COSIGNATURE,
    OPERATOR,
    SIGNATURE,
    Envelope,
    Signer,
    cosign,
    encode_envelope,
    format_note,
    make_operator_record,
    sign_note,
    sign_record,
    verifier_key,
)
from weighbridge.log import MerkleLog
from weighbridge.log.checkpoint import Checkpoint
from weighbridge.log.entries import Listed, make_entry
from weighbridge_services.demo.cast import GM, PLAYERS, signer
from weighbridge_services.demo.season import GAME, SECOND, Given, Season, Wait, beacons

NAMES = ("alma", "bela", "cleo", "dora")


class Operator:
    def __init__(self, name: str) -> None:
        self.name = name
        self.records, self.log, self.recompute = (Signer(f"{name} {n}".encode().ljust(32)) for n in range(3))

    @property
    def did(self) -> str:
        return self.records.did

    def record(self) -> Envelope:
        keys = (
            verifier_key(self.name, SIGNATURE, self.log.public),
            verifier_key(self.name, COSIGNATURE, self.recompute.public),
        )
        value = make_operator_record(self.did, GAME, self.name, *keys).value
        return sign_record(self.records, GAME, OPERATOR, "self", value)


OPERATORS = tuple(Operator(name) for name in NAMES)
LISTER, FOLLOWERS = OPERATORS[0], OPERATORS[1:]
KERNEL: dict[str, Any] = {
    "lister": LISTER.did,
    "policy": {"dids": [each.did for each in OPERATORS], "quorum": 3},
}


class Log:
    """Lists a season as a lister with three punctual followers would."""

    def __init__(self, season: Season) -> None:
        self.season = season
        self.listed: list[Listed] = []
        self.merkle = MerkleLog()
        self.at = 0

    def run(self) -> list[Listed]:
        for item in self.season.items:
            if isinstance(item, Given):
                self.pass_to(item.at)
                self.put(item.envelope)
                if item.envelope.is_root:
                    for operator in OPERATORS:
                        self.put(operator.record())
                if item.envelope.value.get("trace"):
                    self.report(item.envelope)
            else:
                self.wait(item)
        return self.listed

    def wait(self, wait: Wait) -> None:
        if wait.until is not None:
            self.pass_to(wait.until)
        if wait.beacon is not None:
            self.pass_to(round_time(QUICKNET, wait.beacon) * SECOND)
            found = next(each for each in beacons() if each.round == wait.beacon)
            value = {"game": GAME, "round": found.round, "signature": bytes.fromhex(found.signature)}
            self.put(sign_record(LISTER.records, GAME, BEACON, str(found.round), value))
        if wait.receipts:
            size = len(self.listed)
            for follower in FOLLOWERS:
                self.put(self.receipt(follower, size))

    def receipt(self, follower: Operator, size: int) -> Envelope:
        text = Checkpoint(listing_origin(GAME), size, self.merkle.root(size)).text()
        note = format_note(text, [cosign(follower.log, follower.name, text, self.at // SECOND + 1)])
        value = {"game": GAME, "checkpoint": note.decode()}
        return sign_record(follower.records, GAME, RECEIPT, str(size), value)

    def report(self, envelope: Envelope) -> None:
        value = {"game": GAME, "subject": {"uri": envelope.uri, "cid": str(envelope.cid)}, "verdict": "ok"}
        self.put(sign_record(LISTER.records, GAME, TRACE, f"t-{envelope.rkey}", value))

    def pass_to(self, at: int) -> None:
        day = 86_400 * SECOND
        for midnight in range(self.at // day + 1, at // day + 1) if self.listed else ():
            self.append(at=midnight * day, op="tick")
        self.at = max(self.at, at)

    def put(self, envelope: Envelope) -> None:
        if envelope.rkey.endswith("forged"):
            return
        self.append(at=self.at, op="create", uri=envelope.uri, author=envelope.author, record=envelope.record)

    def append(self, **fields: Any) -> None:
        last = self.listed[-1] if self.listed else None
        listed = make_entry(last, game=GAME, **fields)
        self.listed.append(listed)
        self.merkle.append(listed.data)


def proof(listed: Listed) -> bytes | None:
    """Return the envelope of an entry of this log, whose authors' keys are all known here."""
    entry = listed.entry
    if entry.uri is None or listed.record is None:
        return None
    author, collection, rkey = entry.uri.removeprefix("at://").split("/")
    return encode_envelope(
        sign_record(SIGNERS[author], game_of(entry.uri), collection, rkey, decode(listed.record))
    )


def game_of(uri: str) -> str | None:
    return None if uri == GAME else GAME


SIGNERS = {each.did: each for each in (signer(GM), *(signer(player.key) for player in PLAYERS))}
SIGNERS |= {each.did: each.records for each in OPERATORS}


def checkpoint_note(log: Log, size: int) -> bytes:
    text = Checkpoint(listing_origin(GAME), size, log.merkle.root(size)).text()
    return format_note(text, [sign_note(LISTER.log, LISTER.name, text)])
