"""How a node logs in to its broker."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

import nats.errors
from faststream.nats.security import NatsCredentials, NatsSecurity, NatsUserPassword
from nats.aio.client import Client
from weighbridge.errors import WeighbridgeError

from weighbridge_services.node import PASSWORD, Node
from weighbridge_services.secret_files import read_secret
from weighbridge_services.subjects import token
from weighbridge_services.wire.errors import BrokerRefused, BrokerUnavailable

TIMEOUT = 2
RETRY = 0.1


class Login(NamedTuple):
    """Where the broker is, and as whom to log in."""

    url: str
    user: str | None
    password: str | None
    credentials: str | None
    inbox: str

    @classmethod
    def of(cls, node: Node) -> Login:
        """Return the login of a node. Raises BadKeyFile."""
        broker = node.config.broker
        own = token(node.did)
        inbox = f"_INBOX.{own}"
        if broker.kind == "embedded":
            from weighbridge_services.broker.folder import url_of  # noqa: PLC0415

            return cls(url_of(node), own, read_secret(node.folder / "keys" / PASSWORD), None, inbox)
        password = None if broker.password_file is None else read_secret(node.folder / broker.password_file)
        credentials = None if broker.credentials is None else str(node.folder / broker.credentials)
        return cls(broker.url or "nats://127.0.0.1:4222", broker.user or own, password, credentials, inbox)

    def security(self) -> NatsSecurity | None:
        """Return the login for FastStream."""
        if self.credentials is not None:
            return NatsCredentials.from_file(self.credentials)
        return NatsUserPassword(self.user or "", self.password) if self.password is not None else None

    def options(self) -> dict[str, Any]:
        """Return the login for nats-py."""
        if self.credentials is not None:
            return {"user_credentials": self.credentials}
        return {"user": self.user, "password": self.password} if self.password is not None else {}


async def log_in_once(login: Login, patience: float) -> None:
    """Log in and out again, because a client that reconnects for ever also waits for ever at the start.

    Raises BrokerUnavailable when `patience` seconds have passed, BrokerRefused at once.
    """
    deadline = time.monotonic() + patience
    while True:
        client = Client()
        try:
            await client.connect(
                login.url,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=TIMEOUT,
                error_cb=_ignore,
                **login.options(),
            )
            return
        except (nats.errors.Error, OSError) as error:
            refusal = refusal_of(login.url, error)
            if isinstance(refusal, BrokerRefused) or time.monotonic() > deadline:
                raise refusal from error
        finally:
            await client.close()
        await asyncio.sleep(RETRY)


def refusal_of(url: str, error: BaseException) -> WeighbridgeError:
    """Return what a failed login means."""
    if "uthorization" in f"{type(error).__name__} {error}":
        return BrokerRefused(
            f"the broker at {url} refuses this node's login; check user and password file, and that the node is"
            " one of the broker's operators"
        )
    return BrokerUnavailable(f"the broker at {url} cannot be reached ({error or type(error).__name__})")


async def _ignore(error: Exception) -> None:
    """Let `connect` raise it; nats-py would print it as well."""
