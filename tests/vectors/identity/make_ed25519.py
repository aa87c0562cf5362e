"""Makes ed25519.json: signatures at the edges of the curve, and whether a strict verifier accepts them.

Plain curve arithmetic, written for this alone and from RFC 8032, so that the cases owe nothing to the code
under test. Run it from anywhere; it writes beside itself and makes the same file every time.
"""

from __future__ import annotations

import hashlib
import json
from itertools import count
from pathlib import Path

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]
ZERO: Point = (0, 1)


def add(a: Point, b: Point) -> Point:
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P


def times(n: int, a: Point) -> Point:
    total = ZERO
    while n:
        if n & 1:
            total = add(total, a)
        a, n = add(a, a), n >> 1
    return total


def x_of(y: int, odd: int) -> int | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return P - x if x % 2 != odd and x else x


def encode(a: Point) -> bytes:
    return (a[1] | (a[0] & 1) << 255).to_bytes(32, "little")


def raw(y: int, sign: int = 0) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


BASE: Point = (x_of(4 * pow(5, -1, P) % P, 0) or 0, 4 * pow(5, -1, P) % P)
Y8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
T8: Point = (x_of(Y8, 0) or 0, Y8)
SECRET, NONCE = 0x1234567890ABCDEF << 128, 0xFEDCBA0987654321 << 128


def challenge(r: bytes, a: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + a + message).digest(), "little") % L


def find(r: bytes, a: bytes, zero_mod_8: bool) -> bytes:
    """Return a message whose challenge is, or is not, a multiple of 8."""
    for n in count():
        message = f"weigh {n}".encode()
        if (challenge(r, a, message) % 8 == 0) is zero_mod_8:
            return message
    raise AssertionError


def case(name: str, valid: bool, public: bytes, message: bytes, r: bytes, s: int) -> dict[str, object]:
    signature = r + s.to_bytes(32, "little")
    return {
        "name": name,
        "valid": valid,
        "public": public.hex(),
        "message": message.hex(),
        "signature": signature.hex(),
    }


SMALL = {
    "order-1": raw(1),
    "order-1-minus-zero": raw(1, 1),
    "order-1-y-over-p": raw(P + 1),
    "order-1-y-over-p-minus-zero": raw(P + 1, 1),
    "order-2": raw(P - 1),
    "order-2-minus-zero": raw(P - 1, 1),
    "order-4": raw(0),
    "order-4-odd": raw(0, 1),
    "order-4-y-over-p": raw(P),
    "order-4-odd-y-over-p": raw(P, 1),
    "order-8": raw(Y8),
    "order-8-odd": raw(Y8, 1),
    "order-8-other": raw(P - Y8),
    "order-8-other-odd": raw(P - Y8, 1),
}


def cases() -> list[dict[str, object]]:
    a_point, r_point = times(SECRET, BASE), times(NONCE, BASE)
    a, r = encode(a_point), encode(r_point)
    message = b"one load on the bridge"
    s = (NONCE + challenge(r, a, message) * SECRET) % L
    found = [
        case("plain", True, a, message, r, s),
        case("s-plus-L", False, a, message, r, s + L),
        case("s-plus-7L", False, a, message, r, s + 7 * L),
        case("s-with-top-bit", False, a, message, r, s | 1 << 255),
        case("other-message", False, a, message + b".", r, s),
    ]
    for name, small in SMALL.items():
        # k A is zero, so that the equation holds for an honest R: only the look at A can refuse it.
        m = find(r, small, zero_mod_8=True)
        found.append(case(f"small-A-{name}", False, small, m, r, NONCE))
        k = challenge(small, a, message)
        found.append(case(f"small-R-{name}", False, a, message, small, k * SECRET % L))
        found.append(case(f"small-A-and-R-{name}-S-0", False, small, find(raw(1), small, True), raw(1), 0))
    mixed = encode(add(a_point, T8))
    for zero, name in ((True, "mixed-A-that-cancels"), (False, "mixed-A-for-the-cofactor-only")):
        m = find(r, mixed, zero)
        found.append(case(name, zero, mixed, m, r, (NONCE + challenge(r, mixed, m) * SECRET) % L))
    mixed_r = encode(add(r_point, T8))
    s = (NONCE + challenge(mixed_r, a, message) * SECRET) % L
    found.append(case("mixed-R-for-the-cofactor-only", False, a, message, mixed_r, s))
    for y in range(2, 19):
        found.append(case(f"A-y-is-p-plus-{y}", False, raw(P + y), message, r, NONCE))
        found.append(case(f"R-y-is-p-plus-{y}", False, a, message, raw(P + y), NONCE))
    off = next(y for y in count(2) if x_of(y, 0) is None)
    found.append(case("A-off-the-curve", False, raw(off), message, r, NONCE))
    found.append(case("R-off-the-curve", False, a, message, raw(off), NONCE))
    return found


if __name__ == "__main__":
    path = Path(__file__).with_name("ed25519.json")
    path.write_text(json.dumps(cases(), indent=1) + "\n")
