"""Making inputs out of good ones: bytes, DAG-CBOR values, CAR files and tree nodes, each changed within its structure.

A block that is changed gets its new CID, and what links to it too where that is wanted, so that a change is not
stopped by the first hash. Nothing here reads a clock: an input follows from the random numbers alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.errors import Refused
from weighbridge.logfile.car import CarReader

FORMS = ((24, 0, ""), (2**8, 24, "B"), (2**16, 25, ">H"), (2**32, 26, ">I"), (2**64, 27, ">Q"))
MOST_ITEMS = 300_000
ODD_INTS = (
    0,
    1,
    -1,
    23,
    24,
    255,
    256,
    65_535,
    65_536,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -(2**63),
)
ODD_TEXTS = (
    "",
    "a",
    "$type",
    "\0",
    "é",
    "did:plc:",
    "at://",
    "a" * 1_025,
    "3" * 13,
    "../..",
    "town.delve.move/x",
)


def havoc(random: Random, data: bytes) -> bytes:
    """Change a few bytes: set, flip, cut, repeat, insert, or swap parts."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        at = random.randrange(len(out) + 1)
        span = random.choice((1, 1, 2, 4, 9, 36, 300))
        match random.randrange(7):
            case 0 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 1:
                out[at : at + 1] = bytes(
                    (random.choice((0, 0x1F, 0x40, 0x5F, 0x7F, 0x9B, 0xBF, 0xD8, 0xFB, 0xFF)),)
                )
            case 2:
                del out[at : at + span]
            case 3:
                out[at:at] = out[at : at + span] * random.choice((1, 2, 50))
            case 4:
                out[at:at] = random.randbytes(span)
            case 5:
                del out[at:]
            case _:
                other = random.randrange(len(out) + 1)
                out[at : at + span], out[other : other + span] = (
                    out[other : other + span],
                    out[at : at + span],
                )
    return bytes(out)


# --- values ------------------------------------------------------------------------------------------------


