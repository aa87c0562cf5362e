"""What the tests of the plugin share: documents of made keys, recorded frames, and what refusals are called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from repo_making import ALICE, Key, Made
from weighbridge.ports import Refused
from weighbridge_atproto.documents import Identity, read_document

HOST = "https://pds.delve.town"


def document(did: str = ALICE, key: Key | None = None, **changed: Any) -> dict[str, Any]:
    """A DID document, with fields changed; `...` leaves one out."""
    public = (key or Key()).public.did_key.removeprefix("did:key:")
    whole = {
        "id": did,
        "alsoKnownAs": ["at://alice.delve.town"],
        "verificationMethod": [
            {"id": f"{did}#atproto", "type": "Multikey", "controller": did, "publicKeyMultibase": public}
        ],
        "service": [{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": HOST}],
    } | changed
    return {name: value for name, value in whole.items() if value is not ...}


def identity(made: Made) -> Identity:
    """The identity of a made repository."""
    return read_document(made.did, json.dumps(document(made.did, made.key)).encode())


def frames_in(path: Path) -> Iterator[bytes]:
    """The frames of a recorded stream, each behind its length."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        yield data[at + 4 : end]
        at = end


def identities_in(folder: Path) -> dict[str, Identity]:
    """The identities of the recorded documents."""
    documents = json.loads((folder / "did_docs.json").read_text())
    return {did: read_document(did, json.dumps(value).encode()) for did, value in documents.items()}


def code_of(work: Callable[[], object]) -> str:
    """The code with which work is refused."""
    with pytest.raises(Refused) as refused:
        work()
    return refused.value.code
