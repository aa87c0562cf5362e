from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.log import EMPTY_ROOT, Checkpoint
from weighbridge.log.errors import CheckpointRefused, OriginRefused

ROOT = sha256(b"root").digest()
LINE = "SBNJTRN+Wjtn5QQ3+Oo5+lbU5lyQz5Mm7KKKRvkXKBk="
GAME = "at://did:plc:abc/network.weighbridge.root/self"


def test_a_checkpoint_is_three_lines():
    text = Checkpoint(GAME, 20852163, ROOT).text()
    lines = text.split("\n")
    assert lines[:2] == [GAME, "20852163"]
    assert (len(lines), lines[3], len(lines[2])) == (4, "", 44)
    assert Checkpoint.parse(text, GAME) == Checkpoint(GAME, 20852163, ROOT)


def test_the_checkpoint_of_no_leaves_has_size_0():
    assert Checkpoint.parse(Checkpoint("log", 0, EMPTY_ROOT).text()).size == 0


def body(origin="log", size="5", root=LINE, end="\n"):
    return f"{origin}\n{size}\n{root}{end}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(None, id="no text"),
        pytest.param(body().encode(), id="bytes"),
        pytest.param(body(end=""), id="last line not ended"),
        pytest.param(body(end="\n\n"), id="an empty line more"),
        pytest.param(body(end="\nextension\n"), id="an extension line"),
        pytest.param(body(end="\r\n"), id="a carriage return"),
        pytest.param("\ufeff" + body(), id="a byte order mark"),
        pytest.param(body(origin=""), id="no origin"),
        pytest.param(body(origin="a log"), id="a space in the origin"),
        pytest.param(body(origin="lög"), id="an origin beyond ASCII"),
        pytest.param(body(origin="log\x7f"), id="a control character in the origin"),
        pytest.param(body(origin="l" * 8193), id="an origin too long"),
        pytest.param(body(size=""), id="no size"),
        pytest.param(body(size="05"), id="a leading zero"),
        pytest.param(body(size="00"), id="two zeros"),
        pytest.param(body(size="+5"), id="a plus sign"),
        pytest.param(body(size="-5"), id="a negative size"),
        pytest.param(body(size="5 "), id="a space after the size"),
        pytest.param(body(size="٥"), id="digits of another script"),
        pytest.param(body(size="5_0"), id="an underscore"),
        pytest.param(body(size="9223372036854775808"), id="a size of 64 bits"),
        pytest.param(body(size="9" * 30), id="a size beyond all bounds"),
        pytest.param(body(size="0"), id="no leaves and a root"),
        pytest.param(body(root=""), id="no root"),
        pytest.param(body(root=LINE[:-1]), id="no padding"),
        pytest.param(body(root=LINE[:-2] + "l="), id="bits set that are no part of the root"),
        pytest.param(body(root=LINE.replace("+", "-")), id="the alphabet of URLs"),
        pytest.param(body(root=" " + LINE[1:]), id="a space in the root"),
        pytest.param(body(root=LINE[:40] + "===="), id="padding all over"),
        pytest.param(body(root="ä" * 44), id="a root beyond ASCII"),
        pytest.param(body(root=LINE + "AAAA"), id="a root too long"),
    ],
)
def test_any_other_text_is_refused(text):
    with pytest.raises(CheckpointRefused):
        Checkpoint.parse(text)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(("", 1, ROOT), id="no origin"),
        pytest.param(("a\nb", 1, ROOT), id="two lines"),
        pytest.param((None, 1, ROOT), id="no text"),
        pytest.param(("log", True, ROOT), id="a truth for a size"),
        pytest.param(("log", -1, ROOT), id="a negative size"),
        pytest.param(("log", 1 << 63, ROOT), id="a size of 64 bits"),
        pytest.param(("log", 1, ROOT[1:]), id="a short root"),
        pytest.param(("log", 1, bytearray(ROOT)), id="a root that can change"),
        pytest.param(("log", 0, ROOT), id="no leaves and a root"),
    ],
)
def test_values_that_no_checkpoint_holds_are_refused(values):
    with pytest.raises(CheckpointRefused):
        Checkpoint(*values)


def test_a_checkpoint_of_another_log_is_refused_where_one_is_named():
    with pytest.raises(OriginRefused):
        Checkpoint.parse(Checkpoint("other", 1, ROOT).text(), GAME)


@given(
    st.from_regex(r"[!-~]{1,80}", fullmatch=True),
    st.integers(1, (1 << 63) - 1),
    st.binary(min_size=32, max_size=32),
)
def test_what_is_written_is_read_back(origin, size, root):
    checkpoint = Checkpoint(origin, size, root)
    assert Checkpoint.parse(checkpoint.text()) == checkpoint


@given(st.text() | st.lists(st.sampled_from(["log", "5", LINE, "\n", "0", "=", " "])).map("".join))
def test_any_text_is_refused_or_is_the_one_text_of_its_checkpoint(text):
    try:
        checkpoint = Checkpoint.parse(text)
    except CheckpointRefused:
        return
    assert checkpoint.text() == text
