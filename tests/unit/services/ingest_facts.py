"""A coin game's log as a lister decides on it, without a broker or a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import coin
import msgspec
from weighbridge.fold.records import BEACON, DAY, RECEIPT
from weighbridge.identity import Envelope, Signer, cosign, encode_envelope, format_note, sign_record
from weighbridge.log import Checkpoint
from weighbridge.log.entries import Listed
from weighbridge_services.following.rules import Rules
from weighbridge_services.ingest.decide import Decision, Facts, Handed, Known, Tally, decide
from weighbridge_services.ingest.opening import Opened, Refusal, read_record

GM, LISTER, WITNESS = Signer(b"g" * 32), Signer(b"l" * 32), Signer(b"w" * 32)
GAME = f"at://{GM.did}/example.coin.root/one"
NOON = 20_000 * DAY + DAY // 2
SECOND = 1_000_000


def root(**fields: Any) -> Envelope:
    return sign_record(GM, None, "example.coin.root", "one", {"gm": GM.did, **fields})


def note(who: Signer, rkey: str, text: str = "hello") -> Envelope:
    return sign_record(who, GAME, "example.coin.note", rkey, {"game": GAME, "text": text})


def flip(who: Signer, rkey: str) -> Envelope:
    return sign_record(who, GAME, "example.coin.flip", rkey, {"game": GAME, "call": "heads"})


def beacon(who: Signer, number: int) -> Envelope:
    return sign_record(
        who, GAME, BEACON, str(number), {"game": GAME, "round": number, "signature": bytes(48)}
    )


def receipt(who: Signer, size: int) -> Envelope:
    text = Checkpoint(f"{GAME}/log", size, bytes(32)).text()
    cosigned = format_note(text, [cosign(who, "bela", text, 1)]).decode()
    return sign_record(who, GAME, RECEIPT, str(size), {"game": GAME, "checkpoint": cosigned})


def player(number: int) -> Signer:
    return Signer(number.to_bytes(32, "big"))


def opened(envelope: Envelope, at: int | None = None, sound: bool = False) -> Handed:
    found = read_record(encode_envelope(envelope), GAME)
    assert isinstance(found, Opened)
    return Handed(found, at, sound)


def refused(code: str = "bad-signature") -> Handed:
    return Handed(Refusal(code, "It is not."))


class Book:
    """A log that grows decision by decision, with the facts that the store would look up."""

    def __init__(self) -> None:
        self.entries: list[Listed] = []
        self.facts = Facts(GAME, None, Rules(), Tally(), operators=frozenset({LISTER.did, WITNESS.did}))
        self._known: dict[str, list[Known]] = {}
        self._since: dict[str, int] = {}
        self._rounds: set[int] = set()

    def list(self, *handed: Handed, now: int = NOON) -> Decision:
        made = decide(coin.RULES, self.now_known(), handed, now)
        self.take(made)
        return made

    def now_known(self, **changes: Any) -> Facts:
        last = self.entries[-1] if self.entries else None
        return msgspec.structs.replace(
            self.facts,
            last=last,
            known=self._known,
            since=dict(self._since),
            beacons=frozenset(self._rounds),
            **changes,
        )

    def take(self, made: Decision) -> None:
        for listed in made.entries:
            self.entries.append(listed)
            entry = listed.entry
            if entry.uri is not None:
                self._known.setdefault(entry.uri, []).append(
                    Known(entry.seq, entry.at, entry.record, (entry.prov or {}).get("rev"))
                )
        self._since = {**made.authors, **self._since}
        self._rounds |= made.beacons.keys()
        self.facts = msgspec.structs.replace(
            self.facts, rules=made.rules, tally=made.tally, receipts={**self.facts.receipts, **made.receipts}
        )

    def ops(self) -> list[str]:
        return [listed.entry.op for listed in self.entries]


def opened_book(now: int = NOON, **fields: Any) -> Book:
    book = Book()
    book.list(opened(root(**fields)), now=now)
    return book


def codes(answers: Iterable[object]) -> list[str]:
    return [each.code if isinstance(each, Refusal) else type(each).__name__.lower() for each in answers]
