"""Verifying the messages of somebody's log, many at a time, beside the event loop."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge_services.ingest.arrivals import Openers
from weighbridge_services.ingest.following import Fault, Taken, bad_proof, take_entry
from weighbridge_services.ingest.opening import claim_of


async def take_all(openers: Openers, payloads: Sequence[bytes], game: str) -> list[Taken | Fault]:
    """Verify messages of a log, each by itself, signatures included; what follows what is not looked at."""
    found = await openers.share(lambda part: [take_entry(data, game) for data in part], payloads)
    opened = [each.opened for each in found if isinstance(each, Taken) and each.opened is not None]
    opened = [each for each in opened if each.repo is None]
    claims = await openers.share(lambda part: [claim_of(each) for each in part], opened)
    held = await openers.verifier.verify(claims)
    bad = {id(each) for each, holds in zip(opened, held, strict=True) if not holds}
    return [
        bad_proof(each.listed, "comes with a signature that is not its author's")
        if isinstance(each, Taken) and id(each.opened) in bad
        else each
        for each in found
    ]
