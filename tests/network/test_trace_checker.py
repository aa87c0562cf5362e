"""The trace checker on a real broker: a witness's word on what records point at, said once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from dice_games import GAME, ReadingStage, make_dice_node, run_until_end, with_sources
from ingest_games import player
from nodes import World, until, until_async
from weighbridge.identity import Envelope, sign_record
from weighbridge.ports import TraceAsked, Traced
from weighbridge_services.trace_checker import decide
from weighbridge_services.trace_checker.app import Service
from weighbridge_services.trace_checker.tracers.dictated import Line, say
from weighbridge_services.wire.crashing import EXIT

pytestmark = pytest.mark.anyio

URL = "https://example.org/a"
AT = "at://did:plc:annannannannannannannann/app.bsky.feed.post/a"


class Stage(ReadingStage[Service]):
    """A node with a log to write, and its trace checker."""

    kind = Service

    async def begin(self, **fields: Any) -> None:
        await self.log.begin(**{"lister": self.node.did, **fields})

    async def reports(self) -> list[tuple[str, str]]:
        """Return record key and verdict of each report, in order."""
        found = await self.records("trace")
        assert all(each.author == self.node.did for each in found)
        return [(each.value["subject"]["uri"].rpartition("/")[2], each.value["verdict"]) for each in found]

    async def wait_for(self, *reports: tuple[str, str]) -> None:
        async def there() -> bool:
            return await self.reports() == list(reports)

        await until_async(there, what=f"{reports}")

    def say(self, subject: str, verdict: Any, **more: Any) -> None:
        say(self.node.folder / "traces.jsonl", Line(subject, verdict, **more))


Open = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def stage(world: World) -> AsyncIterator[Open]:
    made: list[Stage] = []

    async def make(*tracers: str, settings: str = "", **more: Any) -> Stage:
        node = make_dice_node(world, tracers=tracers, more=settings)
        await world.start(node)
        found = Stage(world, with_sources(node, **more), await world.bus(node))
        made.append(found)
        return found

    try:
        yield make
    finally:
        for each in made:
            while each.running:
                await each.down()


class Breaking:
    """A tracer that answers what it is made to, or raises it."""

    name = "breaking"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[TraceAsked] = []

    async def resolve(self, asked: TraceAsked) -> Traced | None:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]

    async def close(self) -> None:
        return None


async def test_a_record_with_a_web_address_is_reported_well_formed(stage: Open) -> None:
    on = await stage("form")
    await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.log.flip("b", who=2)
    await on.wait_for(("a", "ok"))
    (report,) = await on.records("trace")
    assert report.collection == "network.weighbridge.trace"
    assert report.value["game"] == GAME


async def test_who_is_no_witness_says_nothing(stage: Open) -> None:
    on = await stage("form")
    service = await on.up()
    await on.begin(witnesses={"dids": [player(9).did], "quorum": 1})
    await on.log.flip("a", trace=URL)
    await until(lambda: service.checkers[0].size == 2)
    assert service.health()["open"] == 0
    assert await on.reports() == []


async def test_what_a_person_dictates_while_the_node_runs_is_reported_with_its_date(stage: Open) -> None:
    on = await stage("dictated")
    service = await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await until(lambda: service.health()["open"] == 1)
    assert await on.reports() == []
    on.say("a", "unresolved", dated=7)
    await on.wait_for(("a", "unresolved"))
    (report,) = await on.records("trace")
    assert report.value["dated"] == 7


async def test_the_first_tracer_that_opens_a_kind_has_the_word(stage: Open) -> None:
    on = await stage("form", "dictated", settings='[games.traces.dictated]\notherwise = "unresolved"')
    await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.wait_for(("a", "ok"))
    await on.log.flip("b", who=2, trace=AT)
    await on.wait_for(("a", "ok"), ("b", "unresolved"))


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        pytest.param(ZeroDivisionError(), "breaking: tracer-fails", id="a-bug"),
        pytest.param("ok", "breaking: tracer-fails", id="another-answer"),
        pytest.param(Traced("ok", dated=-1), "breaking: tracer-fails", id="a-date-that-is-none"),
        pytest.param(None, "no-tracer", id="nobody-opens-it"),
    ],
)
async def test_what_nobody_can_say_is_unavailable_once_and_asked_for_again(
    stage: Open, monkeypatch: pytest.MonkeyPatch, answer: Any, detail: str
) -> None:
    monkeypatch.setattr(decide, "FIRST", 20_000)
    tracer = Breaking(answer)
    on = await stage("breaking", breaking=tracer)
    await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.wait_for(("a", "unavailable"))
    await until(lambda: len(tracer.asked) >= 3)
    (report,) = await on.records("trace")
    assert report.value["detail"] == detail
    tracer.answer = Traced("ok")
    await on.wait_for(("a", "unavailable"), ("a", "ok"))


async def test_without_a_tracer_nothing_final_is_said_and_health_says_why(stage: Open) -> None:
    on = await stage()
    service = await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.wait_for(("a", "unavailable"))
    (says,) = service.health()["unhealthy"]
    assert "no tracer is configured" in says


async def test_a_log_that_is_delivered_again_reports_nothing_anew(stage: Open) -> None:
    on = await stage("form")
    await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.wait_for(("a", "ok"))
    await on.down()
    service = await on.up()
    await on.log.flip("b", who=2, trace=URL)
    await on.wait_for(("a", "ok"), ("b", "ok"))
    assert service.checkers[0].size == 3


async def test_after_its_ledger_is_lost_our_own_word_in_the_log_still_closes_the_case(stage: Open) -> None:
    on = await stage("dictated")
    await on.begin()
    await on.log.flip("a", trace=URL)
    assert on.log.last is not None
    subject = {"uri": on.log.last.entry.uri, "cid": str(on.log.last.entry.record)}
    value = {"game": GAME, "subject": subject, "verdict": "ok"}
    report: Envelope = sign_record(on.node.keys.records, GAME, "network.weighbridge.trace", "r", value)
    await on.log.put(report)
    service = await on.up()
    await until(lambda: service.checkers[0].size == 3)
    assert service.health()["open"] == 0


@pytest.mark.parametrize("point", ["after-read", "after-persist", "after-publish"])
async def test_killed_at_any_point_it_reports_once(stage: Open, tmp_path: Path, point: str) -> None:
    on = await stage("form")
    await on.begin()
    await on.log.flip("a", trace=URL)
    assert await run_until_end(on.node, "trace-checker", tmp_path, crash=f"trace-checker.{point}") == EXIT
    service = await on.up()
    await on.wait_for(("a", "ok"))
    await until(lambda: service.checkers[0].size == 2 and not service.checkers[0].unsent)
    assert service.health()["open"] == 0
    assert await on.reports() == [("a", "ok")]


async def test_after_the_broker_lost_its_disk_the_reports_are_published_again(
    stage: Open, world: World
) -> None:
    on = await stage("form")
    await on.up()
    await on.begin()
    await on.log.flip("a", trace=URL)
    await on.wait_for(("a", "ok"))
    await world.wipe_broker()
    await world.bus(on.node, "declare")
    await on.bus.append_many(on.subjects.log, on.log.messages, 0)
    await on.wait_for(("a", "ok"))
