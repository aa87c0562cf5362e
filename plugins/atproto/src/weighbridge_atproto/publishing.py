"""Publishing a record: to a repository on a PDS, or as an envelope that a did:key signs."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from weighbridge.ports import Refused
from weighbridge.repos import Signer, codec, encode_envelope, envelope_to_json, parse_record_uri, sign_record

from weighbridge_atproto.guarded import AnswerStatus, Guarded

JSON: Final = {"Content-Type": "application/json"}


class NotPublished(Refused):
    """The PDS does not take the record, or not from this account."""

    code = "not-published"


class BadRecord(Refused):
    """What is to be published is no record."""

    code = "bad-record-file"


def read_value(text: str, game: str | None) -> dict[str, Any]:
    """Return a record from JSON; of a game, with its `game`. Raises BadRecord."""
    try:
        value = codec.from_json(json.loads(text))
        codec.encode(value)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"the record is no JSON: {error}") from error
    except Refused as refused:
        raise BadRecord(f"the record: {refused.message} ({refused.code})") from refused
    if not isinstance(value, dict):
        raise BadRecord("a record is a JSON object")
    if game is None:
        return value
    parse_record_uri(game)
    if value.setdefault("game", game) != game:
        raise BadRecord(f"the record names the game {value['game']!r:.200}, and it is for {game}")
    return value


def beside(game: str, name: str) -> str:
    """Return the collection of a game's records of a name: that of its root, with another last part."""
    collection = parse_record_uri(game).collection or ""
    return f"{collection.rpartition('.')[0]}.{name}"


def as_envelope(signer: Signer, game: str | None, collection: str, rkey: str, value: dict[str, Any]) -> bytes:
    """Return a signed envelope as JSON, which `weighbridge submit` takes. Raises what signing refuses."""
    envelope = sign_record(signer, game, collection, rkey, value)
    encode_envelope(envelope)
    return json.dumps(envelope_to_json(envelope), ensure_ascii=False).encode() + b"\n"


class Account:
    """An account on a PDS, logged in."""

    def __init__(self, client: Guarded, host: str, did: str, token: str) -> None:
        self.did = did
        self._client = client
        self._host = host
        self._token = token

    @classmethod
    async def login(cls, client: Guarded, host: str, name: str, password: str) -> Account:
        """Log in by handle or DID. Raises NotPublished, and what the client raises."""
        host = f"{urlsplit(host).scheme or 'https'}://{urlsplit(host).netloc or urlsplit(host).path}"
        asked = {"identifier": name, "password": password}
        answer = await _call(client, host, "com.atproto.server.createSession", asked, JSON)
        return cls(client, host, str(answer.get("did")), str(answer.get("accessJwt")))

    async def create(self, collection: str, rkey: str | None, value: dict[str, Any]) -> tuple[str, str]:
        """Create a record; return its at-uri and its CID. Raises NotPublished, also where the place is taken."""
        if rkey is not None and await self._is_taken(collection, rkey):
            raise NotPublished(
                f"at://{self.did}/{collection}/{rkey} is there already, and of a record the first version counts;"
                " name another --rkey"
            )
        record = codec.to_json({"$type": collection, **value})
        asked = {"repo": self.did, "collection": collection, "record": record, "validate": False}
        if rkey is not None:
            asked["rkey"] = rkey
        headers = {**JSON, "Authorization": f"Bearer {self._token}"}
        answer = await _call(self._client, self._host, "com.atproto.repo.createRecord", asked, headers)
        return str(answer.get("uri")), str(answer.get("cid"))

    async def _is_taken(self, collection: str, rkey: str) -> bool:
        asked = urlencode({"repo": self.did, "collection": collection, "rkey": rkey})
        try:
            await self._client.get(f"{self._host}/xrpc/com.atproto.repo.getRecord?{asked}")
        except AnswerStatus:
            return False
        return True


async def _call(
    client: Guarded, host: str, name: str, asked: dict[str, Any], headers: dict[str, str]
) -> dict[str, Any]:
    try:
        data = await client.post(f"{host}/xrpc/{name}", json.dumps(asked).encode(), headers)
        answer = json.loads(data)
    except AnswerStatus as error:
        raise NotPublished(f"{name} is refused: {error.message}") from error
    except ValueError as error:
        raise NotPublished(f"{name} answers what is no JSON") from error
    if not isinstance(answer, dict):
        raise NotPublished(f"{name} answers what is no object")
    return answer
