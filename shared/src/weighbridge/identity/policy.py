"""Policies: who must cosign, as nested k of n.

A root's `policy` is {dids, quorum}: `quorum` of the members under `dids`, each of them a DID or such a group.
A group counts as one member once its own quorum is reached. Each DID stands in one place only, so that
nobody counts twice. What a policy is worth is `lint`'s to say; `parse_policy` refuses what means nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from weighbridge.contract import Problem
from weighbridge.identity import syntax
from weighbridge.limits import MAX_POLICY_DEPTH, MAX_POLICY_GROUPS, MAX_POLICY_MEMBERS


class Tally(msgspec.Struct, frozen=True):
    """How far one group of a policy got: `signed` of its `of` members, where `quorum` are needed."""

    path: str
    signed: int
    quorum: int
    of: int

    @property
    def reached(self) -> bool:
        """Whether the group's quorum is reached."""
        return self.signed >= self.quorum


class Policy(msgspec.Struct, frozen=True):
    """`quorum` of `dids`: DIDs and groups of such. Made by `parse_policy`."""

    dids: tuple[str | Policy, ...]
    quorum: int

    def members(self) -> tuple[str, ...]:
        """Return every DID of the policy, groups flattened, sorted, each once."""
        return tuple(sorted(set(self._flat())))

    def reached(self, signers: Collection[str]) -> bool:
        """Whether the quorum is reached when the DIDs of `signers` have cosigned."""
        return self._signed(signers) >= self.quorum

    def tallies(self, signers: Collection[str], path: str = "$.policy") -> tuple[Tally, ...]:
        """Return how far each group got, the outermost first: what is said where a quorum is not reached."""
        found = [Tally(path, self._signed(signers), self.quorum, len(self.dids))]
        for index, member in enumerate(self.dids):
            if isinstance(member, Policy):
                found.extend(member.tallies(signers, f"{path}.dids[{index}]"))
        return tuple(found)

    def others(self, lister: str) -> tuple[str, ...]:
        """Return the members other than the lister: the operators whose receipts make a roll timely."""
        return tuple(did for did in self.members() if did != lister)

    def majority_of_others(self, lister: str) -> int:
        """Return how many of the members other than the lister are a majority of them; 0 if none are."""
        count = len(self.others(lister))
        return count // 2 + 1 if count else 0

    def has_majority(self, signers: Collection[str], lister: str) -> bool:
        """Whether `signers` hold a majority of the members other than the lister; never if none are."""
        others = self.others(lister)
        return bool(others) and sum(did in signers for did in others) >= self.majority_of_others(lister)

    def value(self) -> dict[str, Any]:
        """Return the policy as a root's value has it."""
        return {
            "dids": [member if isinstance(member, str) else member.value() for member in self.dids],
            "quorum": self.quorum,
        }

    def _flat(self) -> Iterator[str]:
        for member in self.dids:
            if isinstance(member, str):
                yield member
            else:
                yield from member._flat()

    def _signed(self, signers: Collection[str]) -> int:
        return sum(
            member in signers if isinstance(member, str) else member.reached(signers) for member in self.dids
        )


class Remark(msgspec.Struct, frozen=True):
    """What the linter says of a policy: a code, where, a sentence. A `fatal` one refuses the policy."""

    code: str
    path: str
    says: str
    fatal: bool = False


def parse_policy(value: object, path: str = "$.policy") -> tuple[Policy | None, tuple[Problem, ...]]:
    """Return the policy that a value holds, or None and every problem at once, each with its path."""
    policy, remarks = lint(value, path)
    return policy, tuple(Problem(remark.path, remark.says) for remark in remarks if remark.fatal)


def lint(value: object, path: str = "$.policy") -> tuple[Policy | None, tuple[Remark, ...]]:
    """Return the policy that a value holds (None where a remark is fatal), and all there is to say of it."""
    walk = _Walk()
    policy = walk.group(value, path, 1)
    fatal = any(remark.fatal for remark in walk.remarks)
    return None if fatal else policy, tuple(walk.remarks)


