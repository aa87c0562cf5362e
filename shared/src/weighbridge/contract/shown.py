"""How a person sees a game: a document of a few kinds of block, which renderers turn into pages."""

from __future__ import annotations

from weighbridge.contract.values import Frozen


class Heading(Frozen, frozen=True, tag="heading"):
    """A heading; what follows belongs to it."""

    text: str


class Text(Frozen, frozen=True, tag="text"):
    """A paragraph."""

    text: str


class Grid(Frozen, frozen=True, tag="grid"):
    """A table: column titles and rows of cells, all text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Clock(Frozen, frozen=True, tag="clock"):
    """A clock of `size` segments, `filled` of them."""

    name: str
    size: int
    filled: int
    note: str = ""


class Card(Frozen, frozen=True, tag="card"):
    """A titled card with (label, text) lines: a sheet, a character, a crew."""

    title: str
    lines: tuple[tuple[str, str], ...]


Block = Heading | Text | Grid | Clock | Card


class View(Frozen, frozen=True):
    """A document: what a person sees of a table. Renderers turn it into a terminal page, HTML or JSON."""

    title: str
    blocks: tuple[Block, ...]
