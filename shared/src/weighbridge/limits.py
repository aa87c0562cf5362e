"""Every size limit of Weighbridge, in one table. Sizes are in bytes, counts in items."""

from __future__ import annotations

from typing import Final

# --- Values and records ------------------------------------------------------------------------------------

MAX_RECORD: Final = 262_144
"""A record's DAG-CBOR."""

MAX_NESTING: Final = 32
"""How deep lists and maps may nest: a list of 32 lists in each other is the deepest value there is."""

MIN_INTEGER: Final = -(2**64)
"""The lowest integer of DAG-CBOR: major type 1 with a 64-bit argument."""

MAX_INTEGER: Final = 2**64 - 1
"""The highest integer of DAG-CBOR: major type 0 with a 64-bit argument."""

# --- Identity ----------------------------------------------------------------------------------------------

MAX_ENVELOPE: Final = MAX_RECORD + 16_384
"""An envelope's DAG-CBOR: its record, and room for the longest game, collection and record key."""

MAX_KEY_NAME: Final = 4_096
"""The name of a note's key, in UTF-8."""

MAX_NOTE_TEXT: Final = 16_384
"""The text of a signed note: a checkpoint of the longest origin takes less."""

MAX_NOTE: Final = 131_072
"""A signed note with its signatures."""

MAX_NOTE_SIGNATURES: Final = 256
"""The signature lines of a note (C2SP asks for 16 at least)."""

MAX_POLICY_MEMBERS: Final = 64
"""The DIDs of a policy, those of its groups included; also the logs and the witnesses of a policy text (C2SP: 32)."""

MAX_POLICY_GROUPS: Final = 64
"""The groups of a policy, the outermost included (C2SP: 32)."""

MAX_POLICY_DEPTH: Final = 8
"""How deep the groups of a policy nest: 1 is a policy without groups in it."""

MAX_POLICY_TEXT: Final = 524_288
"""A C2SP policy file."""

# --- Logs --------------------------------------------------------------------------------------------------

MAX_ENTRY: Final = 278_528
"""A log entry's DAG-CBOR: MAX_PROOF, and room for the longest at-uris and the rest. Of most it is some 2,000 bytes.

C2SP's tlog-tiles bundles hold entries up to 65,535 bytes; larger is only one whose proof comes from an odd tree.
"""

MAX_ORIGIN: Final = 8_192
"""The origin line of a checkpoint."""

# --- Trees -------------------------------------------------------------------------------------------------

MAX_TREE_KEY: Final = 1_024
"""A key of a Merkle Search Tree, as in AT Protocol."""

MAX_TREE_NODE: Final = 2_000_000
"""The block of one tree node that is read from others: AT Protocol's limit of a block."""

MAX_OPERATOR_NAME: Final = 128
"""An operator's name for people, in characters."""

# --- The table ---------------------------------------------------------------------------------------------

MAX_CELL: Final = 262_144
"""A cell's DAG-CBOR."""

MAX_KEY: Final = 900
"""A cell's key, in ASCII characters: with the kernel's prefixes it stays within MAX_TREE_KEY."""

# --- A log as one file -------------------------------------------------------------------------------------

MAX_CAR_HEADER: Final = 4_096
"""The header of a CAR file: some 90 roots."""

MAX_CAR_BLOCK: Final = MAX_TREE_NODE
"""A block in a CAR file, without its CID: the largest block there is anywhere."""

MAX_LOG_LINE: Final = 14 * (MAX_RECORD + MAX_ENTRY)
"""A line of a log in JSONL: an empty byte string, one byte, becomes the 14 of `{"$bytes":""},`."""

# --- Repositories ------------------------------------------------------------------------------------------

MAX_COMMIT: Final = 4_096
"""A repository's signed commit: some 250, with the longest DID below 2,400."""

MAX_REV_AHEAD: Final = 300_000_000
"""How far (µs) a commit's rev may lie ahead of the clock of whoever reads it."""

MAX_FRAME: Final = 5_000_000
"""A frame of a firehose: AT Protocol's limit."""

MAX_FRAME_ITEMS: Final = 16_384
"""The maps, lists, keys and values of a frame: 200 operations are some 2,000; read, one byte can become 200."""

MAX_SLICE: Final = 2_000_000
"""The CAR in a commit's frame, and that of a proof: AT Protocol's limit."""

MAX_SLICE_BLOCKS: Final = 20_000
"""The blocks of a slice: those of 200 operations take far fewer."""

MAX_OPS: Final = 200
"""The operations of one commit: AT Protocol's limit."""

MAX_PROOF: Final = 262_144
"""The commit and the nodes that prove a listed record, which its entry holds.

A repository of 200,000 records whose keys nobody picked needs 8,426 at most, and grows with the logarithm. Keys can be
picked so that a thousand stand in one node, 55,000 to 90,000 bytes, deep under others: that is listed too.
"""

MAX_REPO: Final = 268_435_456
"""A whole repository that is read into memory."""

MAX_REPO_BLOCKS: Final = 2_000_000
"""The blocks of a whole repository."""

# --- Following ---------------------------------------------------------------------------------------------

MAX_AWAITED: Final = 4_096
"""Records that a follower holds and the log does not list: more are not read before some of these are settled."""

MAX_AWAITED_OF_AUTHOR: Final = 64
"""Of those, the records of one author: what is beyond is not watched, and counted."""

MAX_AWAITED_PROOF: Final = 65_536
"""The bytes of such a record that are kept to be shown; of a larger one their CID is."""
