from __future__ import annotations

import pytest
from weighbridge.beacon import verify, verify_many
from weighbridge.chain import QUICKNET, chain_of, chain_value
from weighbridge.errors import Refused
from weighbridge.local_chain import BadLocalChain, LocalChain, chain_hash

SEED = bytes(range(32))
LOCAL = LocalChain(SEED, genesis=1_700_000_000, period=3)


def test_a_chain_hash_is_made_as_drand_makes_quicknets() -> None:
    group = bytes.fromhex("f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e")

    assert chain_hash(QUICKNET.public_key, 3, QUICKNET.genesis, group, "quicknet") == QUICKNET.hash


def test_the_rounds_of_a_local_chain_verify_under_its_own_key_alone() -> None:
    signature = LOCAL.sign(7)

    assert len(verify(LOCAL.chain, 7, signature)) == 32
    for chain, round in ((QUICKNET, 7), (LOCAL.chain, 8), (LocalChain(SEED + b"x", 0).chain, 7)):
        with pytest.raises(Refused) as refusal:
            verify(chain, round, signature)
        assert refusal.value.code == "signature-wrong"


def test_another_implementation_verifies_a_local_chain() -> None:
    drand_verify = pytest.importorskip("drand_verify", reason="drand-verify has no wheel for this Python")
    randomness = drand_verify.verify_bls_unchained_g1_rfc9380(
        7, LOCAL.sign(7).hex(), LOCAL.chain.public_key.hex()
    )

    assert randomness == verify(LOCAL.chain, 7, LOCAL.sign(7)).hex()


def test_one_seed_gives_one_chain_and_another_genesis_another_hash() -> None:
    again = LocalChain(SEED, genesis=1_700_000_000, period=3)
    later = LocalChain(SEED, genesis=1_700_000_001, period=3)

    assert again.chain == LOCAL.chain
    assert later.chain.hash != LOCAL.chain.hash
    assert later.chain.public_key == LOCAL.chain.public_key


def test_a_root_can_name_a_local_chain_and_it_is_called_private() -> None:
    rule, problems = chain_of({"chain": chain_value(LOCAL.chain)})

    assert problems == ()
    assert rule.chain == LOCAL.chain
    assert rule.chain.label == "private chain"


def test_a_batch_of_local_rounds_verifies() -> None:
    results = verify_many(LOCAL.chain, [(round, LOCAL.sign(round)) for round in range(1, 40)])

    assert all(isinstance(result, bytes) for result in results)


@pytest.mark.parametrize(
    ("seed", "genesis", "period"),
    [(bytes(15), 0, 3), (SEED, -1, 3), (SEED, 2**41, 3), (SEED, 0, 0), (SEED, 0, 86_401)],
    ids=["a short seed", "a negative genesis", "a far genesis", "no period", "a long period"],
)
def test_what_makes_no_chain_is_refused(seed: bytes, genesis: int, period: int) -> None:
    with pytest.raises(BadLocalChain):
        LocalChain(seed, genesis, period)
