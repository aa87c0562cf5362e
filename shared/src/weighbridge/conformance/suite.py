"""The tests that every rule set's own test class inherits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Protocol

from weighbridge.conformance import folding, games, processes
from weighbridge.conformance.source import check_files
from weighbridge.contract import Attachment, RuleSet
from weighbridge.lexicon import load as load_lexicon
from weighbridge.scenario import differences, load, run


class Metafunc(Protocol):
    """What pytest hands to `pytest_generate_tests`, as far as it is used here."""

    fixturenames: list[str]

    def parametrize(self, argnames: str, argvalues: Iterable[Any], *, ids: Any = None) -> None:
        """Make one test of each value."""
        ...


class RuleSetConformance:
    """Subclass this with `rules` set, under a name that begins with `Test`; pytest does the rest.

    `rules`: the rule set, the instance that the entry point names. `scenarios`: a folder of scenario files,
    or None. `seeds`: the games to generate. `attachments`: rule sets attached to it in the scenario files.
    """

    rules: ClassVar[RuleSet]
    scenarios: ClassVar[Path | None] = None
    seeds: ClassVar[Iterable[int]] = range(12)
    attachments: ClassVar[Mapping[str, Attachment]] = {}

    def pytest_generate_tests(self, metafunc: Metafunc) -> None:
        """Make a test of each scenario file, and one of each seed."""
        if "scenario_file" in metafunc.fixturenames:
            files = sorted(self.scenarios.glob("**/*.json")) if self.scenarios is not None else []
            metafunc.parametrize("scenario_file", files, ids=[path.stem for path in files])
        if "seed" in metafunc.fixturenames:
            metafunc.parametrize("seed", list(self.seeds))

    # --- what it declares --------------------------------------------------------------------------------

    def test_its_source_keeps_to_what_is_the_same_everywhere(self) -> None:
        """No import, builtin, float, set order or Unicode table that could make two nodes differ."""
        files, package = source_of(self.rules)
        none_of(check_files(files, package, self.rules.third_party))

    def test_its_collections_are_lexicons(self) -> None:
        """Each collection's document is well-formed, and its own; the root's is among them."""
        names = {nsid: load_lexicon(document).id for nsid, document in self.rules.collections.items()}
        none_of(f"{nsid}: its Lexicon's id is {name}" for nsid, name in names.items() if nsid != name)
        declared = sorted({self.rules.root, *self.rules.versions} - names.keys())
        none_of(f"{nsid}: declared, and no collection" for nsid in declared)

    # --- how it folds ------------------------------------------------------------------------------------

    def test_a_scenario_holds(self, scenario_file: Path) -> None:
        """Every scenario file of the rule set comes out as it says."""
        scenario = load(scenario_file.read_bytes())
        result = run(scenario, self.rules, attachments=self.attachments)
        none_of(differences(result, scenario.expect))

    def test_two_processes_come_to_the_same(self) -> None:
        """Hash seed, time zone, locale, directory (and Python) have no say."""
        first, stop = min(self.seeds), max(self.seeds) + 1
        here = [f"{seed} {folding.summary(games.generated(self.rules, seed))}" for seed in range(first, stop)]
        for name, printed in processes.everywhere(processes.place_of(self.rules), first, stop).items():
            pairs = zip_longest(here, printed.splitlines(), fillvalue="nothing")
            none_of(f"here {one}, with {name} {other}" for one, other in pairs if one != other)

    def test_a_generated_game_is_folded_without_a_fault(self, seed: int) -> None:
        """The rule set raises nothing in its own games, and can show how they end."""
        game = games.generated(self.rules, seed)
        none_of(folding.alerts(game))
        fold = game.fold()
        for listed in game.entries:
            fold.fold(listed)
        if not self.rules.view(fold.table).title:
            none_of(["the view has no title"])

    def test_restoring_before_any_entry_changes_nothing(self, seed: int) -> None:
        """A fold that goes on from a snapshot writes the same transcript: nothing is remembered but cells."""
        game = games.generated(self.rules, seed)
        straight = folding.leaves(game)
        none_of(
            f"entry {at}: another delta after a restore"
            for at, leaf in folding.restored(game)
            if leaf != straight[at]
        )

    def test_strikes_come_to_what_the_plain_definition_says(self, seed: int) -> None:
        """After every entry the table is the plain fold in which what is void was so from its listing on."""
        document = self.rules.generate(Random(seed))
        game = games.struck(games.Game(self.rules, document), document, seed)
        none_of(f"entry {at}: {', '.join(keys)}" for at, keys in folding.differing_from_plain(game))

    def test_spoiled_records_raise_nothing(self, seed: int) -> None:
        """Whatever stands in a record costs its author a report, and the rule set no exception."""
        document = self.rules.generate(Random(seed))
        for each in (games.spoiled(document, seed), games.junk_records(self.rules, seed)):
            none_of(folding.alerts(games.Game(self.rules, each)))


def none_of(found: Iterable[object]) -> None:
    """Fail with everything that was found, one line each."""
    lines = [str(each) for each in found]
    if lines:
        # pytest shows the two sides of an assert in test files alone, and this is none.
        raise AssertionError("\n".join(("", *lines)))


def source_of(ruleset: RuleSet) -> tuple[list[Path], str]:
    """Return the files of a rule set's import package, and its name."""
    module = sys.modules[type(ruleset).__module__]
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    if top.__file__ is None or not hasattr(top, "__path__"):
        # No package of its own: a module alone.
        return [Path(module.__file__ or "")], module.__name__
    return sorted(Path(top.__file__).parent.rglob("*.py")), top.__name__
