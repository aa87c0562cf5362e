"""Write `own.json`: dice with everything they come from, for checkers in any language.

    python tests/vectors/dice/make.py

Real quicknet beacons and one of a local chain; every block that was read, and its bytes before hashing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weighbridge.beacon import verify
from weighbridge.chain import QUICKNET, Chain
from weighbridge.cid import Cid
from weighbridge.codec import encode
from weighbridge.dice import MAX_SIDES, Stream
from weighbridge.local_chain import LocalChain

HERE = Path(__file__).resolve().parent
LOCAL = LocalChain(b"a seed for vectors", genesis=1_700_000_000)
GAME = "at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/example.dice.root/self"
WHO = "at://did:plc:z72i7hdynmk6r22z27h6tvur/example.dice.move"

PLANS: list[tuple[int, str, list[tuple[str, Any]]]] = [
    (1, "one die", [("die", 6)]),
    (2, "bytes are skipped", [("die", sides) for sides in (200, 200, 200, 129, 129, 129, 6, 3)]),
    (3, "blocks are read on end", [("die", 2**24)] * 25),
    (42, "all widths", [("die", 256**w + d) for w in range(1, 8) for d in (-1, 0, 1)]),
    (67, "the largest die", [("die", MAX_SIDES)] * 9),
    (1000, "many blocks", [("die", 100)] * 900),
    (72790, "named dice", [("named", [["c", "a", "b", "Z", "10", "9"], 6])]),
    (72791, "a deck of 52", [("shuffle", 52)]),
    (72792, "a deck of 300", [("shuffle", 300)]),
    (72793, "picks", [("pick", n) for n in (1, 2, 3, 256, 257, 1)]),
    (72794, "weights", [("weighted", w) for w in ([0, 1, 0], [3, 0, 5], [1, 1, 10**12], [0, 0, 7])]),
    (72795, "one stream", [("die", 20), ("shuffle", 5), ("pick", 9), ("weighted", [2, 3]), ("die", 2)]),
    (72796, "ünïcode: 骰子 🎲", [("die", 6)] * 3),
    (72797, "", [("die", 6)] * 3),
]  # fmt: skip


def answer(dice: Stream, kind: str, asked: Any) -> Any:
    """Return what a stream gives: faces, the order of 0, 1, ... n - 1, or the place picked."""
    if kind == "die":
        return dice.die(asked)
    if kind == "named":
        return dice.named(*asked)
    if kind == "shuffle":
        return dice.shuffle(range(asked))
    if kind == "pick":
        return dice.pick(range(asked))
    return dice.weighted(list(enumerate(asked)))


def case(
    chain: Chain, round: int, signature: bytes, purpose: str, asks: list[tuple[str, Any]]
) -> dict[str, Any]:
    """Return one case."""
    randomness = verify(chain, round, signature)
    uri = f"{WHO}/{round}"
    cid = Cid.of(encode({"round": round, "purpose": purpose}))
    dice = Stream(randomness, GAME, uri, cid, purpose)
    answers = [{"ask": kind, "of": asked, "is": answer(dice, kind, asked)} for kind, asked in asks]
    hashed = [
        encode(["weighbridge/dice/v1", randomness, GAME, uri, cid, purpose, c])
        for c in range(dice.blocks_read)
    ]
    return {
        "chain": chain.label,
        "round": round,
        "signature": signature.hex(),
        "randomness": randomness.hex(),
        "game": GAME,
        "uri": uri,
        "cid": str(cid),
        "purpose": purpose,
        "hashed": hashed[0].hex(),
        "blocks": [dice.block(c).hex() for c in range(dice.blocks_read)],
        "draws": answers,
    }


def cases() -> list[dict[str, Any]]:
    """Return every case."""
    beacons = json.loads((HERE.parent / "drand" / "quicknet_beacons.json").read_text())
    real = {beacon["round"]: bytes.fromhex(beacon["signature"]) for beacon in beacons}
    made = [case(QUICKNET, round, real[round], purpose, asks) for round, purpose, asks in PLANS]
    return [*made, case(LOCAL.chain, 7, LOCAL.sign(7), "a private chain", [("die", 6)] * 5)]


ABOUT = (
    "Dice with all they come from. `hashed` is what block 0 is the hash of; block c has c as its last item. "
    "Each draw takes up where the last ended. Sides beyond 2^53 and their faces are texts."
)


def readable(value: Any) -> Any:
    """Return a value with its large integers as text, for languages whose numbers are floats."""
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return str(value) if type(value) is int and value >= 2**53 else value


def document() -> str:
    """Return the file's text."""
    made = [json.dumps(readable(each), ensure_ascii=False) for each in cases()]
    return f'{{"about": {json.dumps(ABOUT)},\n"cases": [\n' + ",\n".join(made) + "\n]}\n"


if __name__ == "__main__":
    (HERE / "own.json").write_text(document())
