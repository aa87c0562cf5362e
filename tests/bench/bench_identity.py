"""How fast signatures are: strict Ed25519, envelopes, and checkpoints with their cosignatures."""

from __future__ import annotations

import time
from collections.abc import Callable

from weighbridge.identity import (
    COSIGNATURE,
    Signer,
    cosign,
    encode_envelope,
    format_note,
    open_envelope,
    open_note,
    public_key,
    sign_record,
    verifier_key,
    verify,
)

Row = tuple[str, float, str, str]

GAME_SEED, PLAYER_SEED = b"g" * 32, b"p" * 32


def _rate(work: Callable[[], object], seconds: float = 0.5) -> float:
    """Return how often a second `work` is done, measured over at least `seconds`."""
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        for _ in range(20):
            work()
        done += 20
    return done / spent


def rows() -> list[Row]:
    """Return (name, value, unit, note) rows."""
    player = Signer(PLAYER_SEED)
    game = f"at://{Signer(GAME_SEED).did}/town.delve.root/self"
    value = {
        "game": game,
        "kind": "ask",
        "action": "hunt",
        "prompt": game,
        "trace": "https://example.com/post/1",
    }
    envelope = encode_envelope(sign_record(player, game, "town.delve.move", "3jzfcijpj2z2a", value))
    message, text = b"m" * 400, f"{game}\n7\n{'A' * 43}=\n"
    signature = player.sign(message)
    cosigners = [Signer(bytes([n]) * 32) for n in range(1, 11)]
    keys = [verifier_key(signer.did, COSIGNATURE, signer.public) for signer in cosigners]
    note = format_note(text, [cosign(signer, signer.did, text, 1_700_000_000) for signer in cosigners])
    measured: list[tuple[str, Callable[[], object], str]] = [
        ("ed25519 strict verify", lambda: verify(player.public, message, signature), "400-byte message"),
        ("ed25519 sign", lambda: player.sign(message), "400-byte message"),
        ("did:key to public key", lambda: public_key(player.did), ""),
        (
            "open envelope",
            lambda: open_envelope(envelope),
            f"{len(envelope)} bytes: decoded, checked, verified",
        ),
        (
            "sign record",
            lambda: sign_record(player, game, "town.delve.move", "3jzfcijpj2z2a", value),
            "checked and signed",
        ),
        ("open note", lambda: open_note(note, keys), "10 cosignatures verified"),
    ]
    return [(name, _rate(work), "per second", note) for name, work, note in measured]


if __name__ == "__main__":
    for row in rows():
        print("{:<24} {:>10,.0f} {:<12} {}".format(*row))
