"""Merkle Search Trees, as AT Protocol has them, over ASCII keys."""

from __future__ import annotations

from weighbridge.tree.difference import Difference, diff
from weighbridge.tree.keys import key_depth, shared_prefix
from weighbridge.tree.load import load
from weighbridge.tree.mst import Tree
from weighbridge.tree.proof import lookup, verify

__all__ = ["Difference", "Tree", "diff", "key_depth", "load", "lookup", "shared_prefix", "verify"]
