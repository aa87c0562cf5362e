"""What can be wrong with a frame, a commit's operations, a chain of commits and a DID document."""

from __future__ import annotations

from weighbridge.ports import Broken, Refused, Unavailable


class FrameRefused(Refused):
    """What every refusal of a frame is."""


class FrameTooLarge(FrameRefused):
    """A frame of more bytes than `limits.MAX_FRAME`, or with more operations than `limits.MAX_OPS`."""

    code = "frame-size"


class FrameEncoding(FrameRefused):
    """A frame that is not two objects in strict DAG-CBOR, one after the other."""

    code = "frame-encoding"


class FrameHeader(FrameRefused):
    """A frame whose header is not {op, t} with an operation that is known."""

    code = "frame-header"


class FrameBody(FrameRefused):
    """A frame whose body lacks a field of its kind, or has one of another type."""

    code = "frame-body"


class MessageMismatch(FrameRefused):
    """A frame that says another repository, rev or commit than the commit in it."""

    code = "frame-mismatch"


class OpForm(FrameRefused):
    """An operation that is not what its action is: a create with a `prev`, a delete with a `cid`, …"""

    code = "op-form"


class OpTwice(FrameRefused):
    """Two operations of one commit on one path."""

    code = "op-duplicate"


class OpMismatch(FrameRefused):
    """An operation whose outcome is not what stands in the tree of the commit."""

    code = "op-mismatch"


class Inversion(FrameRefused):
    """The operations undone do not lead back to `prevData`: one is missing, made up or changed."""

    code = "op-inversion"


class ChainBreak(FrameRefused):
    """A commit that does not follow the last one known: `prevData` or `since` is another. Fetch the repository."""

    code = "chain-break"


class WaitedEnough(FrameRefused):
    """More commits than are kept wait for their repository: they are told without what it held before them."""

    code = "waited-enough"


class FramesGivenUp(FrameRefused):
    """More frames than are kept wait for their DIDs to be resolved: those of the DID with the most are given up."""

    code = "frames-given-up"


class AccountInactive(FrameRefused):
    """A commit of an account that its host says is not active."""

    code = "account-inactive"


class OtherHost(FrameRefused):
    """A frame from a host that is not the one the DID document names."""

    code = "other-host"


class DocumentForm(Refused):
    """A DID document that cannot be read, or not as one."""

    code = "did-document"


class DocumentOther(Refused):
    """A DID document of another DID than the one asked for."""

    code = "did-document-other"


class DocumentNoKey(Refused):
    """A DID document without an `#atproto` key."""

    code = "did-document-no-key"


class DocumentNoHost(Refused):
    """A DID document without an `#atproto_pds` service, or with an address that is none."""

    code = "did-document-no-host"


class DidMethod(Refused):
    """A DID of another method than did:plc and did:web, or one that these do not allow."""

    code = "did-method"


class DidGone(Refused):
    """A DID that its directory says is gone."""

    code = "did-gone"


class CursorInFuture(Broken):
    """The host's stream is behind what was read of it: it has lost state, and a person must look."""

    code = "cursor-in-future"


class StreamClosed(Unavailable):
    """The stream ended, was silent for too long, or said that it ends; reading goes on from the cursor."""

    code = "stream-closed"
