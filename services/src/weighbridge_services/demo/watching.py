"""What the demo sees of the nodes: the log as a follower has it, statements and findings, over the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.errors import Refused
from weighbridge.identity import OperatorRecord, open_envelope
from weighbridge.log.entries import Entry, decode_entry

from weighbridge_services.demo.checking import Message
from weighbridge_services.demo.nodes import FOLLOWERS, Operators
from weighbridge_services.demo.season import GAME
from weighbridge_services.folding.statements import FINDING, Statement, open_statement
from weighbridge_services.wire import Bus, Incoming

WITNESS: Final = FOLLOWERS[0]
"""Whose log the demo reads: a follower's, which the lister cannot write."""


class Divergence(NamedTuple):
    """What a cross-check found: who found it, about whom, at which leaf, and its evidence's CID."""

    by: str
    about: str
    origin: str
    leaf: int
    kind: str
    exchanges: int
    evidence: str | None


class Watch:
    """Everything that was seen so far."""

    def __init__(self, operators: Operators, heard: Callable[[Entry, Any], None]) -> None:
        self._operators = operators
        self._heard = heard
        self._records: dict[str, OperatorRecord] = {
            node.did: node.operator_record(GAME) for node in operators.nodes.values()
        }
        self.messages: list[Message] = []
        self.places: dict[str, int] = {}
        """Of every record listed so far, its place in the log."""
        self.ok: dict[tuple[str, int], dict[str, Statement]] = {}
        """By origin and size, who said `ok` and what."""
        self.notes: dict[int, bytes] = {}
        """The lister's checkpoints, by size."""
        self.rejected: list[dict[str, Any]] = []
        self.divergences: list[Divergence] = []
        self.disagreed: dict[str, list[Statement]] = {}
        self.changed = asyncio.Event()

    def follow(self, bus: Bus) -> None:
        """Begin to read."""
        lister = self._operators.lister
        theirs = self._operators.nodes[WITNESS].subjects(GAME)
        bus.follow(theirs.stream("LOG"), theirs.log, lambda: len(self.messages) + 1, self._take_log)
        for node in self._operators.nodes.values():
            subjects = node.subjects(GAME)
            for kind, take in (("statement.>", self._take_statements), ("finding.>", self._take_findings)):
                bus.follow(subjects.stream("RECORDS"), f"{subjects.prefix}.{kind}", _first, take)
        own = lister.subjects(GAME)
        bus.follow(own.stream("RECORDS"), f"{own.prefix}.checkpoint.*", _first, self._take_checkpoints)
        bus.follow(own.stream("INBOX"), own.rejected, _first, self._take_rejected)

    async def wait(self, seconds: float) -> None:
        """Wait until something more was seen, at most so many seconds."""
        self.changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            return

    # --- what is read ----------------------------------------------------------------------------------------

    async def _take_log(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            value = _map(message.data)
            entry = decode_entry(value["entry"])
            if entry.seq != len(self.messages):
                continue
            self.messages.append(Message(value["entry"], value.get("record"), value.get("proof")))
            if entry.uri is not None:
                self.places.setdefault(entry.uri, entry.seq)
            record = None if value.get("record") is None else codec.decode(value["record"])
            self._heard(entry, record)
        self.changed.set()

    async def _take_statements(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            said = self._statement(message.data)
            if said is not None and said[1].verdict == "ok":
                self.ok.setdefault((said[1].origin, said[1].size), {})[said[0]] = said[1]
            elif said is not None:
                self.disagreed.setdefault(said[0], []).append(said[1])
        self.changed.set()

    def _statement(self, data: bytes) -> tuple[str, Statement] | None:
        """Return who said what, its signature and note verified by the keys the demo itself made."""
        try:
            author = open_envelope(data).author
            return author, open_statement(data, GAME, self._records[author]).statement
        except (Refused, KeyError):
            return None

    async def _take_findings(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            envelope = open_envelope(message.data)
            value = envelope.value
            if envelope.collection == FINDING and value.get("code") == "divergence":
                self.divergences.append(_divergence(envelope.author, value))
        self.changed.set()

    async def _take_checkpoints(self, messages: Sequence[Incoming]) -> None:
        for message in messages:
            note = _map(message.data).get("note")
            if isinstance(note, str):
                self.notes[int(message.subject.rpartition(".")[2])] = note.encode()
        self.changed.set()

    async def _take_rejected(self, messages: Sequence[Incoming]) -> None:
        self.rejected += [_map(message.data) for message in messages]
        self.changed.set()

    # --- what it comes to ------------------------------------------------------------------------------------

    def agreement(self, least: int, named: Sequence[str], quorum: int) -> tuple[Statement, list[str]] | None:
        """Return what the most of the named operators said of `least` leaves or more, and who: a quorum, or None."""
        best: tuple[Statement, list[str]] | None = None
        for (_, size), said in self.ok.items():
            if size < least:
                continue
            for root in {each.root for each in said.values()}:
                who = [did for did in named if did in said and said[did].root == root]
                if len(who) >= quorum and (best is None or len(who) > len(best[1])):
                    best = said[who[0]], who
        return best


def _first() -> int:
    return 1


def _map(data: bytes) -> dict[str, Any]:
    value: Any = codec.decode(data)
    return value if isinstance(value, dict) else {}


def _divergence(by: str, value: Mapping[str, Any]) -> Divergence:
    evidence = value.get("evidence")
    return Divergence(
        by, str(value.get("with")), str(value.get("origin")), int(value.get("index", -1)),
        str(value.get("kind")), int(value.get("exchanges", 0)), None if evidence is None else str(evidence),
    )  # fmt: skip
