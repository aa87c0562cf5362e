"""A real PDS with its directory, on loopback, in processes of their own; and accounts on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from free_ports import free_port

HERE = Path(__file__).resolve().parent / "pds"
PASSWORD = "a password for tests"
ADMIN = "Basic YWRtaW46Zm9yLXRlc3RzLW9ubHk="


def node() -> str:
    """Node, with the PDS installed from the lock."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip("node and npm are not installed")
    if not (HERE / "node_modules" / "@atproto" / "pds").is_dir():
        headers = str(Path(found).resolve().parent.parent)
        env = {**os.environ, "npm_config_nodedir": "/usr" if headers.startswith("/usr") else headers}
        command = [npm, "ci", "--no-fund", "--no-audit"]
        subprocess.run(command, cwd=HERE, env=env, check=True, capture_output=True, timeout=400)
    return found


class Refusal(Exception):
    """The PDS says no."""


class Pds:
    """The PDS. It can be killed and started again over the same folder; the directory goes on.

    `beside`: another one, whose directory this one shares.
    """

    def __init__(self, folder: Path, *, beside: Pds | None = None, **settings: str) -> None:
        self._node = node()
        self._folder = folder
        self._env = {**os.environ, **settings}
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self._plc_port = str(free_port()) if beside is None else beside._plc_port
        self.directory = f"http://127.0.0.1:{self._plc_port}"
        self._plc = self._started("plc.mjs", self._plc_port) if beside is None else None
        self._pds = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return self._started("pds.mjs", str(self.port), self._plc_port, str(self._folder))

    def _started(self, *command: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [self._node, *command],
            cwd=HERE,
            env=self._env,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"ready": True}
        return process

    def kill(self) -> None:
        self._pds.kill()
        self._pds.wait()
        close(self._pds)

    def start(self) -> None:
        self._pds = self._start()

    def stop(self) -> None:
        for each in (self._pds, self._plc):
            if each is None:
                continue
            each.terminate()
            try:
                each.wait(5)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
            close(each)

    def rotate(self, did: str, key: str | None = None) -> dict[str, str]:
        """Publish another key for an account, while the PDS goes on signing with its own."""
        assert self._pds.stdin is not None
        assert self._pds.stdout is not None
        self._pds.stdin.write(json.dumps({"did": did, **({"key": key} if key else {})}) + "\n")
        self._pds.stdin.flush()
        answer: dict[str, str] = json.loads(self._pds.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def call(self, name: str, body: Any = None, token: str | None = None, **query: str) -> Any:
        """Call an XRPC method: a query, or with a body, perhaps an empty one, a procedure."""
        url = f"{self.url}/xrpc/{name}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Content-Type": "application/json"} if body not in (None, "") else {}
        if token is not None:
            headers["Authorization"] = token
        data = None if body is None else b"" if body == "" else json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Refusal(f"{error.code} {error.read().decode()}") from None
        return json.loads(text) if text else None

    def account(self, name: str) -> Account:
        made = self.call(
            "com.atproto.server.createAccount",
            {"handle": f"{name}.test", "email": f"{name}@mail.test", "password": PASSWORD},
        )
        return Account(self, made["did"], f"Bearer {made['accessJwt']}")


def close(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


class Account:
    """An account, logged in."""

    def __init__(self, pds: Pds, did: str, token: str) -> None:
        self.pds = pds
        self.did = did
        self.token = token

    def call(self, name: str, body: Any = None, **query: str) -> Any:
        return self.pds.call(name, body, self.token, **query)

    def login(self) -> None:
        session = {"identifier": self.did, "password": PASSWORD}
        made = self.pds.call("com.atproto.server.createSession", session)
        self.token = f"Bearer {made['accessJwt']}"

    def _record(self, method: str, collection: str, rkey: str | None, **more: Any) -> Any:
        named = {} if rkey is None else {"rkey": rkey}
        return self.call(
            f"com.atproto.repo.{method}", {"repo": self.did, "collection": collection, **named, **more}
        )

    def create(self, collection: str, rkey: str | None, record: Any) -> Any:
        """Create a record; without a key the PDS makes one of the time."""
        return self._record("createRecord", collection, rkey, record=record, validate=False)

    def put(self, collection: str, rkey: str, record: Any) -> Any:
        return self._record("putRecord", collection, rkey, record=record, validate=False)

    def delete(self, collection: str, rkey: str) -> Any:
        return self._record("deleteRecord", collection, rkey)

    def apply(self, *writes: Any) -> Any:
        return self.call(
            "com.atproto.repo.applyWrites", {"repo": self.did, "validate": False, "writes": list(writes)}
        )

    def texts(self, collection: str) -> list[str]:
        """The texts of the records that the PDS has of a collection, in the order of their keys."""
        found: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = self.call(
                "com.atproto.repo.listRecords", None, repo=self.did, collection=collection, limit="100", reverse="true",
                **cursor,
            )  # fmt: skip
            found += [each["value"]["text"] for each in page["records"]]
            if not page.get("cursor"):
                return found
            cursor = {"cursor": page["cursor"]}

    def take_down(self, down: bool = True) -> None:
        subject = {"$type": "com.atproto.admin.defs#repoRef", "did": self.did}
        body = {"subject": subject, "takedown": {"applied": down, "ref": "test"}}
        self.pds.call("com.atproto.admin.updateSubjectStatus", body, ADMIN)

    def delete_account(self) -> None:
        self.pds.call("com.atproto.admin.deleteAccount", {"did": self.did}, ADMIN)


def create(collection: str, rkey: str, value: Any) -> Any:
    return {
        "$type": "com.atproto.repo.applyWrites#create",
        "collection": collection,
        "rkey": rkey,
        "value": value,
    }


def remove(collection: str, rkey: str) -> Any:
    return {"$type": "com.atproto.repo.applyWrites#delete", "collection": collection, "rkey": rkey}


def until(holds: Any, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
