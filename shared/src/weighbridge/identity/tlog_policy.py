"""C2SP tlog-policy files: logs, witnesses, groups of k of n, and the quorum, as text.

    log <vkey> [<url>]
    witness <name> <vkey> [<url>]
    group <name> all|any|<k> <name>...
    quorum <name>|none

Lines end with a newline, words are parted by spaces and tabs, empty lines and lines that begin with # say
nothing. A group and the quorum name only what stands above them. A file is octets: what is no UTF-8 is kept
as it is. Logs have keys of type 0x01, witnesses of type 0x04.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import ClassVar

import msgspec

from weighbridge.errors import Refused
from weighbridge.identity.policy import Policy, Remark, quorum_remarks
from weighbridge.identity.vkeys import COSIGNATURE, SIGNATURE, VerifierKey, parse_vkey
from weighbridge.limits import MAX_POLICY_GROUPS, MAX_POLICY_MEMBERS, MAX_POLICY_TEXT

NONE = "none"

_WORDS = re.compile(r"[^ \t]+")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


class BadPolicyText(Refused):
    """The octets are no tlog-policy file; `detail["line"]` is the line (from 1) that breaks a rule."""

    code: ClassVar[str] = "bad-policy-text"


class NoWitnessKey(Refused):
    """A DID of a policy has no key to be written as a witness."""

    code: ClassVar[str] = "no-witness-key"


class LogLine(msgspec.Struct, frozen=True):
    """A log whose checkpoints are accepted."""

    key: VerifierKey
    url: str | None = None


class WitnessLine(msgspec.Struct, frozen=True):
    """A witness by its name in this policy."""

    name: str
    key: VerifierKey
    url: str | None = None


class GroupLine(msgspec.Struct, frozen=True):
    """A group: `quorum` of its members, each a witness or a group named above it."""

    name: str
    quorum: int
    members: tuple[str, ...]


class TlogPolicy(msgspec.Struct, frozen=True):
    """A policy file. `quorum` names a witness or a group, or is `none`."""

    logs: tuple[LogLine, ...]
    witnesses: tuple[WitnessLine, ...]
    groups: tuple[GroupLine, ...]
    quorum: str

    def reached(self, keys: Collection[VerifierKey]) -> bool:
        """Whether the quorum is reached when the witnesses of these keys have cosigned."""
        have = {witness.name for witness in self.witnesses if witness.key in keys}
        for group in self.groups:
            if sum(name in have for name in group.members) >= group.quorum:
                have.add(group.name)
        return self.quorum == NONE or self.quorum in have

    def render(self) -> bytes:
        """Return the policy as a file, in one form: logs, witnesses, groups, quorum; the shortest words."""
        lines = [_line("log", log.key, log.url) for log in self.logs]
        lines += [_line("witness", witness.name, witness.key, witness.url) for witness in self.witnesses]
        lines += [_line("group", group.name, _threshold(group), *group.members) for group in self.groups]
        lines.append(_line("quorum", self.quorum))
        return "".join(lines).encode("utf-8", "surrogateescape")


def parse_policy_text(data: bytes) -> TlogPolicy:
    """Return the policy that a file holds. Raises BadPolicyText."""
    if len(data) > MAX_POLICY_TEXT:
        raise BadPolicyText(f"a policy file has at most {MAX_POLICY_TEXT} bytes, not {len(data)}")
    if (octet := _FORBIDDEN.search(data)) is not None:
        raise BadPolicyText(
            f"a policy file has no control character 0x{octet[0].hex()}", offset=octet.start()
        )
    if not data.endswith(b"\n"):
        raise BadPolicyText("each line of a policy file ends with a newline, the last one too")
    reader = _Reader()
    for number, line in enumerate(data[:-1].decode("utf-8", "surrogateescape").split("\n"), start=1):
        words = _WORDS.findall(line)
        if words and not words[0].startswith("#"):
            reader.read(number, words)
    return reader.policy()


def tlog_policy(
    policy: Policy, keys: Mapping[str, VerifierKey], logs: Collection[VerifierKey] = ()
) -> TlogPolicy:
    """Return a root's policy as a tlog-policy, witnesses named by their DIDs and `keys` their cosigner keys.

    Groups are named `g<number>`, the outermost last: the quorum. Raises NoWitnessKey.
    """
    groups: list[GroupLine] = []

    def name_of(member: str | Policy) -> str:
        if isinstance(member, str):
            return member
        names = tuple(name_of(one) for one in member.dids)
        groups.append(GroupLine(f"g{len(groups) + 1}", member.quorum, names))
        return groups[-1].name

    quorum = name_of(policy)
    missing = [did for did in policy.members() if did not in keys]
    if missing:
        raise NoWitnessKey(f"no cosigner key is known of {', '.join(missing)}", dids=missing)
    witnesses = tuple(WitnessLine(did, keys[did]) for did in policy.members())
    return TlogPolicy(tuple(LogLine(key) for key in logs), witnesses, tuple(groups), quorum)


def lint_tlog_policy(policy: TlogPolicy) -> tuple[Remark, ...]:
    """Return what there is to say of a policy file; the path is the line, as `group <name>`."""
    remarks = [
        remark
        for group in policy.groups
        for remark in quorum_remarks(group.quorum, len(group.members), f"group {group.name}")
    ]
    if policy.quorum == NONE:
        remarks.append(
            Remark("no-quorum", "quorum none", "no cosignature is asked for: the log is trusted alone")
        )
    counted = _counted(policy)
    for witness in policy.witnesses:
        if witness.name not in counted:
            remarks.append(
                Remark(
                    "unused-witness", f"witness {witness.name}", "its cosignature counts towards no quorum"
                )
            )
    return tuple(remarks)


def _counted(policy: TlogPolicy) -> frozenset[str]:
    counted = {policy.quorum}
    for group in reversed(policy.groups):  # a group stands below its members
        if group.name in counted:
            counted.update(group.members)
    return frozenset(counted)


def _threshold(group: GroupLine) -> str:
    if group.quorum == len(group.members):
        return "all"
    return "any" if group.quorum == 1 else str(group.quorum)


def _line(*words: object) -> str:
    return " ".join(str(word) for word in words if word is not None) + "\n"


class _Reader:
    """What the lines read so far define."""

    def __init__(self) -> None:
        self.logs: list[LogLine] = []
        self.witnesses: list[WitnessLine] = []
        self.groups: list[GroupLine] = []
        self.quorum: str | None = None
        self.names: set[str] = set()
        self.grouped: set[str] = set()
        self.number = 0

    def read(self, number: int, words: list[str]) -> None:
        self.number = number
        match words:
            case ["log", vkey, *url] if len(url) <= 1:
                self._log(vkey, *url)
            case ["witness", name, vkey, *url] if len(url) <= 1:
                self._witness(name, vkey, *url)
            case ["group", name, threshold, *members] if members:
                self._group(name, threshold, members)
            case ["quorum", name]:
                self._quorum(name)
            case _:
                raise self._bad(f"no line of a policy has this form: {' '.join(words)[:80]!r}")

    def policy(self) -> TlogPolicy:
        if self.quorum is None:
            raise BadPolicyText("a policy has one quorum line, and this has none")
        return TlogPolicy(tuple(self.logs), tuple(self.witnesses), tuple(self.groups), self.quorum)

    def _log(self, vkey: str, url: str | None = None) -> None:
        key = self._key(vkey, SIGNATURE, [log.key for log in self.logs])
        self.logs.append(LogLine(key, url))

    def _witness(self, name: str, vkey: str, url: str | None = None) -> None:
        self._define(name)
        key = self._key(vkey, COSIGNATURE, [witness.key for witness in self.witnesses])
        self.witnesses.append(WitnessLine(name, key, url))

    def _group(self, name: str, threshold: str, members: list[str]) -> None:
        if len(self.groups) >= MAX_POLICY_GROUPS:
            raise self._bad(f"a policy has at most {MAX_POLICY_GROUPS} groups")
        for member in members:
            self._known(member)
            if member in self.grouped:
                raise self._bad(f"{member!r} is a member of a group already")
            self.grouped.add(member)
        quorum = {"all": len(members), "any": 1}.get(threshold)
        if quorum is None:
            quorum = int(threshold) if _NUMBER.fullmatch(threshold) else 0
        if not 1 <= quorum <= len(members):
            raise self._bad(f"{threshold!r} of {len(members)} cannot be: all, any or 1 to {len(members)} can")
        self._define(name)
        self.groups.append(GroupLine(name, quorum, tuple(members)))

    def _quorum(self, name: str) -> None:
        if self.quorum is not None:
            raise self._bad("a policy has one quorum line")
        if name != NONE:
            self._known(name)
        self.quorum = name

    def _define(self, name: str) -> None:
        if name == NONE or name in self.names:
            raise self._bad(f"the name {name!r} is taken")
        self.names.add(name)

    def _known(self, name: str) -> None:
        if name not in self.names:
            raise self._bad(f"no witness or group {name!r} stands above this line")

    def _key(self, vkey: str, type: int, earlier: list[VerifierKey]) -> VerifierKey:
        if len(earlier) >= MAX_POLICY_MEMBERS:
            raise self._bad(f"a policy has at most {MAX_POLICY_MEMBERS} logs and as many witnesses")
        try:
            key = parse_vkey(vkey, type)
        except Refused as refused:
            raise self._bad(refused.message) from refused
        if any(key.public == one.public for one in earlier):
            raise self._bad(f"the key of {key.name} is listed already")
        return key

    def _bad(self, says: str) -> BadPolicyText:
        return BadPolicyText(f"line {self.number}: {says}", line=self.number)
