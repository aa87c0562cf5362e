"""Merkle Search Trees, as AT Protocol has them, over ASCII keys."""

from __future__ import annotations

from weighbridge.tree.keys import key_depth
from weighbridge.tree.mst import Tree

__all__ = ["Tree", "key_depth"]
