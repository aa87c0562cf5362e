"""Traces by their form alone (§3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge_delvetown.actions import DELVETOWN
from weighbridge_delvetown.traces import FORMS, read_trace, uri_of

ANN = "did:plc:ann"
URL = "https://delve.example/page"
POST = "at://did:plc:other/app.bsky.feed.post/3k"
OWN = "at://did:plc:ann/app.bsky.feed.post/3k"
CID = "bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"


def test_every_action_of_the_book_has_a_form() -> None:
    assert tuple(sorted(FORMS)) == tuple(sorted(DELVETOWN))


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(URL, id="https"),
        pytest.param("http://delve.example", id="http"),
        pytest.param("https://delve.example:8443/a?b=c#d", id="port, query, fragment"),
        pytest.param(POST, id="a record"),
        pytest.param("at://did:plc:other", id="a repository"),
        pytest.param("at://ann.example/app.bsky.feed.post/3k", id="by handle"),
        pytest.param({"uri": POST, "cid": CID}, id="a version"),
    ],
)
def test_a_part_is_a_url_or_an_at_uri(part: Any) -> None:
    assert uri_of(part)


@pytest.mark.parametrize(
    "part",
    [
        pytest.param("", id="nothing"),
        pytest.param("delve.example", id="no scheme"),
        pytest.param("ftp://delve.example", id="another scheme"),
        pytest.param("https://", id="no host"),
        pytest.param("https://delve.example/a b", id="a space"),
        pytest.param("javascript:alert(1)", id="a script"),
        pytest.param("at://", id="no authority"),
        pytest.param("at://did:plc:other/a/b/c", id="too long a path"),
        pytest.param({"uri": POST}, id="a version without its cid"),
        pytest.param({"uri": POST, "cid": "x"}, id="a cid that is none"),
        pytest.param(["https://delve.example"], id="a list"),
        pytest.param(7, id="a number"),
        pytest.param(None, id="null"),
        pytest.param("https://delve.example/" + "a" * 9000, id="far too long"),
    ],
)
def test_what_is_neither_is_no_part(part: Any) -> None:
    assert uri_of(part) == ""


def test_an_action_takes_its_own_form_alone() -> None:
    assert read_trace("fetch", {"url": URL, "quote": "x"}, ANN) is not None
    assert read_trace("build", {"url": URL, "quote": "x"}, ANN) is None
    assert read_trace("whistle", {"url": URL, "quote": "x"}, ANN) is not None
    assert read_trace("whistle", {"url": URL}, ANN) is not None, "a keep by URL"
    assert read_trace("", {"quote": "x"}, ANN) is None


def test_of_urls_alone_a_verdict_says_only_the_date() -> None:
    assert not _read("fetch", url=URL, quote="x").opens
    assert _read("fetch", url=POST, quote="x").opens
    assert _read("fetch", url=URL, quote="x", post=POST).opens
    assert _read("keep", cid=CID).opens
    assert not _read("reckon", number=1, method=URL).opens


def test_what_is_read_is_dated_by_its_citation_and_what_is_made_by_itself() -> None:
    assert _read("fetch", url=URL, quote="x").by_listing
    assert not _read("fetch", url=URL, quote="x", post=POST).by_listing
    assert not _read("draw", image=URL).by_listing
    assert not _read("draw", image=URL, post=POST).by_listing


@pytest.mark.parametrize(
    ("action", "trace", "broken"),
    [
        pytest.param("sway", {"post": OWN, "reply": POST}, False, id="a reply by another account"),
        pytest.param("sway", {"post": OWN, "reply": OWN}, True, id="a reply by oneself"),
        pytest.param("audit", {"claim": POST, "check": OWN}, False, id="somebody else's claim"),
        pytest.param("audit", {"claim": OWN, "check": URL}, True, id="one's own claim"),
        pytest.param("bargain", {"offer": OWN, "acceptance": OWN}, True, id="one's own acceptance"),
        pytest.param("mend", {"before": POST, "after": POST}, True, id="nothing mended"),
        pytest.param("mend", {"before": URL, "after": URL}, False, id="of URLs the form alone counts"),
        pytest.param("", {"claim": OWN, "check": URL}, False, id="a between move cites what it likes"),
    ],
)
def test_what_the_book_asks_of_at_uris_is_seen_on_sight(
    action: str, trace: dict[str, Any], broken: bool
) -> None:
    cited = read_trace(action, trace, ANN)
    assert cited is not None
    assert cited.broken is broken


def test_the_same_parts_are_the_same_citation() -> None:
    assert _read("fetch", url=URL, quote="x").text == _read("fetch", quote="x", url=URL, post=POST).text
    assert _read("fetch", url=URL, quote="x").text != _read("fetch", url=URL, quote="y").text
    assert _read("trace", uris=[POST, OWN]).text != _read("trace", uris=[OWN, POST]).text


def _read(action: str, **trace: Any) -> Any:
    cited = read_trace(action, trace, ANN)
    assert cited is not None
    return cited


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from((*DELVETOWN, "whistle", "")),
    JUNK | st.dictionaries(st.sampled_from(("url", "cid", "uris")), JUNK),
)
def test_no_value_makes_reading_a_trace_raise(action: str, value: Any) -> None:
    read_trace(action, value, ANN)
