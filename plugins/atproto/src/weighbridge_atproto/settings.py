"""The settings of the sources, checked whole before anything is asked of anybody."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from weighbridge.ports import NOT_THE_SOURCES, Refused, settings_of
from weighbridge.repos import is_did, is_nsid, parse_record_uri

from weighbridge_atproto.documents import host_address
from weighbridge_atproto.guarded import check_url
from weighbridge_atproto.resolving import DIRECTORY
from weighbridge_atproto.watching import Watched

EVERY: Final = 600.0
"""Seconds between two askings of an index."""


class BadSettings(Refused):
    """A source cannot be opened with these settings."""

    code = "atproto-settings"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a source is told, beside what is the node's own of its table.

    `game`: at-uri of the root. `collections`: what is watched. `host`: address of the stream's host, `relay`
    whether it serves the repositories of others; `hosts`: of several, one stream each. `index`: whom to ask, every
    so many seconds (`every`), who else has records of the collections. `repos`: DIDs to fetch at the start. `file`
    and `document`: a CAR and a DID document instead of fetching them. `directory`: the PLC directory.
    `development`: ask this machine's own addresses too.
    """

    game: str
    collections: tuple[str, ...] = ()
    host: str = ""
    relay: bool = False
    hosts: tuple[str, ...] = ()
    index: str = ""
    every: float = EVERY
    repos: tuple[str, ...] = ()
    file: str = ""
    document: str = ""
    directory: str = DIRECTORY
    development: bool = False

    @property
    def watched(self) -> Watched:
        """What of all repositories is of the game."""
        return Watched(self.game, self.collections)

    @property
    def all_hosts(self) -> tuple[str, ...]:
        """The hosts whose streams are read from the start."""
        return (self.host, *self.hosts) if self.host else self.hosts

    def of_host(self, host: str, relay: bool) -> Settings:
        """Return the settings of one host's stream among several."""
        return msgspec.structs.replace(self, host=host, relay=relay, hosts=(), index="", repos=())


def read_settings(given: Mapping[str, Any], *needed: str) -> Settings:
    """Return checked settings, of which some must be there. Raises BadSettings, also for a name that is none."""
    own = {name: value for name, value in given.items() if name not in NOT_THE_SOURCES}
    settings = settings_of(own, Settings, "games.source", BadSettings)
    try:
        parse_record_uri(settings.game)
    except Refused as error:
        raise BadSettings(f"the source's settings: {error}") from error
    for name in needed:
        if not getattr(settings, name):
            raise BadSettings(f"the source needs the setting `{name}`", setting=name)
    if settings.every < 1:
        raise BadSettings("`every` is at least one second", setting="every")
    for did in settings.repos:
        if not is_did(did):
            raise BadSettings(f"{did!r:.200} among `repos` is no DID", setting="repos")
    for each in settings.collections:
        if not is_nsid(each[:-2] + ".x" if each.endswith(".*") else each):
            raise BadSettings(f"{each!r:.200} among `collections` is no NSID", setting="collections")
    _check_addresses(settings)
    if settings.development:
        print(
            "weighbridge: DEVELOPMENT: this source asks loopback addresses, over http too; never do so where others"
            " name the hosts",
            file=sys.stderr,
        )
    return settings


def _check_addresses(settings: Settings) -> None:
    """Check that what is to be asked can be: else it is asked in vain for ever."""
    hosts = [("host", settings.host), *(("hosts", each) for each in settings.hosts)]
    for name, url in [*hosts, ("index", settings.index), ("directory", settings.directory)]:
        try:
            if url:
                check_url(url, settings.development)
            if url and name.startswith("host"):
                host_address(url)
        except Refused as error:
            raise BadSettings(
                f"`{name}` is no https:// address of a host: {error.message}", setting=name
            ) from error


def path_in(folder: str, name: str) -> Path:
    """Return the path of a file that a setting names."""
    return Path(folder) / name
