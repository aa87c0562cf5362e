"""Policies: k of n, nested; what a quorum is worth; every problem of a root's value with its path."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.identity import Policy, Tally, lint, parse_policy, safe_quorum


def dids(*names):
    return [f"did:plc:{name}" for name in names]


A, B, C, D, E, F = dids("a", "b", "c", "d", "e", "f")
FLAT = Policy((A, B, C, D), 3)
NESTED = Policy((Policy((A, B, C), 2), Policy((D, E, F), 1)), 2)


def value(quorum, *members):
    return {"dids": list(members), "quorum": quorum}


def codes(root):
    return [(remark.code, remark.path) for remark in lint(root)[1]]


def test_a_policy_goes_both_ways():
    for policy in (FLAT, NESTED):
        assert parse_policy(policy.value()) == (policy, ())


def test_members_are_flat_sorted_and_each_once():
    assert NESTED.members() == (A, B, C, D, E, F)
    assert parse_policy(value(2, D, value(1, C, A), B))[0].members() == (A, B, C, D)


@pytest.mark.parametrize(
    ("policy", "signers", "reached"),
    [
        pytest.param(FLAT, [A, B, C], True, id="three-of-four"),
        pytest.param(FLAT, [A, B], False, id="two-of-four"),
        pytest.param(FLAT, [A, A, B], False, id="one-twice"),
        pytest.param(FLAT, [A, B, E], False, id="a-stranger"),
        pytest.param(FLAT, [], False, id="nobody"),
        pytest.param(NESTED, [A, B, F], True, id="both-groups"),
        pytest.param(NESTED, [A, B, C], False, id="one-group"),
        pytest.param(NESTED, [A, D, E, F], False, id="one-group-and-a-member"),
    ],
)
def test_a_quorum_is_reached_or_not(policy, signers, reached):
    assert policy.reached(signers) is reached
    assert policy.reached(frozenset(signers)) is reached
    assert policy.tallies(signers)[0].reached is reached


def test_tallies_say_how_far_each_group_got():
    assert NESTED.tallies({A, D, E}) == (
        Tally("$.policy", 1, 2, 2),
        Tally("$.policy.dids[0]", 1, 2, 3),
        Tally("$.policy.dids[1]", 2, 1, 3),
    )


@pytest.mark.parametrize(
    ("members", "lister", "majority"),
    [
        ([A], A, 0),
        ([A, B], A, 1),
        ([A, B, C], A, 2),
        ([A, B, C, D], A, 2),
        ([A, B, C, D, E], A, 3),
        ([A, B, C, D], "did:plc:stranger", 3),
    ],
)
def test_a_majority_is_of_the_members_other_than_the_lister(members, lister, majority):
    policy = Policy(tuple(members), 1)
    others = [did for did in members if did != lister]
    assert list(policy.others(lister)) == others
    assert policy.majority_of_others(lister) == majority
    assert policy.has_majority(others[:majority], lister) is bool(others)
    assert not policy.has_majority([lister, *others[: majority - 1]] if majority else [lister], lister)


def test_a_safe_quorum_is_more_than_two_thirds():
    assert [safe_quorum(n) for n in range(1, 11)] == [1, 2, 3, 3, 4, 5, 5, 6, 7, 7]


@pytest.mark.parametrize("n", range(1, 8))
def test_two_safe_quorums_share_an_honest_member_when_fewer_than_a_third_are_dishonest(n):
    members, dishonest = range(n), (n - 1) // 3
    for one, two in combinations(list(combinations(members, safe_quorum(n))), 2):
        assert len(set(one) & set(two)) > dishonest


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        pytest.param(value(3, A, B, C, D), [], id="three-of-four"),
        pytest.param(value(4, A, B, C, D), [], id="four-of-four"),
        pytest.param(value(2, A, B, C, D), [("low-quorum", "$.policy.quorum")], id="two-of-four"),
        pytest.param(
            value(2, A, B, C),
            [("two-of-three", "$.policy.quorum"), ("no-redundancy", "$.policy.quorum")],
            id="two-of-three",
        ),
        pytest.param(value(3, A, B, C), [("no-redundancy", "$.policy.quorum")], id="three-of-three"),
        pytest.param(value(1, A), [("no-redundancy", "$.policy.quorum")], id="one-of-one"),
        pytest.param(
            value(1, A, B),
            [("low-quorum", "$.policy.quorum"), ("no-redundancy", "$.policy.quorum")],
            id="one-of-two",
        ),
        pytest.param(
            value(4, A, B, C, D, value(2, E, F)),
            [("no-redundancy", "$.policy.dids[4].quorum")],
            id="a-group-of-two",
        ),
    ],
)
def test_the_linter_warns_of_what_a_quorum_is_not_worth(root, expected):
    policy, remarks = lint(root)
    assert policy is not None
    assert codes(root) == expected
    assert all(remark.says and not remark.fatal for remark in remarks)
    assert parse_policy(root) == (policy, ())


def nest(depth):
    return value(1, A) if depth == 1 else value(1, nest(depth - 1))


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        pytest.param(None, [("not-a-policy", "$.policy")], id="null"),
        pytest.param([A], [("not-a-policy", "$.policy")], id="a-list"),
        pytest.param({}, [("no-members", "$.policy.dids")], id="empty"),
        pytest.param(value(1), [("no-members", "$.policy.dids")], id="no-dids"),
        pytest.param({"dids": A, "quorum": 1}, [("no-members", "$.policy.dids")], id="one-did-as-text"),
        pytest.param({"dids": [A, B, C, D]}, [("bad-quorum", "$.policy.quorum")], id="no-quorum"),
        pytest.param(value("3", A, B, C, D), [("bad-quorum", "$.policy.quorum")], id="quorum-as-text"),
        pytest.param(value(True, A, B, C, D), [("bad-quorum", "$.policy.quorum")], id="true"),
        pytest.param(value(0, A, B, C, D), [("impossible-quorum", "$.policy.quorum")], id="zero-of-four"),
        pytest.param(value(-1, A, B, C, D), [("impossible-quorum", "$.policy.quorum")], id="minus-one"),
        pytest.param(value(5, A, B, C, D), [("impossible-quorum", "$.policy.quorum")], id="five-of-four"),
        pytest.param({**value(3, A, B, C, D), "k": 3}, [("unknown-key", "$.policy.k")], id="unknown-key"),
        pytest.param(value(3, A, B, C, "d"), [("bad-did", "$.policy.dids[3]")], id="no-did"),
        pytest.param(value(3, A, B, C, 7), [("bad-did", "$.policy.dids[3]")], id="a-number"),
        pytest.param(value(3, A, B, C, [D]), [("bad-did", "$.policy.dids[3]")], id="a-list-for-a-group"),
        pytest.param(value(3, A, B, C, A), [("duplicate-member", "$.policy.dids[3]")], id="a-member-twice"),
        pytest.param(
            value(3, A, B, C, value(3, D, E, F, A)),
            [("duplicate-member", "$.policy.dids[3].dids[3]")],
            id="a-member-again-in-a-group",
        ),
        pytest.param(
            value(3, value(3, A, B, C, D), E, F, value(3, D, C, B, A)),
            [("duplicate-group", "$.policy.dids[3]")],
            id="a-group-twice",
        ),
        pytest.param(
            value(3, A, B, C, value(5, D, E, F)),
            [("impossible-quorum", "$.policy.dids[3].quorum")],
            id="impossible-in-a-group",
        ),
        pytest.param(
            value(9, "x", A, A, {"dids": []}),
            [
                ("bad-did", "$.policy.dids[0]"),
                ("duplicate-member", "$.policy.dids[2]"),
                ("no-members", "$.policy.dids[3].dids"),
                ("impossible-quorum", "$.policy.quorum"),
            ],
            id="everything-at-once",
        ),
    ],
)
def test_a_policy_that_means_nothing_is_refused_with_every_problem(root, expected):
    policy, remarks = lint(root)
    assert policy is None
    assert [(remark.code, remark.path) for remark in remarks if remark.fatal] == expected
    refused, problems = parse_policy(root)
    assert refused is None
    assert [problem.path for problem in problems] == [path for _, path in expected]


def test_a_path_begins_where_the_policy_stands():
    assert parse_policy(value(5, A), "$.witnesses")[1][0].path == "$.witnesses.quorum"


def test_groups_nest_eight_deep_and_no_deeper():
    assert parse_policy(nest(8))[0] is not None
    assert "too-deep" in [code for code, _ in codes(nest(9))]
    assert "too-deep" in [code for code, _ in codes(nest(500))]


def test_a_policy_has_64_members_and_no_more():
    many = dids(*(f"m{n}" for n in range(65)))
    assert len(parse_policy(value(43, *many[:64]))[0].members()) == 64
    assert codes(value(44, *many)) == [("too-many-members", "$.policy.dids[64]")]


def test_a_policy_has_64_groups_and_no_more():
    many = [value(1, did) for did in dids(*(f"m{n}" for n in range(64)))]
    assert parse_policy(value(43, *many[:63]))[0] is not None
    assert "too-many-groups" in [code for code, _ in codes(value(43, *many))]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from([A, B, C, D, "x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.fixed_dictionaries(
            {}, optional={"dids": st.lists(inner, max_size=4), "quorum": inner, "k": inner}
        )
    ),
    max_leaves=20,
)


@given(JUNK)
def test_any_value_is_a_policy_or_has_problems(root):
    policy, problems = parse_policy(root)
    assert (policy is None) == bool(problems)
    if policy is not None:
        assert policy.value() == root
        assert policy.reached(policy.members())
        assert not policy.reached([])
