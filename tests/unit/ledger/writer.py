"""What the ledger tests write: a small game in batches, each of which touches every store."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.ledger import Ledger
from weighbridge.log import Listed, make_entry

ALICE = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
GAME = f"at://{ALICE}/network.weighbridge.game/3kgate"
ORIGIN = f"{GAME}/coin@bafytest+k1"
START = 1_700_000_000_000_000
PER_BATCH = 4


def uri(number: int) -> str:
    return f"at://{ALICE}/network.weighbridge.move/r{number}"


def entries(count: int, size: int = 40, previous: Listed | None = None) -> list[Listed]:
    """`count` entries after `previous`: moves, every fifth an update of the first, every seventh a tick."""
    made: list[Listed] = []
    start = previous.entry.seq + 1 if previous else 0
    for number in range(start, start + count):
        previous = _entry(previous, number, size)
        made.append(previous)
    return made


def _entry(previous: Listed | None, number: int, size: int) -> Listed:
    at = START + number * 1_000_000
    if number % 7 == 6:
        return make_entry(previous, game=GAME, at=at, op="tick")
    update = number % 5 == 4
    return make_entry(
        previous,
        game=GAME,
        at=at,
        op="update" if update else "create",
        uri=uri(0 if update else number),
        author=ALICE,
        record=encode({"game": GAME, "number": number, "text": "x" * size}),
    )


def write_batch(ledger: Ledger, listed: list[Listed], number: int) -> None:
    """Write batch `number`: entries, leaves, a cosigned checkpoint, and one thing of every other kind."""
    log, transcript = ledger.log(GAME), ledger.transcript(ORIGIN)
    with ledger.batch():
        for one in listed[number * PER_BATCH : (number + 1) * PER_BATCH]:
            log.append(one)
            transcript.append(one.cid, encode([["cell", one.entry.seq]]))
        checkpoints = ledger.checkpoints(GAME)
        checkpoints.put(log.size, log.root(), b"note %d" % number)
        checkpoints.cosign(log.size, "bob", b"line %d" % number)
        ledger.positions.set("stream", number)
        ledger.values.set(f"value-{number}", b"v" * (number * 700))
        ledger.outbox.add("wb.a.b.log", b"payload %d" % number, number)
        if number:
            ledger.outbox.sent(number, number * 10)
        ledger.rejected.add(Cid.of(b"%d" % number), b"bad-signature")
        ledger.snapshots(ORIGIN).save(log.size, {f"k/{n}": encode(n) for n in range(number * 3)})


def reads(ledger: Ledger, size: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every way to read a ledger whose log has `size` entries, by a name of what is read."""
    log, transcript = ledger.log(GAME), ledger.transcript(ORIGIN)
    checkpoints, snapshots = ledger.checkpoints(GAME), ledger.snapshots(ORIGIN)
    yield "logs", ledger.logs
    yield "transcripts", ledger.transcripts
    yield "sizes", lambda: (log.size, transcript.size)
    for seq in range(size):
        yield f"listed {seq}", lambda seq=seq: log.listed(seq)
        yield f"proof {seq}", lambda seq=seq: log.tree.inclusion(seq)
        yield f"leaf {seq}", lambda seq=seq: transcript.leaf(seq)
        yield f"delta {seq}", lambda seq=seq: transcript.delta(seq)
        yield f"first {seq}", lambda seq=seq: log.first(uri(seq))
        yield f"about {seq}", lambda seq=seq: log.about(uri(seq))
    for past in range(size + 1):
        yield f"root {past}", lambda past=past: log.root(past)
        yield f"transcript root {past}", lambda past=past: transcript.root(past)
        yield f"checkpoint {past}", lambda past=past: checkpoints.at(past)
        yield f"newest {past}", lambda past=past: checkpoints.newest(past)
        yield f"cosigned {past}", lambda past=past: checkpoints.cosignatures(past)
        yield f"snapshot {past}", lambda past=past: snapshots.load(past)
    yield "entries", lambda: list(log.entries())
    yield "checkpoints", checkpoints.sizes
    yield "positions", lambda: [(name, ledger.positions.get(name)) for name in ledger.positions.names()]
    yield "position", lambda: ledger.positions.get("stream")
    yield "no position", lambda: ledger.positions.get("another")
    yield "values", lambda: [(name, ledger.values.get(name)) for name in ledger.values.names()]
    yield "waiting", ledger.outbox.waiting
    yield "messages", lambda: list(ledger.outbox.all())
    yield "rejected", ledger.rejected.all
    yield "snapshots", snapshots.seqs


def everything(ledger: Ledger) -> dict[str, object]:
    """All that can be read of a ledger, by the name of what was read."""
    return {name: read() for name, read in reads(ledger, ledger.log(GAME).size)}


def killed_at(path: Path, point: str, occurrence: int, batches: int) -> int:
    """Write in a child process that kills itself at a point; return how many batches it saw committed."""
    reader, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _write_until(path, _killer(point, occurrence), batches, sender)
        finally:
            os._exit(1)
    os.close(sender)
    with os.fdopen(reader, "rb") as pipe:
        acknowledged = len(pipe.read())
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"{point} {occurrence} was never reached"
    return acknowledged


def _killer(point: str, occurrence: int) -> Callable[[str], None]:
    left = [occurrence]

    def probe(name: str) -> None:
        if name == point:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    return probe


def _write_until(path: Path, probe: Callable[[str], None], batches: int, sender: int) -> None:
    listed = entries(batches * PER_BATCH)
    with Ledger.open(path, probe=probe) as ledger:
        for number in range(batches):
            write_batch(ledger, listed, number)
            os.write(sender, b".")
