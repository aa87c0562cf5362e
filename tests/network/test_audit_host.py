"""Audits see every folded entry, publish what they find, and harm nobody when they die."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from games import ANN, Season, config, cosign, install, publish
from nodes import World, until, until_async
from running import Folding, die_at, environment, install_coin, records
from weighbridge.identity import open_envelope
from weighbridge_services.audit_host.app import Service
from weighbridge_services.node import Node

pytestmark = pytest.mark.anyio


class Audited:
    """A node with a fold and an audit host."""

    def __init__(self, world: World, node: Node, folding: Folding) -> None:
        self.world, self.node, self.folding = world, node, folding

    async def start(self) -> Audited:
        self.bus = await self.world.bus(self.node, "audit-host")
        self.service = Service(self.node, self.bus, self.node.clock())
        await self.service.start()
        return self

    async def stop(self) -> None:
        await self.bus.quiet()
        await self.service.stop()

    async def findings(self) -> list[dict[str, Any]]:
        return [open_envelope(data).value for data in await records(self.bus, self.node, "finding")]

    async def found(self, count: int) -> list[dict[str, Any]]:
        async def there() -> list[dict[str, Any]]:
            found = await self.findings()
            return found if len(found) >= count else []

        return await until_async(there, what=f"{count} findings")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = install_coin(tmp_path)
    for name, target in (("counting", "Counting"), ("dying", "Dying"), ("nosy", "Nosy"), ("nothing", "NONE")):
        install(found, "weighbridge.audits", name, f"audits:{target}")
    monkeypatch.syspath_prepend(str(found))
    monkeypatch.setenv("PYTHONPATH", environment(found)["PYTHONPATH"])
    return found


@pytest.fixture
async def audited(world: World, site: Path, request: pytest.FixtureRequest) -> AsyncIterator[Audited]:
    node = world.make_node("alma", config=config("alma", audits=request.param))
    await world.start(node)
    folding = await Folding(world, node).start()
    made = await Audited(world, node, folding).start()
    yield made
    await made.stop()
    await folding.stop()


def notes(count: int) -> Season:
    season = Season()
    for number in range(count):
        season.note(ANN, f"note {number}")
    return season


@pytest.mark.parametrize("audited", [["counting"]], indirect=True)
async def test_an_audit_sees_every_entry_in_order_and_its_findings_are_signed(audited: Audited) -> None:
    season = notes(200)
    done = await publish(audited.folding.bus, audited.node, season)
    found = await audited.found(200)
    assert [each["says"] for each in sorted(found, key=lambda each: each["seq"])] == [
        f"note {number} is the {number + 2}. entry" for number in range(200)
    ]
    assert {each["audit"] for each in found} == {"counting"}
    season.note(ANN, "live")
    await publish(audited.folding.bus, audited.node, season, done)
    assert (await audited.found(201))[-1]["says"] == "live is the 202. entry"


@pytest.mark.parametrize("audited", [["dying", "counting"]], indirect=True)
async def test_an_audit_that_dies_is_started_again_and_others_are_unharmed(audited: Audited) -> None:
    season = notes(5)
    await publish(audited.folding.bus, audited.node, season)
    await cosign(audited.folding.bus, audited.node, season)
    await audited.found(5)
    dying = audited.service.watched[0]
    await until(lambda: dying.crashes >= 2)
    assert audited.service.watched[1].crashes == 0
    assert "unhealthy" not in audited.service.health()
    await audited.folding.statement(season.size)


@pytest.mark.parametrize("audited", [["counting"]], indirect=True)
async def test_a_killed_audit_starts_over_and_finds_nothing_twice(audited: Audited) -> None:
    await publish(audited.folding.bus, audited.node, notes(5))
    await audited.found(5)
    (counting,) = audited.service.watched
    assert counting.pid is not None
    os.kill(counting.pid, signal.SIGKILL)
    await until(lambda: counting.crashes == 1 and counting.seen == 6)
    assert len(await audited.findings()) == 5


@pytest.mark.parametrize("point", ["after-find", "after-persist", "after-publish"])
@pytest.mark.parametrize("audited", [["counting"]], indirect=True)
async def test_a_host_killed_at_any_point_publishes_every_finding_once(
    audited: Audited, site: Path, point: str
) -> None:
    await audited.stop()
    await publish(audited.folding.bus, audited.node, notes(5))
    await die_at(audited.node, site, f"audit-host.{point}")
    await audited.start()
    await audited.found(5)
    (counting,) = audited.service.watched
    await until(lambda: counting.seen == 6)
    assert sorted(each["says"] for each in await audited.findings()) == [
        f"note {number} is the {number + 2}. entry" for number in range(5)
    ]


@pytest.mark.parametrize("audited", [["counting"]], indirect=True)
async def test_after_the_broker_lost_its_disk_the_findings_are_published_again(
    audited: Audited, world: World
) -> None:
    await publish(audited.folding.bus, audited.node, notes(5))
    await audited.found(5)
    await world.wipe_broker()
    await world.bus(audited.node, "declare")
    assert len(await audited.found(5)) == 5
    assert audited.service.watched[0].crashes == 0


@pytest.mark.parametrize("audited", [["nosy"]], indirect=True)
async def test_an_audit_gets_no_secret_of_the_environment(audited: Audited, site: Path) -> None:
    await publish(audited.folding.bus, audited.node, notes(0))
    (found,) = await audited.found(1)
    assert set(found["says"].split()) <= {
        "PATH",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "LANG",
        "LC_ALL",
        "TZ",
        "LC_CTYPE",
    }


@pytest.mark.parametrize(
    "audited", [["nothing"], ["absent"]], ids=["no audit", "not installed"], indirect=True
)
async def test_an_audit_that_cannot_be_loaded_is_a_complaint_and_no_more(audited: Audited) -> None:
    """`audit-broken` and `plugin-unknown`, as its process says on standard error."""
    await until(lambda: audited.service.health().get("unhealthy"))
    await publish(audited.folding.bus, audited.node, notes(1))
    await until(lambda: audited.folding.service.health()["folded"] == 2)
