"""The index of a log by uri: written many at a time, it says what one at a time says."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from weighbridge.ledger import Ledger
from weighbridge.ledger.chained import Chained
from weighbridge.log import make_entry
from weighbridge.log.entries import Listed

DID = "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"
GAME = f"at://{DID}/example.coin.root/town"


def log_of(operations: list[tuple[int, bool]]) -> list[Listed]:
    """Return entries that list a version of a record, or its end, each of few uris."""
    found: list[Listed] = []
    for number, lists in operations:
        found.append(
            make_entry(
                found[-1] if found else None, game=GAME, at=1, op="create" if lists else "delete",
                uri=f"at://{DID}/example.coin.note/{number}", author=DID,
                record=b"\xa0" if lists else None,
            )
        )  # fmt: skip
    return found


@settings(max_examples=60, deadline=None)
@given(
    operations=st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=20),
    cuts=st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=20),
)
def test_the_first_listing_of_a_uri_is_the_same_remembered_read_and_counted(
    operations: list[tuple[int, bool]], cuts: list[tuple[int, bool]], tmp_path_factory: object
) -> None:
    entries = log_of(operations)
    path = Path(tmp_path_factory.mktemp("index")) / "ledger"  # type: ignore[attr-defined]
    uris = {each.entry.uri or "" for each in entries}
    at, ledger = 0, Ledger.open(path)
    for cut, anew in [*cuts, (len(entries), False)]:
        if anew:  # and nothing is remembered
            ledger.close()
            ledger = Ledger.open(path)
        ledger.log(GAME).extend(entries[at : at + cut], formed=True)
        at = min(at + cut, len(entries))
        listed = [each.entry for each in entries[:at] if each.entry.record is not None]
        counted = {uri: next((each.seq for each in listed if each.uri == uri), None) for uri in uris}
        assert {uri: ledger.log(GAME).first(uri) for uri in uris} == counted
    assert ledger.verify().sound
    ledger.close()


def test_a_batch_that_is_undone_is_not_remembered(tmp_path: Path) -> None:
    entries = log_of([(0, True), (1, True)])
    with Ledger.open(tmp_path / "ledger") as ledger:
        log = ledger.log(GAME)
        try:
            with ledger.batch():
                log.extend(entries, formed=True)
                assert log.first(entries[1].entry.uri or "") == 1
                raise RuntimeError
        except RuntimeError:
            pass
        assert log.first(entries[1].entry.uri or "") is None


@settings(max_examples=60, deadline=None)
@given(batches=st.lists(st.lists(st.binary(min_size=1, max_size=2), max_size=8), max_size=6))
def test_keys_put_together_stand_as_keys_put_one_by_one(
    batches: list[list[bytes]], tmp_path_factory: object
) -> None:
    folder = Path(tmp_path_factory.mktemp("chained"))  # type: ignore[attr-defined]
    with Ledger.open(folder / "ledger") as ledger:
        index = Chained(ledger._db, "uri")
        for keys in batches:
            with ledger.batch():
                index.put_new(keys)
        assert [row.key for row in index.rows()] == sorted({b"", *(key for keys in batches for key in keys)})
