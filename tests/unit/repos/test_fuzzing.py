"""The fuzzer itself: what it would find, that it says how to find it again, and that its inputs reach the decoders."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))

from fuzz_mutating import havoc  # noqa: E402
from fuzz_running import Outcome, TooMuch, one, run  # noqa: E402
from fuzz_targets import Target, targets  # noqa: E402
from weighbridge.cid import BadCid  # noqa: E402


def crashes(data: bytes) -> None:
    raise KeyError(data[:1])


def never_ends(_: bytes) -> None:
    while True:
        len(())


def eats(data: bytes) -> None:
    sum(bytes(100_000_000)[: len(data)])


def lies(_: bytes) -> None:
    raise AssertionError("a commit that nobody signed")


def target(work: Callable[[bytes], None]) -> Target:
    return Target("planted", (b"some input",), (havoc,), work)


@pytest.mark.parametrize("planted", [crashes, never_ends, eats, lies], ids=lambda each: each.__name__)
def test_a_planted_fault_is_found_kept_and_found_again(planted: Callable[[bytes], None], tmp_path: Path):
    outcome = Outcome()
    one(target(planted), "7", outcome, tmp_path)
    (said,) = outcome.failures
    (kept,) = tmp_path.iterdir()
    assert f"--replay planted {kept}" in said
    assert kept.read_bytes() == target(planted).input("7", 0)
    with pytest.raises((Exception, TooMuch)):
        run(target(planted), kept.read_bytes(), memory=True)


def test_a_refusal_is_no_fault(tmp_path: Path):
    def refuses(_: bytes) -> None:
        raise BadCid("no CID")

    outcome = Outcome()
    one(target(refuses), "7", outcome, tmp_path)
    assert (outcome.failures, outcome.refused) == ([], {"cid-form": 1})


def test_every_decoder_takes_what_is_made_for_it_and_some_of_it_far_in(tmp_path: Path):
    for each in targets():
        outcome = Outcome()
        for _ in range(60):
            one(each, "unit", outcome, tmp_path)
        assert outcome.failures == []
        assert each.input("unit", 5) == each.input("unit", 5)
        assert len(outcome.refused) >= 3, each.name
        # What none of it accepts would be fuzzed no deeper than its first check.
        assert any(run(each, data, memory=False)[0] is None for data in each.corpus), each.name
