"""Taking over a game's log from another lister: the records that hand it over, and whether they fit the log here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from weighbridge.fold.records import HANDOVER
from weighbridge.identity import decode_envelope

from weighbridge_services.ingest.errors import HandoverElsewhere
from weighbridge_services.ingest.setting import Setting
from weighbridge_services.submitting import envelopes_in


class Handover(NamedTuple):
    """What was signed for this node: the records, and after how many entries, of which root, it is to go on."""

    envelopes: tuple[bytes, ...]
    uris: tuple[str, ...]
    size: int
    root: bytes


def handover_to(setting: Setting) -> Handover | None:
    """Return what `[games.source] handover` names, if anything. Raises BadSubmission, HandoverElsewhere."""
    file = setting.game.source.get("handover")
    if not isinstance(file, str):
        return None
    envelopes = envelopes_in(setting.node.folder / file)
    read = [decode_envelope(data) for data in envelopes]
    said = {_said(each.value) for each in read}
    if any(each.collection != HANDOVER or each.game != setting.uri for each in read) or len(said) != 1:
        raise HandoverElsewhere(
            f"{file} holds other records than handovers of {setting.uri} that say all the same"
        )
    ((size, root, lister),) = said
    if lister != setting.node.did or type(size) is not int or not isinstance(root, bytes):
        raise HandoverElsewhere(
            f"{file} hands {setting.uri} over to {lister}, and this node is {setting.node.did}"
        )
    return Handover(tuple(envelopes), tuple(each.uri for each in read), size, root)


def _said(value: Any) -> tuple[Any, Any, Any]:
    return value.get("size"), value.get("root"), value.get("lister")


async def to_list(setting: Setting, handover: Handover) -> Sequence[bytes]:
    """Return what of it is not listed yet. Raises HandoverElsewhere where it does not go on from this node's log."""
    store = setting.store
    known = await store.run(store.known, handover.uris)
    new = [data for uri, data in zip(handover.uris, handover.envelopes, strict=True) if uri not in known]
    if known or not new:
        return new
    size = store.size
    root = await store.run(store.log.root, handover.size) if size >= handover.size else b""
    if (size, root) != (handover.size, handover.root):
        raise HandoverElsewhere(
            f"the log of {setting.uri} is handed over after {handover.size} entries, and this node holds {size}"
            f"{'' if root in (b'', handover.root) else ' of another log'}; follow an operator who holds just these, or"
            " have it handed over where this node's log ends"
        )
    return new
