"""What a fetched repository's records are taken by, since it does not say in which order they came."""

from __future__ import annotations

from weighbridge_atproto.ordering import place_of


def test_the_root_comes_first_then_what_an_account_has_once_then_moves_by_their_time() -> None:
    root = "town.delve.root/one"
    paths = [
        "town.delve.move/3l5aaaaaaaaa2",
        "town.delve.move/a1",
        "town.delve.crew/3l4aaaaaaaaa2",
        "town.delve.sheet/self",
        root,
    ]
    assert sorted(paths, key=lambda each: place_of(each, root)) == [
        root,
        "town.delve.sheet/self",
        "town.delve.move/a1",
        "town.delve.crew/3l4aaaaaaaaa2",
        "town.delve.move/3l5aaaaaaaaa2",
    ]
