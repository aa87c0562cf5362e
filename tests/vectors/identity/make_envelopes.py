"""Makes envelopes.json: envelopes with their seed, the bytes that are signed, uri, CID and bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weighbridge.cid import Cid
from weighbridge.identity import Signer, encode_envelope, sign_record
from weighbridge.identity.envelope import signed_bytes

GM, ADA = bytes(range(32)), bytes(range(32, 64))


def vector(
    name: str, seed: bytes, game: str | None, collection: str, rkey: str, value: Any
) -> dict[str, str]:
    envelope = sign_record(Signer(seed), game, collection, rkey, value)
    return {
        "name": name,
        "seed": seed.hex(),
        "author": envelope.author,
        "game": envelope.game,
        "collection": collection,
        "rkey": rkey,
        "record": envelope.record.hex(),
        "signed": signed_bytes(envelope).hex(),
        "uri": envelope.uri,
        "cid": str(envelope.cid),
        "envelope": encode_envelope(envelope).hex(),
    }


def vectors() -> list[dict[str, str]]:
    gm = Signer(GM).did
    game = f"at://{gm}/town.delve.root/self"
    move = {
        "game": game,
        "kind": "ask",
        "action": "hunt",
        "prompt": f"at://{gm}/town.delve.move/1",
        "push": True,
    }
    link = {"game": game, "block": Cid.of(b"a"), "bytes": b"\0\1", "n": -1, "list": [None, "é", 2**63 - 1]}
    return [
        vector("root", GM, None, "town.delve.root", "self", {"gm": gm}),
        vector("move", ADA, game, "town.delve.move", "3jzfcijpj2z2a", move),
        vector("every-kind-of-value", ADA, game, "town.delve.move", "~.:_-", link),
    ]


if __name__ == "__main__":
    path = Path(__file__).with_name("envelopes.json")
    path.write_text(json.dumps(vectors(), indent=1) + "\n")
