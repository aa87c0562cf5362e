from __future__ import annotations

import io

import pytest
from rich.console import Console
from weighbridge.contract import Card, Clock, Grid, Heading, Text, View
from weighbridge_services.render import page, pie, segments


def printed(view: View) -> str:
    out = io.StringIO()
    page(view, Console(file=out, width=100, markup=False, emoji=False, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize(
    ("filled", "size", "shows"),
    [
        (0, 4, "○"),
        (1, 4, "◔"),
        (2, 4, "◑"),
        (3, 4, "◕"),
        (4, 4, "●"),
        (1, 12, "◔"),
        (11, 12, "◕"),
        (3, 6, "◑"),
        (9, 8, "●"),
    ],
)
def test_a_clock_is_the_nearest_pie(filled: int, size: int, shows: str) -> None:
    assert pie(filled, size) == shows


def test_only_an_empty_clock_looks_empty_and_only_a_full_one_full() -> None:
    for size in range(1, 40):
        assert [filled for filled in range(size + 1) if pie(filled, size) == "○"] == [0]
        assert [filled for filled in range(size + 1) if pie(filled, size) == "●"] == [size]


def test_segments_are_counted_out() -> None:
    assert segments(3, 6) == "▰▰▰▱▱▱"
    assert segments(3, 600) == ""


def test_a_page_shows_every_kind_of_block() -> None:
    view = View(
        "The board",
        (
            Heading("Crews"),
            Grid(("crew", "heat"), (("The Lamps", "4"), ("Low Tide", "0"))),
            Clock("Bailiffs", 8, 3, "a day each"),
            Clock("Flood", 4, 4),
            Card("Ann", (("look", "grey coat"), ("drift", "2"))),
            Text("Nobody asked today."),
        ),
    )
    text = printed(view)
    for shown in (
        "The board",
        "Crews",
        "The Lamps",
        "◑ Bailiffs 3/8 ▰▰▰▱▱▱▱▱ a day each",
        "● Flood",
        "Ann",
        "grey coat",
        "Nobody asked",
    ):
        assert shown in " ".join(text.split()), shown


def test_what_players_write_cannot_steer_the_terminal_or_the_markup() -> None:
    hostile = "[red]x[/red] :smile: \x1b[2J \u202e"
    text = printed(
        View(hostile, (Text(hostile), Card(hostile, ((hostile, hostile),)), Grid((hostile,), ((hostile,),))))
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]x[/red] :smile: \ufffd[2J" in text
