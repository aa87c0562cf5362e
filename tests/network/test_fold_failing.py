"""What a fold cannot run, must not sign, and does not go on from."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import coin
import pytest
from games import ANN, GAME, Season, config, cosign, publish, root_naming
from nodes import World, until
from running import Folding, folded, install_coin
from weighbridge import codec
from weighbridge.contract import RuleSet
from weighbridge.fold import Fold, MemoryHistory
from weighbridge.ledger import Ledger
from weighbridge.plugins import PinMismatch, pin
from weighbridge_services import metrics
from weighbridge_services.folding.rulesets import Running, begin
from weighbridge_services.folding.store import FoldStore
from weighbridge_services.node import Node

pytestmark = pytest.mark.anyio
OTHER_PIN = str(codec.cid_of("another pin"))


class Doubling(coin.Coin):
    """The next version of the coin game: it doubles every score it inherits."""

    def migrate(self, cells: Any) -> Any:
        return {
            key: {**cell, "score": 2 * cell["score"]} if key.startswith("purse/") else cell
            for key, cell in cells.items()
        }


class Both:
    """Rule sets of a node that has two versions of the coin game."""

    def __init__(self, *pins: str) -> None:
        own = str(pin(coin.RULES))
        self._known: dict[str, RuleSet] = {own: coin.RULES, OTHER_PIN: Doubling()}
        self._known = {each: self._known[each] for each in (pins or self._known)}
        self._own = own

    def first(self, root: Any) -> Running:
        return self.named(root, None, root.get("fold", {}).get("pin"))

    def named(self, root: Any, name: str | None, wanted: str | None) -> Running:
        chosen = wanted or self._own
        if chosen not in self._known:
            raise PinMismatch("another version is here")
        return Running(self._known[chosen], chosen)

    def asked(self, root: Any) -> str:
        return self._own

    def attachments(self, root: Any) -> dict[str, Any]:
        return {}


@pytest.fixture(autouse=True)
def coin_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install_coin(tmp_path)))


@pytest.fixture
async def alma(world: World) -> Node:
    node = world.make_node("alma", config=config("alma"))
    await world.start(node)
    return node


@pytest.fixture
async def folding(world: World, alma: Node) -> AsyncIterator[Folding]:
    made = Folding(world, alma)
    yield made
    await made.stop()


@pytest.mark.parametrize(
    ("fold", "code"),
    [
        pytest.param({"pin": OTHER_PIN}, "pin-mismatch", id="another pin"),
        pytest.param({"name": "chess"}, "plugin-unknown", id="another rule set"),
        pytest.param({"pin": "no CID"}, "pin-mismatch", id="a pin that is none"),
    ],
)
async def test_a_root_that_names_what_is_not_here_is_answered_with_cannot_run(
    folding: Folding, fold: dict[str, str], code: str
) -> None:
    season = Season(fold=root_naming(**fold)["fold"])
    season.note(ANN, "nobody folds this here")
    await folding.start()
    await publish(folding.bus, folding.node, season)
    await cosign(folding.bus, folding.node, season)
    said, reason, origin, size = await folding.verdict()
    assert (said, reason, size) == ("cannot-run", code, 0)
    assert fold.get("pin", "?") in origin
    assert code in folding.service.health()["unhealthy"][0]


async def test_a_game_that_moves_to_another_pin_goes_on_in_a_transcript_of_its_own(folding: Folding) -> None:
    season = Season()
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    season.now += 1
    season.root(root_naming(pin=OTHER_PIN))
    before = season.size
    season.note(ANN, "after the move")
    await folding.start(rulesets=Both())
    await publish(folding.bus, folding.node, season)
    await cosign(folding.bus, folding.node, season)
    said = (await folding.statement(season.size - before + 1)).statement
    assert said.origin.endswith(f"@{OTHER_PIN}+k1")
    found = await folding.ask("leaf", origin=said.origin, index=0)
    end = codec.decode(found["delta"])
    assert (end["size"], end["origin"]) == (before, f"{GAME}/coin@{pin(coin.RULES)}+k1")
    cell = codec.decode((await folding.ask("cell", key=f"purse/{ANN.did}"))["value"])
    assert cell["score"] == 2 * folded(season).table[f"purse/{ANN.did}"]["score"] > 0


async def test_after_a_restart_a_moved_game_goes_on_where_it_was(
    world: World, alma: Node, folding: Folding
) -> None:
    season = Season()
    season.now += 1
    season.root(root_naming(pin=OTHER_PIN))
    season.note(ANN, "one")
    first = await Folding(world, alma).start(rulesets=Both())
    done = await publish(first.bus, alma, season)
    await until(lambda: first.service.health()["folded"] == done)
    await first.stop()
    season.note(ANN, "two")
    await folding.start(rulesets=Both())
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    said = (await folding.statement(3)).statement
    assert said.origin.endswith(f"@{OTHER_PIN}+k1")
    assert said.entries == season.size


async def test_a_node_without_the_next_version_ends_the_transcript_and_goes_on_once_it_has_it(
    world: World, alma: Node, folding: Folding
) -> None:
    season = Season()
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    season.now += 1
    season.root(root_naming(pin=OTHER_PIN))
    moved = season.size
    season.note(ANN, "after")
    first = await Folding(world, alma).start(rulesets=Both(str(pin(coin.RULES))))
    done = await publish(first.bus, alma, season)
    said, reason, origin, size = await first.verdict()
    assert (said, reason, size) == ("cannot-run", "pin-mismatch", 1)
    assert OTHER_PIN in origin
    assert (await first.statements())[0].statement.says[-1] == "private chain"
    await first.stop()
    season.note(ANN, "installed at last")
    await folding.start(rulesets=Both(OTHER_PIN))
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    found = await folding.statement(season.size - moved + 1)
    assert found.statement.root == with_both(season).transcript.root()
    cell = codec.decode((await folding.ask("cell", key=f"purse/{ANN.did}"))["value"])
    assert cell["score"] == 2 * folded(season).table[f"purse/{ANN.did}"]["score"] > 0


def with_both(season: Season) -> Fold:
    """A season folded where both versions of the game are."""
    history = MemoryHistory()
    fold = begin(GAME, {}, Both(), history)
    for listed in season.entries:
        history.append(listed)
        fold.fold(listed)
    return fold


async def fail(folding: Folding) -> str:
    await until(lambda: folding.bus.failure is not None)
    assert folding.bus.failure is not None
    return str(getattr(folding.bus.failure, "code", ""))


async def test_another_log_than_before_stops_the_service(world: World, alma: Node, folding: Folding) -> None:
    season = Season()
    season.note(ANN, "one")
    first = await Folding(world, alma).start()
    await publish(first.bus, alma, season)
    await until(lambda: first.service.health()["folded"] == season.size)
    await first.stop()
    with Ledger.open(alma.folder / "ledger" / "fold.db") as ledger:
        FoldStore(ledger, GAME).set_number("read", 0)
    await world.stop()
    world.buses.clear()
    _wipe(alma)
    await world.start(alma)
    other = Season()
    other.note(ANN, "another one")
    await folding.start()
    await publish(folding.bus, alma, other)
    assert await fail(folding) == "log-differs"


def _wipe(node: Node) -> None:
    shutil.rmtree(node.folder / "broker")


async def test_what_is_no_entry_in_the_nodes_own_log_stops_the_service(folding: Folding) -> None:
    await folding.start()
    await folding.bus.append(folding.subjects.log, codec.encode({"entry": b"nonsense", "record": None}), 0)
    assert await fail(folding) == "own-log-malformed"


async def test_another_transcript_in_the_nodes_own_stream_stops_the_service(folding: Folding) -> None:
    season = Season()
    season.note(ANN, "one")
    bus = await folding.world.bus(folding.node, "somebody")
    message = {"origin": folded(season).origin, "from": 0, "leaves": [bytes(72)], "deltas": [b"\x80"]}
    await bus.append(folding.subjects.transcript, codec.encode(message), 0)
    await folding.start()
    await publish(folding.bus, folding.node, season)
    assert await fail(folding) == "transcript-differs"


class Forgetful(coin.Coin):
    """A rule set that has changed although its pin has not."""

    def apply(self, table: Any, docket: Any, ctx: Any) -> None:
        """Do nothing."""


class Changed(Both):
    """Rule sets that give another one under the pin of before."""

    def __init__(self) -> None:
        super().__init__()
        self._known = dict.fromkeys(self._known, Forgetful())


async def test_a_rule_set_that_changed_under_its_pin_is_noticed_at_the_next_start(
    world: World, alma: Node, folding: Folding
) -> None:
    season = Season()
    season.note(ANN, "one")
    first = await Folding(world, alma).start()
    await publish(first.bus, alma, season)
    await until(lambda: first.service.health()["folded"] == season.size)
    await first.stop()
    with Ledger.open(alma.folder / "ledger" / "fold.db") as ledger:
        store = FoldStore(ledger, GAME)
        for size in store.snapshot_sizes(season.size):
            store.snapshots.drop(size)
    await folding.start(rulesets=Changed())
    assert await fail(folding) == "refold-differs"


async def test_a_damaged_snapshot_costs_a_longer_start_and_nothing_else(
    world: World, alma: Node, folding: Folding
) -> None:
    season = Season()
    for number in range(5):
        season.note(ANN, f"note {number}")
    first = await Folding(world, alma).start()
    done = await publish(first.bus, alma, season)
    await until(lambda: first.service.health()["folded"] == done)
    await first.stop()
    with Ledger.open(alma.folder / "ledger" / "fold.db") as ledger:
        store = FoldStore(ledger, GAME)
        cells = store.snapshots.load(done) or {}
        store.snapshots.save(
            done - 1, {**cells, "note/x": codec.encode({"text": "never said", "op": "create"})}
        )
        store.snapshots.drop(done)
    season.note(ANN, "after that")
    await folding.start()
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    assert (await folding.statement(season.size)).statement.root == folded(season).transcript.root()


async def test_a_key_that_has_signed_another_root_signs_no_more(
    world: World, alma: Node, folding: Folding
) -> None:
    season = Season()
    for call in ("heads", "tails"):
        season.flip(ANN, call)
    done = season.size
    first = await Folding(world, alma).start(rulesets=Wrong())
    await publish(first.bus, alma, season)
    await cosign(first.bus, alma, season)
    await first.statement(done)
    await first.stop()
    (alma.folder / "ledger" / "fold.db").unlink()
    await world.stop()
    world.buses.clear()
    _wipe_transcript_only(alma)
    await world.start(alma)
    season.note(ANN, "now it is folded as it should be")
    await folding.start()
    await publish(folding.bus, alma, season, done)
    await cosign(folding.bus, alma, season)
    await until(lambda: folding.service.health().get("unhealthy"))
    assert folding.service.health()["unhealthy"][0].startswith("own-root-differs")
    assert [said.statement.size for said in await folding.statements()] == [done]


class Wrong(Both):
    """Rule sets that compute something else under the pin of the right one."""

    def __init__(self) -> None:
        super().__init__()
        self._known = dict.fromkeys(self._known, Forgetful())


def _wipe_transcript_only(node: Node) -> None:
    for path in (node.folder / "broker").rglob("*_TRANSCRIPT"):
        shutil.rmtree(path)


class Failing(coin.Coin):
    """A rule set with a bug that one note brings out."""

    def apply(self, table: Any, docket: Any, ctx: Any) -> None:
        if docket.value.get("text") == "boom":
            raise ZeroDivisionError("a bug")
        super().apply(table, docket, ctx)


class Buggy(Both):
    """Rule sets with a bug, under the pin of the right one."""

    def __init__(self) -> None:
        super().__init__()
        self._known = dict.fromkeys(self._known, Failing())


async def test_a_rule_set_that_fails_is_told_to_the_operator_and_the_game_goes_on(
    folding: Folding, capsys: pytest.CaptureFixture[str]
) -> None:
    season = Season()
    uri = season.note(ANN, "boom")
    season.note(ANN, "goes on")
    before = metrics.RULE_FAULTS.labels(GAME)._value.get()
    await folding.start(rulesets=Buggy())
    await publish(folding.bus, folding.node, season)
    await cosign(folding.bus, folding.node, season)
    await folding.statement(season.size)
    assert metrics.RULE_FAULTS.labels(GAME)._value.get() == before + 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    told = await folding.ask("me", did=ANN.did)
    assert next(iter(told["reports"].values())).keys() == {"rule-fault"}
    assert uri.endswith(next(iter(told["reports"])).rpartition(":")[2])
