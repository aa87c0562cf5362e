"""Who says what: keys and their DIDs, signed records, operators, signed notes, and who must cosign.

- `ed25519`, `Signer`, `did_key`/`public_key`: strict Ed25519 and its did:key text;
- `Envelope`, `sign_record`, `open_envelope`: signed records for games without repos;
- `OperatorRecord`: an operator's three keys;
- `open_note`, `sign_note`, `cosign`: C2SP signed notes and `cosignature/v1`;
- `Policy`, `lint`, `parse_policy_text`: k of n, nested, and the C2SP tlog-policy text;
- `syntax`: the names of AT Protocol.
"""

from __future__ import annotations

from weighbridge.identity import ed25519, envelope_errors, syntax
from weighbridge.identity.didkey import did_key, is_did_key, public_key
from weighbridge.identity.ed25519 import verify
from weighbridge.identity.envelope import (
    Envelope,
    check_form,
    decode_envelope,
    encode_envelope,
    envelope_from_json,
    envelope_to_json,
    open_envelope,
    sign_record,
    verify_envelope,
)
from weighbridge.identity.keys import Signer
from weighbridge.identity.notes import Note, NoteSignature, format_note, parse_note
from weighbridge.identity.operators import (
    OPERATOR,
    OperatorRecord,
    check_operator,
    make_operator_record,
    parse_operator,
)
from weighbridge.identity.policy import Policy, Remark, Tally, lint, parse_policy, safe_quorum
from weighbridge.identity.signing import (
    OpenedNote,
    Verified,
    cosign,
    cosigners,
    open_note,
    sign_note,
    verify_signature,
)
from weighbridge.identity.syntax import AtUri, parse_at_uri, parse_record_uri
from weighbridge.identity.tlog_policy import TlogPolicy, lint_tlog_policy, parse_policy_text, tlog_policy
from weighbridge.identity.vkeys import COSIGNATURE, SIGNATURE, VerifierKey, parse_vkey, verifier_key

__all__ = [
    "COSIGNATURE",
    "OPERATOR",
    "SIGNATURE",
    "AtUri",
    "Envelope",
    "Note",
    "NoteSignature",
    "OpenedNote",
    "OperatorRecord",
    "Policy",
    "Remark",
    "Signer",
    "Tally",
    "TlogPolicy",
    "Verified",
    "VerifierKey",
    "check_form",
    "check_operator",
    "cosign",
    "cosigners",
    "decode_envelope",
    "did_key",
    "ed25519",
    "encode_envelope",
    "envelope_errors",
    "envelope_from_json",
    "envelope_to_json",
    "format_note",
    "is_did_key",
    "lint",
    "lint_tlog_policy",
    "make_operator_record",
    "open_envelope",
    "open_note",
    "parse_at_uri",
    "parse_note",
    "parse_operator",
    "parse_policy",
    "parse_policy_text",
    "parse_record_uri",
    "parse_vkey",
    "public_key",
    "safe_quorum",
    "sign_note",
    "sign_record",
    "syntax",
    "tlog_policy",
    "verifier_key",
    "verify",
    "verify_envelope",
    "verify_signature",
]
