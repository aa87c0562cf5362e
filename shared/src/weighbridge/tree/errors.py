"""What can be wrong with a tree's keys, its nodes and the proofs from it."""

from __future__ import annotations

from typing import ClassVar

from weighbridge.errors import Refused


class TreeRefused(Refused):
    """What every refusal of a tree is."""


class TreeKey(TreeRefused):
    """A key that is not 1 to `limits.MAX_TREE_KEY` characters of ASCII."""

    code: ClassVar[str] = "tree-key"


class TreeValue(TreeRefused):
    """A value that is no CID."""

    code: ClassVar[str] = "tree-value"


class BlockMissing(TreeRefused):
    """A node that is needed is not among the blocks; `detail["cid"]` names it."""

    code: ClassVar[str] = "tree-block-missing"


class BlockMismatch(TreeRefused):
    """A block that does not hash to the CID it stands under."""

    code: ClassVar[str] = "tree-block-mismatch"


class BlockExtra(TreeRefused):
    """A proof with blocks that are not on the path."""

    code: ClassVar[str] = "tree-block-extra"


class NodeTooLarge(TreeRefused):
    """A node's block of more bytes than `limits.MAX_TREE_NODE`."""

    code: ClassVar[str] = "tree-node-too-large"


class NodeEncoding(TreeRefused):
    """A block that is not the one DAG-CBOR encoding of a node."""

    code: ClassVar[str] = "tree-node-encoding"


class NodePrefix(TreeRefused):
    """An entry that shares more, or less, with the key before it than its `p` says."""

    code: ClassVar[str] = "tree-node-prefix"


class NodeOrder(TreeRefused):
    """Keys that do not increase, within a node or against the keys around it."""

    code: ClassVar[str] = "tree-node-order"


class NodeDepth(TreeRefused):
    """A key that does not belong at the depth of its node, or a node below the bottom."""

    code: ClassVar[str] = "tree-node-depth"


class NodeEmpty(TreeRefused):
    """A node without entries where there may be none: at the top, or with nothing under it."""

    code: ClassVar[str] = "tree-node-empty"
