"""What the host and an audit's process say to each other, and what becomes of what an audit finds.

A frame is four bytes of length, big-endian, and as many of DAG-CBOR. The host sends folded entries, each a
map {entry, record, delta, cells}; the child answers each with a list of findings [code, about, says].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from weighbridge import codec
from weighbridge.contract import Audit, Finding
from weighbridge.errors import Refused
from weighbridge.log.entries import decode_entry

from weighbridge_services.audit_host.errors import BadFrame

MAX_FRAME: Final = 16 << 20
MAX_FINDINGS: Final = 64
"""Findings about one entry that are taken; an audit that finds more has said enough."""
MAX_SAYS: Final = 2_000
"""Characters of a finding's sentence."""
STATE: Final = "_/state"


class Observed(NamedTuple):
    """One folded entry as an audit sees it: the entry, its record, and the changed cells with their values."""

    entry: Mapping[str, Any]
    value: Any
    delta: Sequence[tuple[str, Any]]


def frame(value: Any) -> bytes:
    """Return a value as a frame."""
    data = codec.encode(value)
    return len(data).to_bytes(4, "big") + data


def frame_length(head: bytes) -> int:
    """Return the length of what follows the four bytes of a frame. Raises BadFrame."""
    length = int.from_bytes(head, "big")
    if length > MAX_FRAME:
        raise BadFrame(f"a frame has at most {MAX_FRAME} bytes, and this would have {length}")
    return length


def observed(sent: Mapping[str, Any]) -> Observed:
    """Return what an audit is shown of a folded entry."""
    entry: Any = codec.decode_own(sent["entry"])
    record = sent["record"]
    cells = [(key, None if data is None else codec.decode_own(data)) for key, data in sent["cells"].items()]
    return Observed(entry, None if record is None else codec.decode_own(record), sorted(cells, key=_key))


def _key(pair: tuple[str, Any]) -> str:
    return pair[0]


def ask(audit: Audit, sent: Mapping[str, Any]) -> list[list[str]]:
    """Return what an audit finds about a folded entry, as it is sent. Raises what the audit raises."""
    shown = observed(sent)
    found: list[list[str]] = []
    for finding in audit.observe(shown.entry, shown.value, shown.delta):
        found.append([finding.code, finding.about, finding.says])
        if len(found) == MAX_FINDINGS:
            break
    return found


def findings(data: bytes) -> list[Finding]:
    """Return the findings in a frame that a child has sent. Raises BadFrame."""
    try:
        value = codec.decode(data)
    except Refused as refused:
        raise BadFrame(f"an audit's process answers with what is no DAG-CBOR: {refused}") from refused
    if not isinstance(value, list) or len(value) > MAX_FINDINGS:
        raise BadFrame(f"an audit's process answers with a list of at most {MAX_FINDINGS} findings")
    return [_finding(each) for each in value]


def _finding(value: object) -> Finding:
    if not isinstance(value, list) or len(value) != 3:
        raise BadFrame("a finding is a list of code, about and says")
    code, about, says = value
    if not (isinstance(code, str) and isinstance(about, str) and isinstance(says, str) and code):
        raise BadFrame("a finding's code, about and says are texts")
    return Finding(code[:64], about[:MAX_SAYS], says[:MAX_SAYS])


def seq_of(sent: Mapping[str, Any]) -> int:
    """Return which entry was shown."""
    return decode_entry(sent["entry"]).seq
