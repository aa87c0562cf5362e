from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from weighbridge.ledger.chained import Chained
from weighbridge.ledger.opening import create, open_database

KEYS = st.binary(min_size=1, max_size=3)
STEPS = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=8) | st.just(b"x" * 2000)), max_size=40)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS, st.binary(max_size=2), st.binary(max_size=3))
def test_the_map_does_what_a_sorted_dictionary_does(
    tmp_path: Path, steps: list[tuple[bytes, bytes | None]], prefix: bytes, after: bytes
) -> None:
    where = tmp_path / "map"
    if not where.exists():
        create(where)
    database = open_database(where)
    chained, model = Chained(database, "kept"), dict[bytes, bytes]()
    try:
        with database.batch():
            for key in list(chained.keys(b"")):
                chained.delete(key)
            for key, value in steps:
                if value is None:
                    assert chained.delete(key) == (model.pop(key, None) is not None)
                else:
                    chained.put(key, value)
                    model[key] = value
        wanted = [(key, model[key]) for key in sorted(model) if key.startswith(prefix) and key > after]
        assert list(chained.scan(prefix, after)) == wanted
        assert [row.key for row in chained.rows()] == [b"", *sorted(model)]
        assert chained.get(prefix + b"?") == model.get(prefix + b"?")
    finally:
        database.close()


def test_a_long_scan_crosses_pages(tmp_path: Path) -> None:
    create(tmp_path / "map")
    database = open_database(tmp_path / "map")
    chained = Chained(database, "uri")
    with database.batch():
        for number in range(1000):
            chained.put(b"%04d" % number, b"")
    assert len(list(chained.keys(b""))) == 1000
    assert len(list(chained.keys(b"05"))) == 100
    database.close()
