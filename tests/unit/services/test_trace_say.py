"""`weighbridge trace say`: the word of a person, in the file that the tracer reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from weighbridge_services.cli import main
from weighbridge_services.creating import create_node
from weighbridge_services.trace_checker.tracers.dictated import Line, read_lines

GAME = "at://did:plc:z72i7hdynmk6r22z27h6tvur/network.weighbridge.game/one"
CONFIG = f"""
[node]
name = "alma"
[plugins]
tracers = ["dictated"]
[[games]]
uri = "{GAME}"
role = "lister"
ruleset = "coin"
[games.traces.dictated]
path = "words.jsonl"
"""


def test_a_word_is_written_to_the_file_that_the_tracer_reads(tmp_path: Path) -> None:
    node = create_node(tmp_path / "alma", CONFIG)
    say = [
        "trace",
        "say",
        "a",
        "ok",
        "--node",
        str(node.folder),
        "--dated",
        "1970-01-01T00:00:07Z",
        "--detail",
        "seen",
    ]
    assert main(say) == 0
    assert read_lines(node.folder / "words.jsonl") == [Line("a", "ok", 7_000_000, "seen")]


@pytest.mark.parametrize(
    ("config", "more", "code"),
    [
        pytest.param(CONFIG.replace('"dictated"]', '"form"]'), [], "not-dictated", id="another-tracer"),
        pytest.param(CONFIG, ["--game", "at://did:plc:a/b/c"], "no-such-game", id="another-game"),
        pytest.param(CONFIG, ["--dated", "yesterday"], "bad-time", id="no-time"),
    ],
)
def test_what_cannot_be_said_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], config: str, more: list[str], code: str
) -> None:
    node = create_node(tmp_path / "alma", config)
    assert main(["trace", "say", "a", "ok", "--node", str(node.folder), *more]) == 2
    assert capsys.readouterr().err.startswith(f"weighbridge: {code}: ")
