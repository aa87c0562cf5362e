"""A coin game for the network tests: its log, written as a lister's ingest would publish it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weighbridge import codec
from weighbridge.dice import round_after
from weighbridge.fold.operators import listing_origin
from weighbridge.identity import Signer, encode_envelope, format_note, sign_note, sign_record
from weighbridge.identity import cosign as cosign_note
from weighbridge.local_chain import LocalChain
from weighbridge.log.checkpoint import Checkpoint
from weighbridge.log.entries import Listed, make_entry
from weighbridge.log.merkle import MerkleLog
from weighbridge_services.node import Node
from weighbridge_services.wire import Bus

DAY = 86_400_000_000
SECOND = 1_000_000
START = 20_000 * DAY + 8 * 3_600 * SECOND
CHAIN = LocalChain(b"a chain for the tests", START // SECOND - 1_000)
CHAIN_VALUE = {
    "hash": CHAIN.chain.hash,
    "publicKey": CHAIN.chain.public_key.hex(),
    "period": CHAIN.chain.period,
    "genesis": CHAIN.chain.genesis,
    "scheme": CHAIN.chain.scheme,
}
CONFIG = """
[node]
name = "{name}"
clock = "{clock}"
[broker]
port = 0
[plugins]
rulesets = [{rulesets}]
audits = [{audits}]
[[games]]
uri = "{game}"
role = "{role}"
{lister}
ruleset = "coin"
{peers}
[test]
crash = true
"""


def signer(name: str) -> Signer:
    """A person's key."""
    return Signer(hashlib.sha256(name.encode()).digest())


GM, ANN, BOB = signer("gm"), signer("ann"), signer("bob")
GAME = f"at://{GM.did}/example.coin.root/self"


def config(
    name: str,
    *,
    lister: Node | None = None,
    peers: Sequence[Node] = (),
    rulesets: Sequence[str] = ("coin",),
    audits: Sequence[str] = (),
    clock: str = "recorded",
) -> str:
    """A node's configuration; without `lister` it is the lister."""
    return CONFIG.format(
        name=name, game=GAME, clock=clock,
        role="lister" if lister is None else "follower",
        lister="" if lister is None else f'lister = "{lister.did}"',
        rulesets=", ".join(f'"{each}"' for each in rulesets),
        audits=", ".join(f'"{each}"' for each in audits),
        peers="\n".join(f'[[games.peers]]\ndid = "{peer.did}"' for peer in peers),
    )  # fmt: skip


def root_naming(**fold: Any) -> dict[str, Any]:
    """The value of a root whose `fold` names the coin game, and whatever else."""
    return {"gm": GM.did, "beacon": {"chain": CHAIN_VALUE, "margin": 3}, "fold": {"name": "coin", **fold}}


def install(site: Path, group: str, name: str, target: str, version: str = "1.0") -> Path:
    """Lay out what an installer leaves of a plugin whose module is on the path already."""
    info = site / f"{name}_toy-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-toy\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    return site


class Season:
    """Writes a log, entry by entry, and publishes it for nodes."""

    def __init__(
        self, *, policy: dict[str, Any] | None = None, lister: Node | None = None, **root: Any
    ) -> None:
        self.now = START
        self.entries: list[Listed] = []
        self.proofs: list[bytes | None] = []
        self.log = MerkleLog()
        self._count = 0
        self.witnesses: list[Node] = []
        value: dict[str, Any] = {"gm": GM.did, "beacon": {"chain": CHAIN_VALUE, "margin": 3}, **root}
        value |= {} if policy is None else {"policy": policy}
        value |= {} if lister is None else {"lister": lister.did}
        self.root(value)

    def root(self, value: dict[str, Any]) -> None:
        """List a version of the root."""
        self._list("update" if self.entries else "create", GM, None, "example.coin.root", "self", value)

    def put(self, by: Signer, what: str, value: dict[str, Any], wait: int = SECOND) -> str:
        """List a record; return its uri."""
        self.now += wait
        self._count += 1
        collection = what if "." in what else f"example.coin.{what}"
        return self._list("create", by, GAME, collection, f"r{self._count}", {"game": GAME, **value})

    def _list(
        self, op: Any, by: Signer, game: str | None, collection: str, rkey: str, value: dict[str, Any]
    ) -> str:
        envelope = sign_record(by, game, collection, rkey, value)
        listed = make_entry(
            self.entries[-1] if self.entries else None, game=GAME, at=self.now, op=op, uri=envelope.uri,
            author=by.did, record=envelope.record, prov={"sig": envelope.sig},
        )  # fmt: skip
        self._append(listed, encode_envelope(envelope))
        return envelope.uri

    def _append(self, listed: Listed, proof: bytes | None) -> None:
        self.entries.append(listed)
        self.proofs.append(proof)
        self.log.append(listed.data)

    def tick(self, wait: int = SECOND) -> None:
        """List the passing of time."""
        self.now += wait
        self._append(make_entry(self.entries[-1], game=GAME, at=self.now, op="tick"), None)

    def note(self, by: Signer, text: str) -> str:
        """List a note, which changes one cell at once."""
        return self.put(by, "note", {"text": text})

    def flip(self, by: Signer, call: str = "heads") -> str:
        """List a flip, the receipts that make it timely, and the beacon it rolls on."""
        uri = self.put(by, "flip", {"call": call})
        number = round_after(CHAIN.chain, self.now, 3)
        for node in self.witnesses:
            self.receipt(node)
        self.put(
            GM, "network.weighbridge.beacon", {"round": number, "signature": CHAIN.sign(number)}, 10 * SECOND
        )
        return uri

    def receipt(self, node: Node) -> None:
        """List an operator's receipt of the log so far."""
        text = Checkpoint(listing_origin(GAME), self.size, self.log.root()).text()
        line = cosign_note(node.keys.log, node.name, text, self.now // SECOND)
        value = {"checkpoint": format_note(text, [line]).decode()}
        self.put(node.keys.records, "network.weighbridge.receipt", value, 0)

    def operator(self, node: Node) -> None:
        """List an operator's keys."""
        self.put(node.keys.records, "network.weighbridge.operator", node.operator_record(GAME).value)

    @property
    def size(self) -> int:
        return len(self.entries)

    def messages(self, start: int = 0) -> list[bytes]:
        """The messages of a log stream."""
        pairs = zip(self.entries[start:], self.proofs[start:], strict=True)
        return [codec.encode({"entry": e.data, "record": e.record, "proof": p}) for e, p in pairs]

    def checkpoint(self, lister: Node, size: int | None = None) -> bytes:
        """The message of a lister's checkpoint."""
        text = Checkpoint(listing_origin(GAME), size or self.size, self.log.root(size)).text()
        note = format_note(text, [sign_note(lister.keys.log, lister.name, text)])
        return codec.encode({"note": note.decode()})


async def publish(bus: Bus, node: Node, season: Season, published: int = 0) -> int:
    """Append what a season has to a node's log stream, which holds `published` entries; return the new size."""
    await bus.append_many(node.subjects(GAME).log, season.messages(published), published)
    return season.size


async def cosign(bus: Bus, lister: Node, season: Season, size: int | None = None) -> None:
    """Publish the lister's checkpoint."""
    size = size or season.size
    await bus.publish_once(lister.subjects(GAME).checkpoint(size), season.checkpoint(lister, size))
