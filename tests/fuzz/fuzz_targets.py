"""What is fuzzed: each decoder of what strangers send, with its corpus and what must hold of what it accepts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "plugins" / "atproto" / "tests")]

from atproto_helping import frames_in, identities_in  # noqa: E402
from fuzz_mutating import Mutate, blocks_of, changed, changed_car, havoc, loose, recoded  # noqa: E402
from vectors_root import OWN  # noqa: E402
from weighbridge import codec  # noqa: E402
from weighbridge.cid import Cid  # noqa: E402
from weighbridge.errors import Refused  # noqa: E402
from weighbridge.repos import Car, Tree, check_commit, load, open_carried, read_commit, read_repo, read_slice  # noqa: E402
from weighbridge.tree.decode import ROOT, Place, decode_node  # noqa: E402
from weighbridge_atproto.commits import verify_commit  # noqa: E402
from weighbridge_atproto.frames import CommitFrame, parse_frame  # noqa: E402

FOLDER = OWN / "atproto" / "own-pds"


class Target(NamedTuple):
    """A decoder: its corpus, the ways to change an input, and what is run; `run` raises Refused or returns.

    It asserts what must hold of what is accepted.
    """

    name: str
    corpus: tuple[bytes, ...]
    mutators: tuple[Mutate, ...]
    run: Callable[[bytes], None]

    def input(self, seed: str, number: int) -> bytes:
        """The input of a number: the same for the same seed, wherever it is made."""
        random = Random(f"{seed}/{self.name}/{number}")
        # Of two the smaller, mostly: more inputs a second, and the large ones still have their turn.
        pair = random.choice(self.corpus), random.choice(self.corpus)
        data = min(pair, key=len) if random.random() < 0.9 else pair[0]
        return random.choice(self.mutators)(random, data)


def targets() -> list[Target]:
    """Everything that is fuzzed."""
    world = World()
    return [
        Target("dag-cbor", world.values, (havoc, recoded, fresh), dag_cbor),
        Target("frame", world.frames, (havoc, changed_frame, changed_frame), world.frame),
        Target("car", world.cars, (havoc, changed_car, changed_car), world.car),
        Target("commit", world.commits, (havoc, recoded, recoded), world.commit),
        Target("record-proof", world.carried, (havoc, changed_carried, changed_carried), world.record),
        Target("mst-node", world.nodes, (havoc, changed_node, changed_node), node),
    ]


# --- ways to change what has parts -------------------------------------------------------------------------


def fresh(random: Random, _: bytes) -> bytes:
    value: Any = {}
    for _ in range(random.choice((1, 3, 8))):
        value = changed(random, value)
    return loose(random, value)


def parts_of(frame: bytes) -> tuple[Any, Any]:
    """The header and the body of a good frame."""
    for at in range(1, 512):
        try:
            return codec.decode(frame[:at]), codec.decode(frame[at:])
        except Refused:
            continue
    raise AssertionError("no frame of the corpus")


def changed_frame(random: Random, frame: bytes) -> bytes:
    header, body = parts_of(frame)
    if random.random() < 0.02:
        return codec.encode(header) + swollen(random)
    blocks = body.get("blocks")
    if isinstance(blocks, bytes) and blocks and random.random() < 0.5:
        body = {**body, "blocks": changed_car(random, blocks)}
        if random.random() < 0.5 and "commit" in body:
            roots, _ = blocks_of(blocks)
            body["commit"] = roots[0]
    elif random.random() < 0.9:
        body = changed(random, body)
    else:
        header = changed(random, header)
    return loose(random, header) + loose(random, body)


def swollen(random: Random) -> bytes:
    """A body of a great many small items."""
    item = random.choice((b"\xa0", b"\x80", b"\x40", b"\x60", b"\x00", b"\xf6", b"\x61a", b"\x82\x00\x00"))
    count = random.choice((1_000, 16_000, 300_000, 4_900_000)) // len(item)
    return b"\xa1\x63ops\x9a" + count.to_bytes(4, "big") + item * count


def changed_carried(random: Random, data: bytes) -> bytes:
    value: Any = codec.decode(data)
    blocks = list(value["blocks"])
    at = random.randrange(len(blocks))
    match random.randrange(6):
        case 0:
            blocks[at] = recoded(random, blocks[at])
        case 1:
            blocks = blocks[:at] + blocks[at + 1 :]
        case 2:
            blocks += [blocks[at]] * random.choice((1, 128, 2_000))
        case 3:
            return loose(random, {**value, "record": recoded(random, value["record"] or b"\xa0")})
        case _:
            return loose(random, changed(random, value))
    return loose(random, {**value, "blocks": blocks})


def changed_node(random: Random, block: bytes) -> bytes:
    value: Any = codec.decode(block)
    entries = [dict(each) for each in value["e"]]
    match random.randrange(5):
        case 0 if entries:
            each = random.choice(entries)
            each["p"] = random.choice((0, 1, each["p"] + 1, 255, 2**32 - 1))
        case 1 if entries:
            entries += [random.choice(entries)] * random.choice((1, 300))
        case 2:
            value = {**value, "l": random.choice((None, Cid.of(b"x"), Cid.of(b"x", 0x55)))}
        case _:
            return recoded(random, block)
    return loose(random, {**value, "e": entries})


# --- what is run -------------------------------------------------------------------------------------------


def dag_cbor(data: bytes) -> None:
    value = codec.decode(data)
    assert codec.encode(value) == data, "what was read is written otherwise"


def node(data: bytes) -> None:
    for place in (Place(0), Place(1, "a", "z"), ROOT):
        try:
            found, _ = decode_node(data, place)
        except Refused:
            if place is ROOT:
                raise
            continue
        assert list(found.keys) == sorted(set(found.keys)), "keys that do not increase"


class World:
    """The corpus, and what is known of it: the identities of its DIDs and every commit there is."""

    def __init__(self) -> None:
        self.identities = identities_in(FOLDER)
        self.frames = tuple(
            sorted(
                {data for name in ("live", "replay") for data in frames_in(FOLDER / f"{name}_frames.bin")},
                key=len,
            )
        )
        messages = [parse_frame(data) for data in self.frames]
        self.told = [each for each in messages if isinstance(each, CommitFrame)]
        files = ("alice.car", "record_proof.car", "exclusion_proof.car")
        slices = [each.blocks for each in self.told if each.blocks]
        self.cars = (*((FOLDER / name).read_bytes() for name in files), *slices)
        cars = [read_repo((car,)) for car in self.cars]
        self.commits = tuple({car.head for car in cars})
        self.signed = {Cid.of(block) for block in self.commits}
        self.carried = tuple(self._carried())
        nodes = {block for car in cars for block in car.blocks.values() if is_node(block)}
        self.nodes = tuple(sorted(nodes))
        records = {block for car in cars for block in car.blocks.values()}
        document = json.loads((FOLDER / "did_docs.json").read_text())
        self.values = (*sorted(records), codec.encode(codec.from_json(document)))

    def _carried(self) -> list[bytes]:
        found: list[bytes] = []
        for message in self.told:
            verified = verify_commit(message, self.identities[message.repo])
            found += [verified.bundle.carry(each.path, each.cid) for each in verified.changes[:3]]
        return found

    def frame(self, data: bytes) -> None:
        message = parse_frame(data)
        if isinstance(message, CommitFrame) and message.repo in self.identities:
            found = verify_commit(message, self.identities[message.repo])
            assert found.commit.cid in self.signed, "a commit that nobody signed"

    def car(self, data: bytes) -> None:
        car = read_slice(data)
        assert sum(map(len, car.blocks.values())) <= len(data), "more blocks than bytes"
        assert all(Cid.of(block, cid.codec) == cid for cid, block in car.blocks.items()), "a false name"
        whole(car)

    def commit(self, data: bytes) -> None:
        commit = read_commit(data)
        if commit.did in self.identities:
            check_commit(commit, commit.did, self.identities[commit.did].key)
            assert commit.cid in self.signed, "a commit that nobody signed"

    def record(self, data: bytes) -> None:
        found = open_carried(data)
        known = self.identities.get(found.commit.did)
        if known is not None and found.prov["key"] == known.key.did_key:
            assert found.commit.cid in self.signed, "a commit that nobody signed"
        assert (found.cid is None) == (found.record is None), "a record without its name"


def whole(car: Car) -> None:
    """Load the tree of a CAR as far as it goes; what is loaded whole has the root of its content."""
    commit = read_commit(car.head)
    load(car.blocks, commit.data, partial=True)
    tree = load(car.blocks, commit.data)
    assert Tree.build(dict(tree.items())).root == commit.data, "another root than that of its content"


def is_node(block: bytes) -> bool:
    try:
        value = codec.decode(block)
    except Refused:
        return False
    return isinstance(value, dict) and value.keys() == {"e", "l"}
