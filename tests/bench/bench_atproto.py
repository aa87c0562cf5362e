"""Verifying repositories: recorded commits one by one, and a repository of a hundred thousand records whole.

The Python SDK of the AT Protocol reads the same frames for comparison where one is at hand: WEIGHBRIDGE_ATPROTO_PYTHON
names a Python that has `atproto`. Its own path (`parse_subscribe_repos_message`, `CAR.from_bytes`) hashes no block,
checks no signature, loads no tree and undoes no operation: it does less.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "plugins" / "atproto" / "tests")]

from atproto_helping import frames_in, identities_in, identity  # noqa: E402
from repo_making import MOVES, NOW, Made  # noqa: E402
from weighbridge import codec  # noqa: E402
from weighbridge.cid import Cid  # noqa: E402
from weighbridge.repos import Tree, write_car  # noqa: E402
from weighbridge_atproto import chain  # noqa: E402
from weighbridge_atproto.checklist import examine_commit  # noqa: E402
from weighbridge_atproto.frames import CommitFrame, parse_frame  # noqa: E402
from weighbridge_atproto.hosts import whole_repo  # noqa: E402
from weighbridge_atproto.settings import Settings  # noqa: E402
from weighbridge_atproto.sources import records_of  # noqa: E402

Row = tuple[str, float, str, str]
SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
SECONDS = 0.2 if SMOKE else 5.0
RECORDS = 2_000 if SMOKE else 100_000
OWN = TESTS / "vectors" / "atproto" / "own-pds"
HOST = "http://localhost:2583"
GAME = "at://did:plc:" + "g" * 24 + "/town.delve.root/one"

SDK = """
import sys, time
from atproto import CAR, parse_subscribe_repos_message
from atproto_firehose.models import Frame
data, at, frames = open(sys.argv[1], "rb").read(), 0, []
while at < len(data):
    end = at + 4 + int.from_bytes(data[at : at + 4], "little")
    frames.append(data[at + 4 : end]); at = end
commits, begun = 0, time.process_time()
while time.process_time() - begun < float(sys.argv[2]):
    for data in frames:
        message = parse_subscribe_repos_message(Frame.from_bytes(data))
        if type(message).__name__ == "Commit":
            CAR.from_bytes(message.blocks)
            commits += 1
print(commits / (time.process_time() - begun))
"""


def ours() -> float:
    """Return commits verified a second of one processor: every check there is, and the chain."""
    known = identities_in(OWN)
    frames = list(frames_in(OWN / "live_frames.bin"))
    commits, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        repos: dict[str, chain.Repo] = {}
        for data in frames:
            frame = parse_frame(data)
            if not isinstance(frame, CommitFrame):
                continue
            verified = examine_commit(frame, known[frame.repo], HOST)
            repo = repos.get(frame.repo, chain.Repo(frame.repo))
            step = chain.on_commit(repo, verified.link(commits), 2 * NOW)
            assert step.apply
            repos[frame.repo] = step.repo
            commits += 1
    return commits / (time.process_time() - begun)


def theirs() -> Row:
    """Return the same of the SDK, if it is at hand."""
    name, unit = "commits read by the Python SDK", "1/s"
    python = os.environ.get("WEIGHBRIDGE_ATPROTO_PYTHON")
    if not python:
        return name, 0, unit, "skipped: WEIGHBRIDGE_ATPROTO_PYTHON names no Python with `atproto`"
    command = [python, "-c", SDK, str(OWN / "live_frames.bin"), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return name, 0, unit, f"skipped: {(done.stderr.splitlines() or ['it failed'])[-1][:80]}"
    return name, float(done.stdout), unit, "same frames; no hashes, signatures, trees or inversion"


def large() -> tuple[Made, bytes]:
    """Return a repository of many records, and its CAR."""
    made = Made()
    blocks: dict[Cid, bytes] = {}
    items: dict[str, Cid] = {}
    for n in range(RECORDS):
        block = codec.encode({"game": GAME, "kind": "say", "n": n, "text": "the ferry runs at dawn"})
        cid = Cid.of(block)
        blocks[cid], items[f"{MOVES}/{n:013}"] = block, cid
    made.tree = Tree.build(items)
    commit = made.sign()
    blocks = {commit.cid: commit.block, **dict(made.tree.blocks()), **blocks}
    return made, b"".join(write_car([commit.cid], blocks.items()))


def rows() -> list[Row]:
    """Return the figures."""
    found: list[Row] = [
        ("commits verified", ours(), "1/s", "one processor; recorded frames of a PDS"),
        theirs(),
    ]
    made, car = large()
    who = identity(made)
    begun = time.process_time()
    bundle = whole_repo([car], who)
    whole = time.process_time() - begun
    settings = Settings(game=GAME, collections=(MOVES,))
    begun = time.process_time()
    carried = records_of(bundle, settings, Counter())
    each = time.process_time() - begun
    assert len(carried) == RECORDS
    del bundle
    found += [
        (
            f"repository of {RECORDS:,}",
            whole,
            "s",
            f"{len(car) / 1e6:.0f} MB: every block, the commit, the tree",
        ),
        (
            "its records, proved one by one",
            each,
            "s",
            f"{sum(map(len, carried)) / RECORDS:.0f} bytes each, proof and all",
        ),
    ]
    del carried
    tracemalloc.start()
    whole_repo([car], who)
    found.append(
        ("memory for it", tracemalloc.get_traced_memory()[1] / 1e6, "MB", "at its most, the CAR apart")
    )
    tracemalloc.stop()
    return found


if __name__ == "__main__":
    for row in rows():
        print(json.dumps(row))
