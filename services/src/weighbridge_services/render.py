"""Turn a `contract.View` into a terminal page: headings, tables, clocks as pies, cards side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import assert_never

from rich import box
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from weighbridge.contract import Block, Card, Clock, Grid, Heading, View
from weighbridge.contract import Text as Paragraph

from weighbridge_services.output import clean

PIES = "○◔◑◕●"
SEGMENT, EMPTY = "▰", "▱"
MOST_SEGMENTS = 24
CARD_WIDTH = 46


def pie(filled: int, size: int) -> str:
    """Return the pie nearest to filled/size; ○ only where nothing is filled, ● only where all is."""
    if filled <= 0:
        return PIES[0]
    if filled >= size:
        return PIES[4]
    return PIES[min(3, max(1, (8 * filled + size) // (2 * size)))]


def segments(filled: int, size: int) -> str:
    """Return one mark per segment, or nothing for a clock too long to draw."""
    if not 0 < size <= MOST_SEGMENTS:
        return ""
    done = min(max(filled, 0), size)
    return SEGMENT * done + EMPTY * (size - done)


def page(view: View, console: Console) -> None:
    """Print a document."""
    console.print(Text(clean(view.title), style="bold underline"))
    for part in parts(view.blocks):
        console.print(part)


def parts(blocks: Sequence[Block]) -> Iterator[RenderableType]:
    """Yield what is printed for the blocks; clocks that follow one another share a table, cards a row."""
    for kind, run in groupby(blocks, key=type):
        several = list(run)
        if kind is Clock:
            yield _clocks([block for block in several if isinstance(block, Clock)])
        elif kind is Card:
            yield Columns([_card(block) for block in several if isinstance(block, Card)], padding=(0, 1))
        else:
            for block in several:
                yield from _part(block)


def _part(block: Block) -> Iterator[RenderableType]:
    match block:
        case Heading(text=text):
            yield Text("\n" + clean(text), style="bold")
        case Paragraph(text=text):
            yield Text(clean(text))
        case Grid():
            yield _grid(block)
        case Clock():
            yield _clocks([block])
        case Card():
            yield _card(block)
        case _:
            assert_never(block)


def _grid(grid: Grid) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in grid.columns:
        table.add_column(Text(clean(column)), overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    return table


def _clocks(clocks: Sequence[Clock]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(5):
        table.add_column(overflow="fold")
    for clock in clocks:
        cells = (clock.name, f"{clock.filled}/{clock.size}", segments(clock.filled, clock.size), clock.note)
        full = "bold" if clock.filled >= clock.size else ""
        table.add_row(
            Text(pie(clock.filled, clock.size), style=full),
            *(Text(clean(cell), style=full) for cell in cells),
        )
    return table


def _card(card: Card) -> Panel:
    lines = Table(box=None, show_header=False, pad_edge=False, expand=True)
    lines.add_column(style="dim")
    lines.add_column(overflow="fold", ratio=1)
    for label, text in card.lines:
        lines.add_row(Text(clean(label)), Text(clean(text)))
    return Panel(
        lines,
        title=Text(clean(card.title), style="bold"),
        title_align="left",
        box=box.ROUNDED,
        width=CARD_WIDTH,
    )
