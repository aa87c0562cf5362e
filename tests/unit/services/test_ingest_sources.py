"""Sources that come along: lines of JSON with pauses, and another log of the same game."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from ingest_facts import GAME, NOON, note, opened, opened_book, player
from weighbridge.identity import encode_envelope, envelope_to_json
from weighbridge.logfile import log_to_jsonl
from weighbridge.ports import Given, Pause, Source
from weighbridge_services.ingest.errors import BadSource
from weighbridge_services.ingest.sources.lines import open_lines
from weighbridge_services.ingest.sources.logs import open_log_file

ENVELOPE = note(player(1), "a")
JSON = json.dumps(envelope_to_json(ENVELOPE))
GIVEN = encode_envelope(ENVELOPE)


def read(source: Source, position: int = 0) -> list[tuple[int, Given | Pause]]:
    async def all_of_it() -> list[tuple[int, Given | Pause]]:
        found = [each async for each in source.read(position)]
        await source.close()
        return found

    return asyncio.run(all_of_it())


def lines(folder: Path, *texts: str) -> Source:
    (folder / "season.jsonl").write_text("\n".join(texts) + "\n")
    return open_lines({"file": "season.jsonl"}, str(folder))


@pytest.mark.parametrize(
    ("line", "item"),
    [
        (JSON, Given(GIVEN)),
        (f'{{"at": 7, "envelope": {JSON}}}', Given(GIVEN, 7)),
        (f'{{"envelope": {JSON}}}', Given(GIVEN)),
        ('{"time": 9}', Pause(at=9)),
        ('{"await": {"receipts": true, "timeout": 5}}', Pause(receipts=True, timeout=5)),
        ('{"at": 3, "await": {"beacon": 12}}', Pause(at=3, beacon=12)),
        ('{"await": {"traces": true}}', Pause(traces=True)),
    ],
    ids=["an envelope", "one with its time", "one without", "time", "receipts", "a beacon", "traces"],
)
def test_a_line_holds(tmp_path: Path, line: str, item: Given | Pause) -> None:
    assert read(lines(tmp_path, line)) == [(1, item)]


def test_reading_goes_on_after_a_position_and_over_empty_lines(tmp_path: Path) -> None:
    source = lines(tmp_path, JSON, "", '{"time": 9}', JSON)
    assert [position for position, _ in read(source)] == [1, 3, 4]
    assert [position for position, _ in read(source, 3)] == [4]


@pytest.mark.parametrize(
    "line",
    ["no JSON", "[]", "{}", '{"time": "noon"}', '{"time": -1}', '{"await": {"rain": true}}', '{"await": 3}',
     '{"at": 1.5, "envelope": {}}', JSON.replace("author", "writer")],
)  # fmt: skip
def test_a_line_is_refused_with_its_file_and_number(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadSource, match=r"season\.jsonl, line 2"):
        read(lines(tmp_path, JSON, line))


def test_a_source_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource):
        read(open_lines({"file": "gone.jsonl"}, str(tmp_path)))
    with pytest.raises(BadSource):
        read(open_log_file({"file": "gone.jsonl"}, str(tmp_path)))


@pytest.mark.parametrize("settings", [{}, {"file": 3}], ids=["no file", "a number"])
def test_a_source_needs_the_path_of_its_file(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(BadSource):
        open_lines(settings, str(tmp_path))


def test_another_log_gives_its_records_with_their_times(tmp_path: Path) -> None:
    book = opened_book()
    book.list(opened(ENVELOPE), now=NOON + 86_400_000_000)
    (tmp_path / "log.jsonl").write_bytes(b"".join(log_to_jsonl(book.entries)))
    found = read(open_log_file({"file": "log.jsonl"}, str(tmp_path)))
    assert [entry.entry.op for entry in book.entries] == ["create", "tick", "create"]
    assert found[-1] == (3, Given(GIVEN, NOON + 86_400_000_000))
    assert [position for position, _ in found] == [1, 3]
    assert book.entries[0].entry.game == GAME


def test_a_damaged_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"seq": 0}\n')
    with pytest.raises(BadSource):
        read(open_log_file({"file": "log.jsonl"}, str(tmp_path)))


@pytest.mark.parametrize("opening", [open_lines, open_log_file])
def test_a_file_is_the_only_setting_beside_what_the_node_reads_itself(opening: Any, tmp_path: Path) -> None:
    settings = {"game": GAME, "plugin": "jsonl", "root": "root.json", "handover": "handover.json"}
    assert opening({**settings, "file": "season.jsonl"}, str(tmp_path)).name in ("jsonl", "logfile")
    with pytest.raises(
        BadSource, match=r"^bad-source: games\.source\.fiel is no setting; did you mean 'file'\?"
    ):
        opening({**settings, "fiel": "season.jsonl"}, str(tmp_path))
    with pytest.raises(BadSource, match=r"games\.source\.file is missing"):
        opening(settings, str(tmp_path))
