"""Finding where two nodes part: oneself folded again first, then the first leaf, then what is in it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused, Unavailable
from weighbridge.log import first_difference
from weighbridge.log.merkle import MerkleLog
from weighbridge.logfile import write_car

from weighbridge_services.cross_check.decide import Kind, Side, is_borne_out, kind_of, manifest, read_side
from weighbridge_services.cross_check.errors import NotBorneOut, SelfCheckFailed
from weighbridge_services.files import write_new
from weighbridge_services.node import Node
from weighbridge_services.subjects import Subjects, token
from weighbridge_services.wire import Bus
from weighbridge_services.wire.elsewhere import length_of, message_of

PATIENCE: Final = 10.0
"""Seconds for one answer of another node."""
REFOLD: Final = 3_600.0
"""Seconds for a refold in a fresh process."""


class Parting(msgspec.Struct, frozen=True):
    """Where two nodes part: the leaf, what kind of difference it is, both sides of it, and how many roots that took."""

    index: int
    kind: Kind
    ours: Side
    theirs: Side
    exchanges: int


async def refolded(node: Node, game: str, origin: str, size: int) -> bytes:
    """Return the root that a fresh process finds by folding this node's log again. Raises SelfCheckFailed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "weighbridge_services.folding.refold", "--node", str(node.folder), "--game", game,
        "--origin", origin, "--size", str(size),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(REFOLD):
            out, told = await process.communicate()
    except BaseException:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    try:
        answer: dict[str, Any] = json.loads(out)
        return bytes.fromhex(answer["root"])
    except (ValueError, KeyError, TypeError) as error:
        says = out.decode(errors="replace") or told.decode(errors="replace")[-500:]
        raise SelfCheckFailed(f"folding {game} again did not come to an end: {says.strip()}") from error


async def part(bus: Bus, node: Node, theirs: Subjects, origin: str, size: int, root: bytes) -> Parting | None:
    """Find the first leaf in which another node differs, whose `root` it has signed; None if none does.

    Raises NotBorneOut, and Unavailable where the other node neither answers nor has its transcript in reach.
    """
    ours = Subjects(token(node.did), theirs.game)
    try:
        return await _by_asking(bus, ours, theirs, origin, size, root)
    except Unavailable:
        transcript = await _transcript(bus, node, theirs, origin, size)
        return await _by_transcript(bus, ours, transcript, origin, size, root)


async def _by_asking(
    bus: Bus, ours: Subjects, theirs: Subjects, origin: str, size: int, root: bytes
) -> Parting | None:
    loop = asyncio.get_running_loop()

    def ask(whom: Subjects) -> Any:
        def hash_of(start: int, end: int) -> bytes:
            asked = codec.encode({"origin": origin, "start": start, "end": end})
            work = bus.ask(whom.rpc("subtree"), asked, PATIENCE)
            return _hash(asyncio.run_coroutine_threadsafe(work, loop).result())

        return hash_of

    found = await asyncio.to_thread(first_difference, ask(ours), ask(theirs), size)
    if found is None:
        return None
    sides = [await _side(bus, whom, origin, found.index, size) for whom in (ours, theirs)]
    return _parting(found.index, size, root, sides[0], sides[1], found.exchanges)


def _hash(answer: bytes) -> bytes:
    value: Any = codec.decode(answer)
    found = value.get("hash") if isinstance(value, dict) else None
    if type(found) is not bytes or len(found) != 32:
        raise NotBorneOut("a node was asked for the hash over some leaves and answered with something else")
    return found


async def _side(bus: Bus, whom: Subjects, origin: str, index: int, size: int) -> Side:
    asked = codec.encode({"origin": origin, "index": index, "size": size})
    return read_side(await bus.ask(whom.rpc("leaf"), asked, PATIENCE))


def _parting(index: int, size: int, root: bytes, ours: Side, theirs: Side, exchanges: int) -> Parting:
    try:
        sound = is_borne_out(theirs, index, size, root)
    except Refused as refused:
        raise NotBorneOut(
            f"leaf {index} of another node is not in the transcript it signed: {refused}"
        ) from refused
    if not sound:
        raise NotBorneOut(f"what another node shows of leaf {index} does not hash to the leaf")
    return Parting(index, kind_of(ours, theirs), ours, theirs, exchanges)


# --- without the other node: its transcript -----------------------------------------------------------------------


class Transcript(NamedTuple):
    """Leaves and deltas as another node has published them."""

    leaves: list[bytes]
    deltas: list[bytes]


async def _by_transcript(
    bus: Bus, ours: Subjects, transcript: Transcript, origin: str, size: int, root: bytes
) -> Parting | None:
    leaves, deltas = transcript
    log = MerkleLog()
    for leaf in leaves:
        log.append(leaf)
    if len(leaves) < size or log.root(size) != root:
        raise NotBorneOut("the transcript in another node's stream is not the one it signed")
    loop = asyncio.get_running_loop()

    def hash_of(start: int, end: int) -> bytes:
        asked = codec.encode({"origin": origin, "start": start, "end": end})
        return _hash(asyncio.run_coroutine_threadsafe(bus.ask(ours.rpc("subtree"), asked), loop).result())

    found = await asyncio.to_thread(first_difference, hash_of, log.subtree_root, size)
    if found is None:
        return None
    own = await _side(bus, ours, origin, found.index, size)
    shown = Side(leaves[found.index], deltas[found.index], {}, log.inclusion(found.index, size), size)
    return _parting(found.index, size, root, own, shown, 0)


async def _transcript(bus: Bus, node: Node, whom: Subjects, origin: str, size: int) -> Transcript:
    leaves, deltas = list[bytes](), list[bytes]()
    for number in range(1, await length_of(bus, node, whom, "TRANSCRIPT") + 1):
        message = await message_of(bus, node, whom, "TRANSCRIPT", number)
        value: Any = None if message is None else codec.decode(message)
        if isinstance(value, dict) and value.get("origin") == origin:
            leaves += value.get("leaves", ())
            deltas += value.get("deltas", ())
        if len(leaves) >= size:
            break
    return Transcript(leaves[:size], deltas[:size])


# --- evidence -------------------------------------------------------------------------------------------------------


def write_evidence(
    folder: Path,
    game: str,
    origin: str,
    size: int,
    parting: Parting,
    us: tuple[str, str],
    them: tuple[str, str],
) -> Cid:
    """Write the evidence bundle of a parting into a node's folder; return the CID of its manifest.

    `us` and `them`: each side's DID and note.
    """
    sides = [(*us, parting.ours), (*them, parting.theirs)]
    value, blocks = manifest(game, origin, size, parting.index, parting.kind, parting.exchanges, sides)
    data = codec.encode(value)
    root = Cid.of(data)
    place = folder / "evidence"
    place.mkdir(mode=0o700, exist_ok=True)
    path = place / f"{root}.car"
    if not path.exists():
        write_new(path, b"".join(write_car([root], [(root, data), *sorted(blocks.items())])), replace=True)
    return root