def odd(random: Random) -> Any:
    """A value of any kind, most of them at some edge."""
    return random.choice((
        lambda: random.choice(ODD_INTS),
        lambda: random.choice(ODD_TEXTS),
        lambda: random.randbytes(random.choice((0, 1, 36, 64, 300))),
        lambda: Cid.of(random.randbytes(1), random.choice((0x71, 0x55))),
        lambda: random.choice((None, True, False)),
        lambda: [odd(random)] * random.choice((0, 1, 3, 300)),
        lambda: {random.choice(ODD_TEXTS): odd(random)},
        lambda: nested(random.choice((2, 2, 2, 31, 32, 33, 2_000))),
    ))()  # fmt: skip


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def changed(random: Random, value: Any) -> Any:
    """The same value with one place in it changed."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        out = dict(value)
        match random.randrange(8):
            case 0:
                del out[key]
            case 1:
                out[random.choice(ODD_TEXTS)] = odd(random)
            case 2:
                out[key] = out[random.choice(list(value))]
            case _:
                out[key] = changed(random, value[key])
        return out
    if isinstance(value, list) and value and random.random() < 0.85:
        at = random.randrange(len(value))
        match random.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + value[at : at + 1] * random.choice((2, 3, 250)) + value[at + 1 :]
            case 2:
                return value[::-1]
            case _:
                return [*value[:at], changed(random, value[at]), *value[at + 1 :]]
    if isinstance(value, bytes) and value and random.random() < 0.8:
        return havoc(random, value)
    if isinstance(value, str) and value and random.random() < 0.5:
        at = random.randrange(len(value))
        return value[:at] + random.choice(ODD_TEXTS) + value[at + 1 :]
    if type(value) is int and random.random() < 0.5:
        return value + random.choice((-1, 1, 2**32))
    return odd(random)


def loose(random: Random, value: Any) -> bytes:
    """Encode a value as CBOR, now and then in a form that DAG-CBOR does not have."""
    return _Loose(random, random.choice((0, 0, 0, 0, 0.02, 0.2))).write(value)


class _Loose:
    """An encoder that takes any value, and at a rate breaks a rule."""

    def __init__(self, random: Random, rate: float) -> None:
        self.random = random
        self.rate = rate

    def breaks(self) -> bool:
        return self.rate > 0 and self.random.random() < self.rate

    def head(self, major: int, number: int) -> bytes:
        at = 0
        while at < 4 and number >= FORMS[at][0]:
            at += 1
        if self.breaks():
            at = self.random.randrange(at, 5)
        limit, info, layout = FORMS[at]
        if not layout:
            return bytes((major << 5 | number,))
        return bytes((major << 5 | info,)) + struct.pack(layout, min(number, limit - 1))

    def write(self, root: Any) -> bytes:
        out: list[bytes] = []
        left: list[Any] = [root]
        # Lists of lists of one thing soon are more than anything: cut off, they are an input too.
        while left and len(out) < MOST_ITEMS:
            value = left.pop()
            if isinstance(value, dict):
                items = sorted(
                    value.items(), key=lambda item: (len(str(item[0]).encode()), str(item[0]).encode())
                )
                if self.breaks():
                    self.random.shuffle(items)
                count = len(items) + self.breaks()
                out.append(b"\xbf" if self.breaks() else self.head(5, count))
                left += [part for key, each in reversed(items) for part in (each, key)]
            elif isinstance(value, list):
                out.append(b"\x9f" if self.breaks() else self.head(4, len(value)))
                left += reversed(value)
            else:
                out.append(self.plain(value))
        return b"".join(out)

    def plain(self, value: Any) -> bytes:
        if self.breaks():
            return self.random.choice(
                (b"\xf7", b"\xf9\x00\x00", b"\xfb" + bytes(8), b"\xc2\x41\x01", b"\xff", b"\xf8\x20")
            )
        if value is None or isinstance(value, bool):
            return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
        if isinstance(value, int):
            return self.head(1, -1 - value) if value < 0 else self.head(0, value)
        if isinstance(value, Cid):
            raw = b"\x00" + value.raw
            return b"\xd8\x2a" + self.head(2, len(raw)) + raw
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return self.head(3 if isinstance(value, str) else 2, len(data)) + data


def recoded(random: Random, data: bytes) -> bytes:
    """Decode a value, change it, and encode it again; bytes that are none are changed as bytes."""
    try:
        value = codec.decode(data)
    except Refused:
        return havoc(random, data)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        value = changed(random, value)
    return loose(random, value)


# --- CAR files ---------------------------------------------------------------------------------------------


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def blocks_of(car: bytes) -> tuple[list[Cid], list[tuple[Cid, bytes]]]:
    """The roots and blocks of a good CAR."""
    reader = CarReader((car,))
    return list(reader.roots), [(each.cid, each.data) for each in reader.blocks()]


def car_of(roots: list[Cid], blocks: list[tuple[Cid, bytes]]) -> bytes:
    header = codec.encode({"roots": roots, "version": 1})
    parts = [varint(len(header)), header]
    for cid, data in blocks:
        parts += [varint(36 + len(data)), cid.raw, data]
    return b"".join(parts)


def changed_car(random: Random, car: bytes) -> bytes:
    """The same CAR with blocks dropped, doubled, swapped, put under each other's names, or changed and hashed anew."""
    roots, blocks = blocks_of(car)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(blocks))
        cid, data = blocks[at]
        match random.randrange(9):
            case 0:
                del blocks[at]
            case 1:
                blocks += [blocks[at]] * min(random.choice((1, 1, 40, 21_000)), 1_500_000 // (36 + len(data)))
            case 2:
                random.shuffle(blocks)
            case 3:
                blocks[at] = (blocks[random.randrange(len(blocks))][0], data)
            case 4:
                blocks[at] = (cid, havoc(random, data))
            case 5:
                roots = random.choice(([], [cid], [*roots, cid], [random.choice(blocks)[0]] * 90))
            case _:
                renewed(random, roots, blocks, at)
        if not blocks:
            break
    return car_of(roots, blocks)


def renewed(random: Random, roots: list[Cid], blocks: list[tuple[Cid, bytes]], at: int) -> None:
    """Change a block, and every block that links to it up to the root, so that all hashes hold."""
    old, data = blocks[at]
    new = recoded(random, data)
    for _ in range(300):
        fresh = Cid.of(new, old.codec)
        blocks[at] = (fresh, new)
        roots[:] = [fresh if root == old else root for root in roots]
        above = next((n for n, (_, each) in enumerate(blocks) if n != at and old.raw in each), None)
        if above is None or fresh == old or random.random() < 0.05:
            return
        at, raw, before = above, fresh.raw, old.raw
        old, data = blocks[at]
        new = data.replace(before, raw)


Mutate = Callable[[Random, bytes], bytes]
