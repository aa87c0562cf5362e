"""DID documents: whose key signs a repository, and which host serves it. Nothing here fetches one."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from weighbridge.ports import Refused
from weighbridge.repos import RAW, Cid, RepoPublicKey, is_did, is_handle, parse_document_key

from weighbridge_atproto.errors import DidMethod, DocumentForm, DocumentNoHost, DocumentNoKey, DocumentOther

MAX_DOCUMENT: Final = 65_536
_PLC: Final = re.compile(r"did:plc:[a-z2-7]{24}")
_WEB: Final = re.compile(r"did:web:([a-zA-Z0-9.-]{1,253})")
_LOCAL: Final = re.compile(r"did:web:localhost%3A([0-9]{1,5})")


class Identity(NamedTuple):
    """What a DID document says: the key, the host (`https://…`, no path), the handle it claims, the document."""

    did: str
    key: RepoPublicKey
    host: str
    handle: str | None
    document: bytes

    @property
    def cid(self) -> Cid:
        """The CID of the document's bytes."""
        return Cid.of(self.document, RAW)


def document_address(did: str, directory: str) -> str:
    """Return where the document of a DID is fetched. Raises DidMethod.

    `directory`: the address of the PLC directory. A did:web has a host and nothing else; a port only on
    localhost, for development.
    """
    if _PLC.fullmatch(did):
        return f"{directory.rstrip('/')}/{did}"
    local = _LOCAL.fullmatch(did)
    if local is not None:
        return f"http://localhost:{local[1]}/.well-known/did.json"
    web = _WEB.fullmatch(did)
    if web is not None and is_handle(web[1]):
        return f"https://{web[1].lower()}/.well-known/did.json"
    raise DidMethod(f"{did:.200} is neither a did:plc nor a did:web of a host", did=did)


def read_document(did: str, data: bytes) -> Identity:
    """Return what the document of a DID says.

    Raises DocumentForm, DocumentOther, DocumentNoKey (RepoKey for one that is no key) and DocumentNoHost.
    """
    document = _parsed(data)
    if document.get("id") != did:
        raise DocumentOther(f"the document is of {document.get('id')!r:.200}, not of {did}", did=did)
    return Identity(did, _key(did, document), _host(did, document), _handle(document), data)


def _parsed(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_DOCUMENT:
        raise DocumentForm(f"a document has at most {MAX_DOCUMENT} bytes, and this has {len(data)}")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DocumentForm(f"the document is no JSON: {error}") from error
    if not isinstance(document, dict) or not is_did(document.get("id")):
        raise DocumentForm("the document has no DID as its id")
    return document


def _entries(document: dict[str, Any], field: str, did: str, fragment: str) -> list[dict[str, Any]]:
    """Return the entries of a list whose id is `#fragment` or `<did>#fragment`."""
    given = document.get(field)
    wanted = (f"#{fragment}", f"{did}#{fragment}")
    entries: list[Any] = given if isinstance(given, list) else []
    return [each for each in entries if isinstance(each, dict) and each.get("id") in wanted]


def _key(did: str, document: dict[str, Any]) -> RepoPublicKey:
    methods = _entries(document, "verificationMethod", did, "atproto")
    if not methods:
        raise DocumentNoKey(f"the document of {did} has no key #atproto", did=did)
    kind, text = methods[0].get("type"), methods[0].get("publicKeyMultibase")
    if not isinstance(kind, str) or not isinstance(text, str):
        raise DocumentNoKey(f"the key #atproto of {did} has no type or no publicKeyMultibase", did=did)
    return parse_document_key(kind, text)


def _host(did: str, document: dict[str, Any]) -> str:
    services = _entries(document, "service", did, "atproto_pds")
    address = services[0].get("serviceEndpoint") if services else None
    if not isinstance(address, str):
        raise DocumentNoHost(f"the document of {did} names no host #atproto_pds", did=did)
    try:
        return host_address(address)
    except Refused as error:
        raise DocumentNoHost(f"the host of {did}: {error.message}", did=did) from error


def host_address(address: str) -> str:
    """Return the address of a host: scheme and authority, lower case. Raises DocumentNoHost."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise DocumentNoHost(f"{address!r:.200} is no address: {error}") from error
    plain = not (parts.query or parts.fragment or parts.username or parts.password)
    if (
        parts.scheme not in ("https", "http")
        or not parts.hostname
        or parts.path not in ("", "/")
        or not plain
    ):
        raise DocumentNoHost(f"{address!r:.200} is not the address of a host: https:// and its name")
    return f"{parts.scheme}://{parts.hostname}{'' if port is None else f':{port}'}"


def _handle(document: dict[str, Any]) -> str | None:
    names = document.get("alsoKnownAs")
    for name in names if isinstance(names, list) else []:
        if isinstance(name, str) and name.startswith("at://"):
            handle = name.removeprefix("at://")
            return handle if is_handle(handle) else None
    return None
