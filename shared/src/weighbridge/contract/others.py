"""Attachments and audits: what may join a game that another rule set owns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from weighbridge.contract.declared import Effect, Event, Problem
from weighbridge.contract.given import Context, Table
from weighbridge.contract.values import Frozen


class Attachment:
    """The base class of a rule set attached to a game that another one owns (root `fold.with`).

    It sees the owner's events and answers with effects; its own cells stand under keys of its own. Neither
    imports the other: the owner's `vocabulary` is checked against what the attachment is given.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    third_party: ClassVar[tuple[str, ...]] = ()
    collections: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    codes: ClassVar[tuple[str, ...]] = ()
    """The report codes it may use, beside the kernel's and the owner's."""

    def attach(
        self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any
    ) -> tuple[Problem, ...]:
        """Check the settings of `fold.with`, and the record they name by CID, against the owner's vocabulary."""
        return ()

    def prepare(self, settings: Mapping[str, Any], vocabulary: Mapping[str, Any], record: Any) -> Any:
        """Return what `handle` is given as `record`: by default the record that the settings name, as it is.

        A function of its arguments alone, called once for a root that is in force: what is costly to read is
        read here.
        """
        return record

    def handle(
        self, table: Table, event: Event, settings: Mapping[str, Any], record: Any, ctx: Context
    ) -> Sequence[Effect]:
        """Return the effects of one event. What they raise comes back as further events, `ctx.step` deep."""
        raise NotImplementedError


class Finding(Frozen, frozen=True):
    """What an audit has found: a code, the at-uri or cell it is about, and a sentence."""

    code: str
    about: str
    says: str


class Audit(Protocol):
    """A third party's plugin that reads everything and publishes signed findings."""

    name: str

    def observe(
        self, entry: Mapping[str, Any], value: Any, delta: Sequence[tuple[str, Any]]
    ) -> Iterable[Finding]:
        """Look at one folded entry: the entry, its record and the changed cells with their values."""
        ...
