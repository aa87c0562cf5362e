"""Repositories of the AT Protocol: keys, commits, CAR files and the proof of one record. Pure.

With `weighbridge.ports` this is what a source of such records imports: it also gives the strict codec, the
tree and the names that it verifies with.
"""

from __future__ import annotations

from weighbridge import codec
from weighbridge.cid import DAG_CBOR, RAW, BadCid, Cid
from weighbridge.identity import Signer, encode_envelope, envelope_to_json, sign_record
from weighbridge.identity.syntax import (
    AtUri,
    BadAtUri,
    is_did,
    is_handle,
    is_nsid,
    is_rkey,
    is_tid,
    parse_at_uri,
    parse_record_uri,
    tid_time,
)
from weighbridge.limits import (
    MAX_FRAME,
    MAX_FRAME_ITEMS,
    MAX_OPS,
    MAX_RECORD,
    MAX_REPO,
    MAX_REV_AHEAD,
    MAX_SLICE,
)
from weighbridge.logfile.car import CarReader, write_car
from weighbridge.repos.car import Car, read_repo, read_slice
from weighbridge.repos.carried import Grade, carry, carry_again, is_carried, open_carried
from weighbridge.repos.carried import Opened as OpenedRecord
from weighbridge.repos.commit import Commit, check_commit, check_rev, read_commit
from weighbridge.repos.errors import RepoRefused, RevNotAfter
from weighbridge.repos.keys import K256, P256, RepoPublicKey, parse_did_key, parse_document_key
from weighbridge.repos.proof import Proved, check_path, prove, proved, read_proof, record_of, write_proof
from weighbridge.tree import Tree, load, lookup

__all__ = [
    "DAG_CBOR",
    "K256",
    "MAX_FRAME",
    "MAX_FRAME_ITEMS",
    "MAX_OPS",
    "MAX_RECORD",
    "MAX_REPO",
    "MAX_REV_AHEAD",
    "MAX_SLICE",
    "P256",
    "RAW",
    "AtUri",
    "BadAtUri",
    "BadCid",
    "Car",
    "CarReader",
    "Cid",
    "Commit",
    "Grade",
    "OpenedRecord",
    "Proved",
    "RepoPublicKey",
    "RepoRefused",
    "RevNotAfter",
    "Signer",
    "Tree",
    "carry",
    "carry_again",
    "check_commit",
    "check_path",
    "check_rev",
    "codec",
    "encode_envelope",
    "envelope_to_json",
    "is_carried",
    "is_did",
    "is_handle",
    "is_nsid",
    "is_rkey",
    "is_tid",
    "load",
    "lookup",
    "open_carried",
    "parse_at_uri",
    "parse_did_key",
    "parse_document_key",
    "parse_record_uri",
    "prove",
    "proved",
    "read_commit",
    "read_proof",
    "read_repo",
    "read_slice",
    "record_of",
    "sign_record",
    "tid_time",
    "write_car",
    "write_proof",
]