def safe_quorum(members: int) -> int:
    """Return how many of n it takes that dishonest members cannot outvote the honest ones: 1 + floor(2n/3).

    For n = 1..10: 1 2 3 3 4 5 5 6 7 7. Only from n = 4 does that leave one to spare.
    """
    return 1 + 2 * members // 3


def quorum_remarks(quorum: int, members: int, path: str) -> Iterator[Remark]:
    """Yield what there is to say of `quorum` of `members`, if that is possible at all."""
    safe = safe_quorum(members)
    if (quorum, members) == (2, 3):
        yield Remark(
            "two-of-three",
            path,
            "2 of 3: one dishonest member can sign two histories, one with each of the others",
        )
    elif quorum < safe:
        yield Remark("low-quorum", path, f"{quorum} of {members}: against dishonest members it takes {safe}")
    if members < 4:
        yield Remark(
            "no-redundancy",
            path,
            f"of {members} members a safe quorum can spare none; it can from 4 members on",
        )


class _Walk:
    """One walk over a policy value: the remarks so far, and where each DID and each finished group stands."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []
        self.places: dict[str, str] = {}
        self.finished: dict[tuple[str, ...], str] = {}
        self.groups = 0

    def group(self, value: object, path: str, depth: int) -> Policy | None:
        if not isinstance(value, dict):
            self._fatal("not-a-policy", path, "a map of dids and quorum")
            return None
        self.groups += 1
        if depth > MAX_POLICY_DEPTH:
            self._fatal("too-deep", path, f"groups nest at most {MAX_POLICY_DEPTH} deep")
            return None
        if self.groups > MAX_POLICY_GROUPS:
            self._fatal("too-many-groups", path, f"a policy has at most {MAX_POLICY_GROUPS} groups")
            return None
        for key in sorted(value, key=str):
            if key not in ("dids", "quorum"):
                self._fatal("unknown-key", f"{path}.{key}", "a policy has dids and quorum, and nothing else")
        listed = value.get("dids")
        if not isinstance(listed, list) or not listed:
            self._fatal("no-members", f"{path}.dids", "a list of one DID or group, or more")
            return None
        members = tuple(self._member(one, f"{path}.dids[{index}]", depth) for index, one in enumerate(listed))
        quorum = self._quorum(value.get("quorum"), len(listed), path)
        if quorum is None:
            return None
        return Policy(tuple(member for member in members if member is not None), quorum)

    def _member(self, value: object, path: str, depth: int) -> str | Policy | None:
        if not isinstance(value, dict):
            return self._did(value, path)
        names = tuple(sorted(_dids_in(value)))
        earlier = self.finished.get(names) if names else None
        if earlier is not None:
            self._fatal("duplicate-group", path, f"the same DIDs are the group {earlier} already")
            return None
        group = self.group(value, path, depth + 1)
        self.finished[names] = path
        return group

    def _did(self, value: object, path: str) -> str | None:
        if not syntax.is_did(value):
            self._fatal("bad-did", path, "a DID, or a group of dids and quorum")
            return None
        did = str(value)
        if did in self.places:
            self._fatal("duplicate-member", path, f"{did} stands at {self.places[did]} already")
            return None
        if len(self.places) >= MAX_POLICY_MEMBERS:
            self._fatal("too-many-members", path, f"a policy has at most {MAX_POLICY_MEMBERS} DIDs")
            return None
        self.places[did] = path
        return did

    def _quorum(self, value: object, members: int, path: str) -> int | None:
        where = f"{path}.quorum"
        if type(value) is not int:
            self._fatal("bad-quorum", where, f"an integer from 1 to {members}")
            return None
        if not 1 <= value <= members:
            self._fatal(
                "impossible-quorum", where, f"{value} of {members} cannot be; from 1 to {members} can"
            )
            return None
        self.remarks.extend(quorum_remarks(value, members, where))
        return value

    def _fatal(self, code: str, path: str, says: str) -> None:
        self.remarks.append(Remark(code, path, says, fatal=True))


def _dids_in(value: object, depth: int = 1) -> Iterator[str]:
    """Yield the DIDs of a group that is not checked yet, as far down as groups may nest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and isinstance(listed := value.get("dids"), list):
        for one in listed if depth <= MAX_POLICY_DEPTH else ():
            yield from _dids_in(one, depth + 1)
