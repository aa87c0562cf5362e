"""Who plays in the demo. Their keys come from words that stand here: whoever reads this can sign as any of them."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from weighbridge.identity import Signer

SEED: Final = b"weighbridge demo, keys that everybody knows: "


class Player(NamedTuple):
    """A player: a short name, and the sheet's own words."""

    key: str
    name: str
    look: str
    drive: str
    dots: dict[str, int]
    ability: str

    @property
    def did(self) -> str:
        """The player's DID."""
        return signer(self.key).did


def signer(key: str) -> Signer:
    """Return the key that a name of the demo stands for."""
    return Signer(hashlib.sha256(SEED + key.encode()).digest())


PLAYERS: Final = (
    Player(
        "ilse", "Ilse Brandt", "a lamplighter's ladder over one shoulder", "keep every lamp of the row lit",
        {"fetch": 2, "keep": 2, "sway": 1, "mend": 2}, "Knows every lamp by the sound it makes.",
    ),
    Player(
        "marek", "Marek", "ink on both cuffs", "get the numbers of this town right, once",
        {"reckon": 2, "audit": 2, "fetch": 1, "trace": 2}, "Never adds a column twice.",
    ),
    Player(
        "odile", "Odile Saar", "a miller's apron, always damp", "draw the river as it really runs",
        {"draw": 2, "build": 2, "fetch": 1, "convene": 2}, "Feels rain a day before it comes.",
    ),
    Player(
        "tomas", "Tomas Lind", "boots much too good for the street", "be owed a favour by everybody",
        {"sway": 2, "vouch": 2, "bargain": 2, "fetch": 1}, "Has been introduced to everyone already.",
    ),
    Player(
        "bram", "Bram Quist", "rope burns, a whistle on a string", "bring the last ferry home",
        {"build": 2, "mend": 2, "fetch": 2, "keep": 1}, "The ferry answers to his whistle.",
    ),
    Player(
        "saskia", "Saskia Vey", "a ledger under her coat", "find out who moved the tide marks",
        {"trace": 2, "audit": 2, "reckon": 2, "fetch": 1}, "Reads a ledger upside down across a table.",
    ),
    Player(
        "wim", "Wim", "small, quick, never where you look", "be believed for once",
        {"fetch": 2, "sway": 2, "draw": 1, "bargain": 2}, "Knows one way more out of any yard.",
    ),
)  # fmt: skip
BY_KEY: Final = {player.key: player for player in PLAYERS}
GM: Final = "gm"
ROW: Final = ("ilse", "marek", "odile", "tomas")
"""The crew of Lantern Row."""
LANE: Final = ("bram", "saskia", "wim")
"""The crew of Ferry Lane."""


def name_of(did: str) -> str:
    """Return whom a DID of the demo belongs to, or a short form of it."""
    if did == signer(GM).did:
        return "the GM"
    found = [player.name for player in PLAYERS if player.did == did]
    return found[0] if found else f"{did[:16]}…"
