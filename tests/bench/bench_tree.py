"""What the state root costs: batches of changes to a tree of many keys, as the fold makes them.

One batch is 5,000 new values, 3,000 new keys and 2,000 keys taken out, all at random places, which is the
worst there is: real batches meet in the same nodes. Memory is what the tree adds to its keys and values. Times
are of the processor.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import time
import tracemalloc

from weighbridge.cid import Cid
from weighbridge.tree import Tree, diff, load, verify

Row = tuple[str, float, str, str]
SMOKE = bool(os.environ.get("WEIGHBRIDGE_BENCH_SMOKE"))
SIZES = (1_000,) if SMOKE else (10_000, 1_000_000)
KINDS = ("hero", "item", "clock")


def some_key(draw: random.Random) -> str:
    """Return a key like those of a table's cells."""
    return f"cell/{draw.choice(KINDS)}/did:key:z6Mk{draw.getrandbits(60)}"


def batch(draw: random.Random, keys: list[str], values: list[Cid]) -> dict[str, Cid | None]:
    """Return 10,000 changes, or as many as there are keys."""
    unit = min(1_000, len(keys) // 10)
    changes: dict[str, Cid | None] = {}
    for key in draw.sample(keys, 7 * unit):
        changes[key] = draw.choice(values) if len(changes) < 5 * unit else None
    while len(changes) < 10 * unit:
        changes[some_key(draw)] = draw.choice(values)
    return changes


def best_update(tree: Tree, changes: list[dict[str, Cid | None]]) -> float:
    """Return the best of some updates of the same tree, in µs for each key changed."""
    best = float("inf")
    for one in changes:
        started = time.process_time()
        tree.update(one)
        best = min(best, (time.process_time() - started) / len(one) * 1e6)
    return best


def rows_of(size: int) -> list[Row]:
    """Return the figures of a tree of `size` keys."""
    draw = random.Random(size)
    values = [Cid.of(b"%d" % number) for number in range(1_000)]
    keys = list({some_key(draw) for _ in range(size)})
    items = {key: Cid.of(b"%d" % number) for number, key in enumerate(keys)}
    started = time.process_time()
    tree = Tree.build(items)
    built = (time.process_time() - started) / len(keys) * 1e6
    update = best_update(tree, [batch(draw, keys, values) for _ in range(5)])
    one = best_update(tree, [{key: values[0]} for key in draw.sample(keys, 200)])
    proof = tree.prove(keys[0])
    started = time.process_time()
    for _ in range(200):
        verify(tree.root, keys[0], proof)
    proved = (time.process_time() - started) / 200 * 1e6
    name = f"{size:,} keys"
    return [
        (f"build, {name}", built, "µs a key", ""),
        (f"update, a batch of 10,000 at {name}", update, "µs a key", "at random places; target 40"),
        (f"update, one key at {name}", one, "µs", "best of 200"),
        (f"verify a proof of {len(proof)} nodes", proved, "µs", name),
    ]


def memory_row(size: int) -> Row:
    """Return what a tree takes beside its keys and values."""
    draw = random.Random(size)
    items = {some_key(draw): Cid.of(b"%d" % number) for number in range(size)}
    gc.collect()
    tracemalloc.start()
    tree = Tree.build(items)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (f"memory at {size:,} keys", taken / 1e6, "MB", f"beside keys and values; level {tree.level}")


def reading_rows(size: int) -> list[Row]:
    """Return what reading a whole tree strictly and comparing two cost."""
    draw = random.Random(size)
    items = {some_key(draw): Cid.of(b"%d" % number) for number in range(size)}
    tree = Tree.build(items)
    blocks = dict(tree.blocks())
    started = time.process_time()
    load(blocks, tree.root)
    loaded = (time.process_time() - started) / size * 1e6
    after = tree.update(dict.fromkeys(list(items)[:100]))
    started = time.process_time()
    found = sum(1 for _ in diff(tree, after))
    compared = (time.process_time() - started) * 1e3
    return [
        (f"load, {size:,} keys", loaded, "µs a key", "every block hashed, decoded and encoded again"),
        (f"diff at {size:,} keys", compared, "ms", f"{found} keys differ"),
    ]


def rows() -> list[Row]:
    """Return the figures."""
    found = [row for size in SIZES for row in rows_of(size)]
    return [*found, memory_row(SIZES[-1]), *reading_rows(SIZES[0])]


if __name__ == "__main__":
    for name, value, unit, note in rows():
        sys.stdout.write(f"{name:45} {value:10.2f} {unit:10} {note}\n")
