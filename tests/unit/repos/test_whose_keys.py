"""Whose a key is, where a carried record alone can tell."""

from __future__ import annotations

import pytest
from repo_making import MOVES, Key, Made
from weighbridge import codec
from weighbridge.cid import Cid
from weighbridge.identity import Signer
from weighbridge.repos import Proved, RepoRefused, carry, open_carried

PATH = f"{MOVES}/north"
KEY = Key()


def carried(did: str) -> bytes:
    """A record of a did:key's repository, signed by the key of this module."""
    made = Made(did, KEY)
    made.commit({PATH: {"text": "north"}})
    assert made.last is not None
    proved = Proved(made.last, made.tree.get(PATH), codec.encode({"text": "north"}))
    doc = Cid.of(b"document", 0x55)
    return carry(f"at://{did}/{PATH}", KEY.public.did_key, doc, proved, made.tree.prove(PATH))


def test_a_did_key_signs_its_repository_with_itself() -> None:
    assert open_carried(carried(KEY.public.did_key)).uri.authority == KEY.public.did_key


@pytest.mark.parametrize(
    "did", [Signer(b"p" * 32).did, Key(number=8).public.did_key], ids=["ed25519", "k-256"]
)
def test_nobody_carries_a_did_keys_record_under_another_key(did: str) -> None:
    """Else a lister could say that what it signed itself is of whoever plays by envelopes."""
    with pytest.raises(RepoRefused) as refused:
        open_carried(carried(did))
    assert refused.value.code == "repo-proof-mismatch"
