"""The consumer's checklist, in its order: what a node believes of a frame before anything of it is listed."""

from __future__ import annotations

from weighbridge.repos import Commit, check_commit

from weighbridge_atproto.commits import VerifiedCommit, open_message, verify_commit
from weighbridge_atproto.documents import Identity, host_address
from weighbridge_atproto.errors import FrameTooLarge, OtherHost
from weighbridge_atproto.frames import CommitFrame, SyncFrame


def examine_commit(frame: CommitFrame, identity: Identity, host: str | None) -> VerifiedCommit:
    """Return a commit that holds by itself: host, sizes, blocks, fields, signature, operations.

    `host`: the address of the host whose stream it came on; None for a relay, which serves those of others.
    Raises OtherHost, FrameTooLarge, and what `verify_commit` does.
    """
    # First: what another host leaves out says nothing of the repository.
    check_host(identity, host)
    if frame.too_big:
        raise FrameTooLarge(f"the host left the blocks of {frame.rev} out as too many; fetch the repository")
    return verify_commit(frame, identity)


def examine_sync(frame: SyncFrame, identity: Identity, host: str | None) -> Commit:
    """Return the commit of a `#sync` that holds by itself. Raises as `examine_commit`."""
    check_host(identity, host)
    commit, _ = open_message(frame)
    check_commit(commit, identity.did, identity.key)
    return commit


def check_host(identity: Identity, host: str | None) -> None:
    """Check that the host a message came from is the one the DID document names. Raises OtherHost."""
    if host is not None and host_address(host) != identity.host:
        raise OtherHost(f"{identity.did} is served by {identity.host}, not by {host}", host=identity.host)
