"""drand's own client (npm, `drand-client`) reads and verifies what `weighbridge dice serve` serves."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from weighbridge.chain import QUICKNET, Chain, chain_of, round_at
from weighbridge.local_chain import LocalChain
from weighbridge_drand import open_relays

pytestmark = pytest.mark.interop

HERE = Path(__file__).resolve().parent
SEED = b"a seed for the interop tests"
SERVE = [sys.executable, "-m", "weighbridge_services", "dice", "serve", "--port", "0"]


@pytest.fixture(scope="module")
def node() -> str:
    """Node, with drand's client installed beside this file from the lock."""
    programs = [shutil.which(name) for name in ("node", "npm")]
    if programs[0] is None or programs[1] is None:
        pytest.skip("node and npm are not installed")
    if not (HERE / "node_modules" / "drand-client").is_dir():
        command = [programs[1], "ci", "--ignore-scripts", "--no-fund", "--no-audit"]
        subprocess.run(command, cwd=HERE, check=True, capture_output=True, timeout=400)
    return programs[0]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, LocalChain]]:
    """A served chain of about a hundred rounds, and the same chain with its key."""
    genesis = int(time.time()) - 300
    command = [*SERVE, "--seed", SEED.hex(), "--genesis", str(genesis), "--period", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            told = json.loads(server.stdout.readline())
            local = LocalChain(SEED, genesis, 3)
            assert chain_of({"chain": told["chain"]})[0].chain == local.chain
            yield told["url"], local
        finally:
            server.terminate()
            server.wait(60)


def read(node: str, url: str, chain: Chain, *rounds: int) -> subprocess.CompletedProcess[str]:
    arguments = [url, chain.hash, chain.public_key.hex(), *map(str, rounds)]
    return subprocess.run(
        [node, "read.mjs", *arguments], cwd=HERE, capture_output=True, text=True, timeout=120, check=False
    )


def test_drands_client_verifies_the_rounds_of_a_served_chain(
    node: str, served: tuple[str, LocalChain]
) -> None:
    url, local = served
    done = read(node, url, local.chain, *range(1, 21), 10**9)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)

    assert told["info"]["hash"] == local.chain.hash
    assert told["chains"] == [f"{url}/{local.chain.hash}"]
    assert [beacon["signature"] for beacon in told["beacons"]] == [local.sign(r).hex() for r in range(1, 21)]
    assert told["newest"]["round"] >= 100
    assert told["newest"]["signature"] == local.sign(told["newest"]["round"]).hex()
    [[round, why]] = told["refused"]
    assert round == 10**9
    assert "425" in why


def test_drands_client_refuses_the_chain_under_another_key(node: str, served: tuple[str, LocalChain]) -> None:
    url, local = served
    other = Chain(local.chain.hash, QUICKNET.public_key, 3, 0)
    done = read(node, url, other, 1)

    assert done.returncode != 0
    assert "did not match the verification params" in done.stderr


@pytest.mark.parametrize("api", ["v1", "v2"])
def test_our_own_relays_source_reads_the_same_server(api: str, served: tuple[str, LocalChain]) -> None:
    url, local = served

    async def whole() -> None:
        source = open_relays({"relays": [{"url": url, "api": api}]}, lambda: time.time_ns() // 1000)
        try:
            assert (await source.fetch(local.chain, 50)).signature == local.sign(50)
            before = round_at(local.chain, time.time_ns() // 1000)
            latest = await source.latest(local.chain)
            assert before - 1 <= latest.round <= round_at(local.chain, time.time_ns() // 1000)
        finally:
            await source.close()

    asyncio.run(whole())
