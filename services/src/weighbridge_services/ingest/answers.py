"""The answers to what was handed in, as they go over the bus."""

from __future__ import annotations

from weighbridge import codec
from weighbridge.cid import Cid

from weighbridge_services.ingest.decide import Passed, Placed
from weighbridge_services.ingest.opening import Refusal


def listed_answer(placed: Placed, note: bytes, chain: str | None) -> bytes:
    """Return the answer to a listed record: where, when, on which round it rolls, and a signed checkpoint over it.

    `chain`: what the chain of the game's dice is called; None before the game is open.
    """
    return codec.encode(
        {
            "listed": placed.seq,
            "at": placed.at,
            "round": placed.round,
            "chain": chain,
            "receipt": note.decode(),
        }
    )


def rejected_answer(refusal: Refusal | Passed) -> bytes:
    """Return the answer to what is not listed."""
    code = refusal.code if isinstance(refusal, Refusal) else "said-already"
    return codec.encode({"rejected": code, "says": refusal.says})


def later_answer(code: str, says: str) -> bytes:
    """Return the word that what was handed in is kept and not listed yet, and why."""
    return codec.encode({"unavailable": code, "says": says})


def rejection(cid: Cid, refusal: Refusal, origin: str) -> bytes:
    """Return the message that publishes a rejection: of which bytes, why, and where they came from."""
    return codec.encode({"cid": str(cid), "code": refusal.code, "says": refusal.says, "from": origin})
