"""Steps to log entries: the root first, then one entry for each step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.codec import encode
from weighbridge.log.entries import Listed, Op, make_entry
from weighbridge.scenario import steps as s
from weighbridge.scenario.mentions import account, did_of
from weighbridge.scenario.records import Place, Records

EVIDENCE = "network.weighbridge.scenario"
"""The collection of what a scenario states outright: only a fold that is told so accepts it."""

# No account of a file can have this name: theirs hold no space.
_RUNNER = account("the runner")


class Listing:
    """Lists a scenario: `entries` yields them in order, the root's first."""

    def __init__(self, scenario: s.Scenario, records: Records) -> None:
        self._scenario = scenario
        self._records = records
        self._last: Listed | None = None
        self._deleted: set[str] = set()
        # A receipt step that names a record, an empty one too, decides about its time, and no dice step.
        self._decided = {step.name for step in scenario.steps if isinstance(step, s.Received)}

    def entries(self) -> Iterator[Listed]:
        """Yield the root's entry and then one for each step. Raises `ScenarioWrong`."""
        root = self._records.encoded(self._scenario.root, "$.root", is_root=True)
        yield self._list(self._scenario.steps[0].at, "create", self._records.root, root)
        for at, step in enumerate(self._scenario.steps):
            yield self._step(at, step)

    def _step(self, at: int, step: s.Step) -> Listed:
        path = f"$.steps[{at}].value"
        match step:
            case s.Put():
                return self._list(
                    step.at, "create", self._records.puts[at], self._records.encoded(step.value, path)
                )
            case s.Update():
                op: Op = "create" if step.name in self._deleted else "update"
                self._deleted.discard(step.name)
                data = self._records.encoded(step.value, path, is_root=step.name == "root")
                return self._list(step.at, op, self._records.places[step.name], data)
            case s.Delete():
                self._deleted.add(step.name)
                return self._list(step.at, "delete", self._records.places[step.name])
            case s.Tick():
                return self._list(step.at, "tick")
        return self._evidence(at, step)

    def _evidence(self, at: int, step: s.Step) -> Listed:
        facts: dict[str, Any]
        match step:
            case s.Traced():
                facts = {"kind": "trace", "verdict": step.verdict, "dated": step.dated}
            case s.Rolled():
                timely = step.name not in self._decided
                facts = {"kind": "dice", "values": list(step.values), "timely": timely}
            case s.Beaconed():
                timely = step.name not in self._decided
                facts = {
                    "kind": "beacon",
                    "round": step.round,
                    "signature": step.signature,
                    "timely": timely,
                }
            case s.Received():
                operators = [did_of(operator) for operator in step.operators]
                facts = {"kind": "receipt", "operators": operators, "at": step.at}
            case _:
                raise AssertionError(step)
        facts |= {"game": self._records.game, "subject": self._records.places[step.name].uri}
        record = encode({name: value for name, value in facts.items() if value is not None})
        return self._list(step.at, "create", Place(_RUNNER, EVIDENCE, f"step.{at + 1}"), record)

    def _list(self, at: int, op: Op, place: Place | None = None, record: bytes | None = None) -> Listed:
        uri, author = (place.uri, place.author) if place is not None else (None, None)
        self._last = make_entry(
            self._last, game=self._records.game, at=at, op=op, uri=uri, author=author, record=record
        )
        return self._last
