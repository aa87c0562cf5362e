"""Whose traces await a witness's word, and what it says."""

from __future__ import annotations

from typing import Any

import coin
import pytest
from dice_log import ANN, DAY, GAME, GM, START, Log
from weighbridge.cid import Cid
from weighbridge.identity import Signer, open_envelope
from weighbridge.identity import encode_envelope as as_bytes
from weighbridge.ports import BadTracerSettings, TraceAsked, Traced, TraceNotYet
from weighbridge_services.trace_checker.decide import (
    FIRST,
    LONGEST,
    SOON,
    Case,
    Plan,
    Seen,
    Try,
    conclude,
    not_yet,
    plan,
    see,
    unavailable,
)
from weighbridge_services.trace_checker.tracers.dictated import Line, open_dictated, say
from weighbridge_services.trace_checker.tracers.form import open_form

KEYS = Signer(b"w" * 32)
ME = KEYS.did
URL = "https://example.org/a"


def seen_in(log: Log, did: str = ME) -> Seen:
    return see(coin.RULES, did, Seen(), log.entries)


def case_of(**fields: Any) -> Case:
    return Case(3, START, f"at://{ANN}/example.coin.flip/a", str(Cid.of(b"\xf6")), ANN, URL, **fields)


def report(log: Log, who: str, subject: Case, verdict: str) -> None:
    value = {"subject": {"uri": subject.uri, "cid": subject.cid}, "verdict": verdict}
    log.put(who, "network.weighbridge.trace", f"t{len(log.entries)}", value)


def test_a_record_with_a_trace_awaits_every_witness_of_its_root() -> None:
    log = Log()
    log.root(witnesses={"dids": [ME, GM], "quorum": 2})
    log.flip("a", trace=URL)
    log.flip("b")
    (case,) = seen_in(log).cases.values()
    assert (case.seq, case.trace, case.author) == (1, URL, ANN)
    assert not seen_in(log, ANN).cases


def test_without_witnesses_the_lister_alone_speaks() -> None:
    log = Log()
    log.root(lister=ME)
    log.flip("a", trace=URL)
    assert len(seen_in(log).cases) == 1
    assert not seen_in(log, GM).cases


def test_who_is_a_witness_is_said_by_the_root_in_force_at_the_listing() -> None:
    log = Log()
    log.root(lister=ME)
    log.flip("a", trace=URL)
    log.put(
        GM, "example.coin.root", "self", {"gm": GM, "lister": GM, "beacon": log.beacon_field}, op="update"
    )
    log.flip("b", trace=URL)
    assert [each.rpartition("/")[2] for each in seen_in(log).cases] == ["a"]


@pytest.mark.parametrize(
    ("who", "verdict", "left"),
    [(ME, "ok", 0), (ME, "unresolved", 0), (ME, "unavailable", 1), (GM, "ok", 1)],
)
def test_our_own_final_word_in_the_log_closes_a_case(who: str, verdict: str, left: int) -> None:
    log = Log()
    log.root(lister=ME)
    log.flip("a", trace=URL)
    (case,) = seen_in(log).cases.values()
    report(log, who, case, verdict)
    assert len(seen_in(log).cases) == left


