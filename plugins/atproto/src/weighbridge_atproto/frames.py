"""Frames of `com.atproto.sync.subscribeRepos`: from bytes to what they say, nothing of it believed.

A frame is two DAG-CBOR objects: a header {op, t} and a body. Frames of kinds and operations that are not known
are `OtherFrame`: the protocol grows. Sources: AT Protocol, "Event Stream" and "Sync".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from weighbridge.ports import Refused
from weighbridge.repos import MAX_FRAME, MAX_FRAME_ITEMS, MAX_OPS, MAX_SLICE, Cid, codec, is_did, is_tid

from weighbridge_atproto.errors import FrameBody, FrameEncoding, FrameHeader, FrameTooLarge

MAX_SEQ: Final = 2**53
_MAX_HEADER: Final = 512
_MESSAGE: Final = 1
_ERROR: Final = -1
_ACTIONS: Final = frozenset(("create", "update", "delete"))


class Op(NamedTuple):
    """One operation of a commit: `create`, `update` or `delete` of a path, the record after it and before it."""

    action: str
    path: str
    cid: Cid | None
    prev: Cid | None


class CommitFrame(NamedTuple):
    """`#commit`. Signed is only the commit in `blocks`; everything else is for checking."""

    seq: int
    repo: str
    rev: str
    since: str | None
    commit: Cid
    blocks: bytes
    ops: tuple[Op, ...]
    prev_data: Cid | None
    too_big: bool


class SyncFrame(NamedTuple):
    """`#sync`: this commit is the state of the repository now."""

    seq: int
    repo: str
    rev: str
    blocks: bytes


class IdentityFrame(NamedTuple):
    """`#identity`: something about the DID may have changed."""

    seq: int
    repo: str
    handle: str | None


class AccountFrame(NamedTuple):
    """`#account`: whether the host serves the account, and if not, why."""

    seq: int
    repo: str
    active: bool
    status: str | None


class InfoFrame(NamedTuple):
    """`#info`: a word of the host about the stream, such as `OutdatedCursor`."""

    name: str
    message: str


class StreamError(NamedTuple):
    """The last frame of a stream: why the host ends it, such as `FutureCursor` or `ConsumerTooSlow`."""

    error: str
    message: str


class OtherFrame(NamedTuple):
    """A frame of a kind that is not known here."""

    kind: str
    seq: int | None


Frame = CommitFrame | SyncFrame | IdentityFrame | AccountFrame | InfoFrame | StreamError | OtherFrame


def parse_frame(data: bytes) -> Frame:
    """Return what a frame says.

    Raises FrameTooLarge, FrameEncoding, FrameHeader and FrameBody.
    """
    if len(data) > MAX_FRAME:
        raise FrameTooLarge(f"a frame has at most {MAX_FRAME} bytes, and this has {len(data)}")
    end = _first_end(data)
    header, body = _object(data[:end], "header"), _object(data[end:], "body")
    op, kind = header.get("op"), header.get("t")
    if type(op) is not int:
        raise FrameHeader(f"op of the header is {op!r:.40}, not a number")
    if op == _ERROR:
        return StreamError(_text(body, "error"), str(body.get("message") or "")[:1000])
    if op != _MESSAGE:
        return OtherFrame(f"op {op}", None)
    if not isinstance(kind, str) or not kind:
        raise FrameHeader("t of the header, the kind of the message, is missing")
    read = _KINDS.get(kind)
    if read is None:
        seq = body.get("seq")
        return OtherFrame(kind, seq if type(seq) is int else None)
    return read(body)


def _object(data: bytes, what: str) -> dict[str, Any]:
    _check_items(data)
    try:
        value = codec.decode(data)
    except Refused as error:
        raise FrameEncoding(f"the {what} is no strict DAG-CBOR: {error.message}", why=error.code) from error
    if not isinstance(value, dict):
        raise FrameEncoding(f"the {what} is no map")
    return value


def _check_items(data: bytes) -> None:
    """Refuse what would be read into many times its size, before it is. What is no DAG-CBOR the decoder says."""
    at = items = 0
    while at < len(data):
        items += 1
        if items > MAX_FRAME_ITEMS:
            raise FrameTooLarge(f"a frame has at most {MAX_FRAME_ITEMS} maps, lists, keys and values")
        major, info = data[at] >> 5, data[at] & 0x1F
        if info > 27:
            return
        size = 0 if info < 24 else 1 << (info - 24)
        length = info if not size else int.from_bytes(data[at + 1 : at + 1 + size], "big")
        at += 1 + size + (length if major in (2, 3) else 0)


def _first_end(data: bytes) -> int:
    """Return where the first object ends. It is a map of short texts and numbers, and read as no more than that."""
    if not data or data[0] >> 5 != 5 or data[0] & 0x1F > 23:
        raise FrameEncoding("a frame begins with a small map")
    at = 1
    for _ in range(2 * (data[0] & 0x1F)):
        at = _item_end(data, at)
    return at


def _item_end(data: bytes, at: int) -> int:
    if at >= min(len(data), _MAX_HEADER):
        raise FrameEncoding("the frame ends within its header, or has a header without end")
    major, info = data[at] >> 5, data[at] & 0x1F
    size = 0 if info < 24 else 1 << (info - 24) if info < 28 else None
    if size is None or major not in (0, 1, 2, 3, 7):
        raise FrameEncoding(f"byte {at}: a header holds numbers and texts")
    length = info if not size else int.from_bytes(data[at + 1 : at + 1 + size], "big")
    return at + 1 + size + (length if major in (2, 3) else 0)


# --- bodies ------------------------------------------------------------------------------------------------


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise FrameBody(f"{name} is {value!r:.80}, not a text", field=name)
    return value


def _did(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not is_did(value):
        raise FrameBody(f"{name} is {value!r:.200}, no DID", field=name)
    return str(value)


def _rev(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not is_tid(value):
        raise FrameBody(f"{name} is {value!r:.80}, no TID", field=name)
    return str(value)


def _seq(body: Mapping[str, Any]) -> int:
    value = body.get("seq")
    if type(value) is not int or not 0 <= value < MAX_SEQ:
        raise FrameBody(f"seq is {value!r:.40}, no number below 2^53", field="seq")
    return value


def _flag(body: Mapping[str, Any], name: str, default: bool | None = None) -> bool:
    value = body.get(name, default)
    if type(value) is not bool:
        raise FrameBody(f"{name} is {value!r:.40}, not true or false", field=name)
    return value


def _blocks(body: Mapping[str, Any]) -> bytes:
    value = body.get("blocks")
    if type(value) is not bytes:
        raise FrameBody("blocks are no bytes", field="blocks")
    if len(value) > MAX_SLICE:
        raise FrameTooLarge(f"blocks have at most {MAX_SLICE} bytes, and these have {len(value)}")
    return value


def _link(body: Mapping[str, Any], name: str) -> Cid | None:
    value = body.get(name)
    if value is not None and type(value) is not Cid:
        raise FrameBody(f"{name} is {value!r:.80}, no link", field=name)
    return value


def _commit(body: Mapping[str, Any]) -> CommitFrame:
    commit, since = _link(body, "commit"), body.get("since")
    if commit is None:
        raise FrameBody("commit is missing", field="commit")
    ops = body.get("ops")
    if not isinstance(ops, list):
        raise FrameBody("ops are no list", field="ops")
    if len(ops) > MAX_OPS:
        raise FrameTooLarge(f"a commit has at most {MAX_OPS} operations, and this has {len(ops)}")
    return CommitFrame(
        _seq(body), _did(body, "repo"), _rev(body, "rev"), None if since is None else _rev(body, "since"),
        commit, _blocks(body), tuple(_op(each) for each in ops), _link(body, "prevData"),
        _flag(body, "tooBig", False),
    )  # fmt: skip


def _op(value: object) -> Op:
    if not isinstance(value, dict):
        raise FrameBody("an operation is a map", field="ops")
    action, path = value.get("action"), _text(value, "path")
    if action not in _ACTIONS:
        raise FrameBody(f"action is {action!r:.40}, not create, update or delete", field="action")
    return Op(str(action), path, _link(value, "cid"), _link(value, "prev"))


def _sync(body: Mapping[str, Any]) -> SyncFrame:
    return SyncFrame(_seq(body), _did(body, "did"), _rev(body, "rev"), _blocks(body))


def _identity(body: Mapping[str, Any]) -> IdentityFrame:
    handle = body.get("handle")
    return IdentityFrame(_seq(body), _did(body, "did"), handle if isinstance(handle, str) else None)


def _account(body: Mapping[str, Any]) -> AccountFrame:
    status = body.get("status")
    return AccountFrame(
        _seq(body), _did(body, "did"), _flag(body, "active"), status if isinstance(status, str) else None
    )


def _info(body: Mapping[str, Any]) -> InfoFrame:
    return InfoFrame(_text(body, "name"), str(body.get("message") or "")[:1000])


_KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Frame]]] = {
    "#commit": _commit,
    "#sync": _sync,
    "#identity": _identity,
    "#account": _account,
    "#info": _info,
}
