"""Little logs of coin games for tests of the dice witness: a root, flips, and beacons of a local chain."""

from __future__ import annotations

from typing import Any

from weighbridge.chain import Chain, chain_value, round_after
from weighbridge.codec import encode
from weighbridge.local_chain import LocalChain
from weighbridge.log.entries import Listed, make_entry

SECOND = 1_000_000
DAY = 86_400 * SECOND
START = 20_000 * DAY + 8 * 3_600 * SECOND
LOCAL = LocalChain(b"a seed of a local chain", START // SECOND - 3_000, 3)
GM = "did:plc:gmgmgmgmgmgmgmgmgmgmgmgm"
ANN = "did:plc:annannannannannannannann"
GAME = f"at://{GM}/example.coin.root/self"
MARGIN = 15


class Log:
    """Writes a log, entry by entry."""

    def __init__(self, chain: Chain = LOCAL.chain) -> None:
        self.entries: list[Listed] = []
        self.now = START
        self.beacon_field = {"chain": chain_value(chain), "margin": MARGIN}

    def put(
        self, by: str, collection: str, rkey: str, value: Any, wait: int = SECOND, op: Any = "create"
    ) -> Listed:
        self.now += wait
        uri = f"at://{by}/{collection}/{rkey}"
        last = self.entries[-1] if self.entries else None
        listed = make_entry(
            last, game=GAME, at=self.now, op=op, uri=uri, author=by, record=encode({"game": GAME, **value})
        )
        self.entries.append(listed)
        return listed

    def root(self, **fields: Any) -> Listed:
        return self.put(GM, "example.coin.root", "self", {"gm": GM, "beacon": self.beacon_field, **fields})

    def flip(self, rkey: str, wait: int = SECOND, **fields: Any) -> int:
        """List a flip and return the round it rolls on."""
        self.put(ANN, "example.coin.flip", rkey, {"call": "heads", **fields}, wait)
        return round_after(LOCAL.chain, self.now, MARGIN)

    def beacon(self, number: int, signature: bytes | None = None, **fields: Any) -> Listed:
        signed = LOCAL.sign(number) if signature is None else signature
        value = {"round": number, "signature": signed, **fields}
        return self.put(ANN, "network.weighbridge.beacon", f"b{len(self.entries)}", value, wait=20 * SECOND)