def test_a_case_ends_with_the_second_day() -> None:
    log = Log()
    log.root(lister=ME)
    log.flip("a", trace=URL)
    first = log.now
    log.flip("b", wait=START // DAY * DAY + 2 * DAY - 1 - first)
    assert len(seen_in(log).cases) == 1
    log.flip("c", wait=1)
    assert not seen_in(log).cases


def test_a_final_word_is_reported_and_closes_the_case() -> None:
    outcome = conclude(KEYS, GAME, case_of(), Traced("ok", 5, "seen"))
    assert outcome.case is None
    assert outcome.report is not None
    envelope = open_envelope(as_bytes(outcome.report))
    assert envelope.author == ME
    assert envelope.value == {
        "game": GAME, "subject": {"uri": case_of().uri, "cid": case_of().cid}, "verdict": "ok", "dated": 5,
        "detail": "seen",
    }  # fmt: skip
    assert envelope.rkey == str(envelope.cid)


def test_unavailable_is_reported_once_and_leaves_the_case_open() -> None:
    first = conclude(KEYS, GAME, case_of(), Traced("unavailable"))
    assert first.report is not None
    assert first.case == case_of(said=True)
    again = conclude(KEYS, GAME, first.case, Traced("unavailable", detail="another reason"))
    assert again.report is None
    assert again.case == first.case
    last = conclude(KEYS, GAME, first.case, Traced("ok"))
    assert last.case is None
    assert last.report is not None
    assert last.report.uri != first.report.uri


def test_the_oldest_cases_come_first_and_what_waits_is_left_alone() -> None:
    cases = [Case(n, START, f"at://{ANN}/example.coin.flip/{n}", "c", ANN) for n in (5, 3, 9, 4)]
    uris = {case.seq: case.uri for case in cases}
    found = plan(cases, {uris[3]: Try(1, 100)}, 50, 2)
    assert found == Plan((uris[4], uris[5]), 100)
    assert plan(cases, {}, 50, 0) == Plan((), None)


def test_what_was_unavailable_is_looked_at_later_each_time() -> None:
    tried, waits = None, []
    for _ in range(14):
        tried = unavailable(tried, 0)
        waits.append(tried.again)
    assert waits[:3] == [FIRST, 2 * FIRST, 4 * FIRST]
    assert waits[-1] == LONGEST
    assert not_yet(tried, 7) == Try(14, 7 + SOON)


# --- tracers -----------------------------------------------------------------------------------------------


def asked(trace: Any, rkey: str = "a") -> TraceAsked:
    return TraceAsked(GAME, f"at://{ANN}/example.coin.flip/{rkey}", str(Cid.of(b"\xf6")), ANN, START, trace)


@pytest.mark.parametrize(
    ("trace", "kinds", "takes"),
    [
        pytest.param(URL, None, True, id="a-url"),
        pytest.param({"url": URL, "quote": "as it says"}, None, True, id="a-url-and-a-quote"),
        pytest.param({"uris": [f"at://{ANN}"]}, None, False, id="an-at-uri"),
        pytest.param(
            {"uris": [URL, f"at://{ANN}"]}, ["https", "at"], True, id="an-at-uri-whose-form-is-enough"
        ),
        pytest.param({"cid": Cid.of(b"\xf6")}, None, False, id="a-link"),
        pytest.param({"cid": Cid.of(b"\xf6")}, ["cid"], True, id="a-link-whose-form-is-enough"),
        pytest.param({"number": 7, "method": "counted"}, None, True, id="nothing-to-open"),
    ],
)
@pytest.mark.anyio
async def test_form_speaks_of_what_needs_no_opening_and_leaves_the_rest(
    trace: Any, kinds: Any, takes: bool
) -> None:
    tracer = open_form({} if kinds is None else {"kinds": kinds}, lambda: 0, ".")
    assert await tracer.resolve(asked(trace)) == (Traced("ok") if takes else None)


@pytest.mark.anyio
async def test_dictated_says_the_last_line_about_a_record_by_uri_cid_or_key(tmp_path: Any) -> None:
    tracer = open_dictated({"path": "words.jsonl"}, lambda: 0, str(tmp_path))
    path = tmp_path / "words.jsonl"
    with pytest.raises(TraceNotYet):
        await tracer.resolve(asked(URL))
    for subject in ("a", asked(URL).cid, asked(URL).uri):
        say(path, Line(subject, "unresolved", 5))
        say(path, Line(subject, "ok", 7, "seen"))
        assert await tracer.resolve(asked(URL)) == Traced("ok", 7, "seen")
        path.unlink()
    say(path, Line("b", "ok"))
    with pytest.raises(TraceNotYet):
        await tracer.resolve(asked(URL))


@pytest.mark.anyio
async def test_dictated_keeps_its_word_while_somebody_writes_the_next(tmp_path: Any) -> None:
    path = tmp_path / "traces.jsonl"
    say(path, Line("a", "ok"))
    tracer = open_dictated({}, lambda: 0, str(tmp_path))
    with path.open("ab") as file:
        file.write(b'{"subject": "b", "verd')
    assert await tracer.resolve(asked(URL)) == Traced("ok")
    with path.open("ab") as file:
        file.write(b'ict": "unresolved"}\n')
    assert await tracer.resolve(asked(URL, "b")) == Traced("unresolved")


@pytest.mark.anyio
async def test_dictated_may_have_a_word_for_everything_else(tmp_path: Any) -> None:
    tracer = open_dictated({"otherwise": "ok"}, lambda: 0, str(tmp_path))
    assert await tracer.resolve(asked(URL)) == Traced("ok")


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        pytest.param(open_form, {"kinds": ["ftp"]}, id="a-kind-nobody-knows"),
        pytest.param(open_form, {"kind": ["at"]}, id="a-setting-nobody-knows"),
        pytest.param(open_dictated, {"othewise": "ok"}, id="a-misspelt-setting"),
        pytest.param(open_dictated, {"otherwise": "yes"}, id="no-verdict"),
        pytest.param(open_dictated, {"path": "bad.jsonl"}, id="a-bad-line"),
        pytest.param(open_dictated, {"path": "."}, id="a-folder"),
    ],
)
def test_bad_settings_of_a_tracer_are_refused(which: Any, settings: Any, tmp_path: Any) -> None:
    (tmp_path / "bad.jsonl").write_bytes(
        b'{"subject": "a", "verdict": "ok"}\n{"subject": "a", "verdict": "maybe"}\n'
    )
    with pytest.raises(BadTracerSettings):
        which(settings, lambda: 0, str(tmp_path))


def test_a_misspelt_setting_of_a_tracer_is_told_with_its_path_and_the_nearest_name(tmp_path: Any) -> None:
    with pytest.raises(BadTracerSettings, match=r"games\.traces\.form\.kind is no setting; .*'kinds'"):
        open_form({"kind": ["at"]}, lambda: 0, str(tmp_path))
    with pytest.raises(BadTracerSettings, match=r"games\.traces\.dictated\.othewise .*'otherwise'"):
        open_dictated({"othewise": "ok"}, lambda: 0, str(tmp_path))
