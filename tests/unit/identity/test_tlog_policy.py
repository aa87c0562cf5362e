"""C2SP tlog-policy files: the grammar both ways, and a row for each line that breaks a rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge.errors import Refused
from weighbridge.identity import (
    COSIGNATURE,
    SIGNATURE,
    Policy,
    Signer,
    lint_tlog_policy,
    parse_policy_text,
    tlog_policy,
    verifier_key,
)
from weighbridge.identity.tlog_policy import GroupLine, LogLine, TlogPolicy, WitnessLine

KEYS = [
    verifier_key(f"w{n}.example", COSIGNATURE, Signer(n.to_bytes(32, "big")).public) for n in range(1, 80)
]
LOG = verifier_key("log.example", SIGNATURE, Signer(b"l" * 32).public)
X1, X2, X3, Y1, Y2, Y3 = KEYS[:6]
EXAMPLE = f"""\
log {LOG}

witness X1 {X1}
witness X2 {X2} https://x2.example/
witness X3 {X3}
group X-witnesses 2 X1 X2 X3

  # the other organisation
witness Y1 {Y1}
witness\tY2  {Y2}
 witness Y3 {Y3}\t
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""


def test_the_example_of_the_specification_is_read():
    policy = parse_policy_text(EXAMPLE.encode())
    assert policy.logs == (LogLine(LOG),)
    assert policy.witnesses[1] == WitnessLine("X2", X2, "https://x2.example/")
    assert policy.groups == (
        GroupLine("X-witnesses", 2, ("X1", "X2", "X3")),
        GroupLine("Y-witnesses", 1, ("Y1", "Y2", "Y3")),
        GroupLine("X-and-Y", 2, ("X-witnesses", "Y-witnesses")),
    )
    assert policy.quorum == "X-and-Y"


@pytest.mark.parametrize(
    ("keys", "reached"),
    [
        ([X1, X2, Y3], True),
        ([X1, X2, X3, Y1, Y2, Y3], True),
        ([X1, X2, X3], False),
        ([X1, Y1, Y2, Y3], False),
        ([], False),
        ([LOG], False),
    ],
    ids=["two-and-one", "all", "x-alone", "one-x", "nobody", "the-log"],
)
def test_its_quorum_is_reached_or_not(keys, reached):
    assert parse_policy_text(EXAMPLE.encode()).reached(keys) is reached


def test_a_policy_is_rendered_in_one_form_and_read_again():
    policy = parse_policy_text(EXAMPLE.encode())
    rendered = policy.render()
    assert parse_policy_text(rendered) == policy
    assert b"group Y-witnesses any Y1 Y2 Y3\n" in rendered
    assert b"group X-and-Y all X-witnesses Y-witnesses\nquorum X-and-Y\n" in rendered


def test_no_quorum_and_a_single_witness_are_policies():
    assert parse_policy_text(b"quorum none\n").reached([])
    single = parse_policy_text(f"witness w {X1}\nquorum w\n".encode())
    assert single.reached([X1])
    assert not single.reached([X2])


def test_names_are_octets():
    policy = parse_policy_text(
        b"witness \xff\xe2\x84\xaa " + str(X1).encode() + b"\nquorum \xff\xe2\x84\xaa\n"
    )
    assert policy.render() == b"witness \xff\xe2\x84\xaa " + str(X1).encode() + b"\nquorum \xff\xe2\x84\xaa\n"
    with pytest.raises(Refused):
        parse_policy_text(f"witness K {X1}\nquorum \u212a\n".encode())


def test_words_are_parted_by_spaces_and_tabs_only():
    policy = parse_policy_text(f"witness a\u00a0b {X1}\nquorum a\u00a0b\n".encode())
    assert policy.quorum == "a\u00a0b"


W1, W2 = f"witness a {X1}\n", f"witness b {X2}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("", None, id="empty"),
        pytest.param(W1, None, id="no-quorum"),
        pytest.param("quorum none", None, id="no-newline-at-the-end"),
        pytest.param("quorum none\r\n", None, id="carriage-return"),
        pytest.param("quorum\vnone\n", None, id="vertical-tab"),
        pytest.param("quorum none\x7f\n", None, id="delete"),
        pytest.param("#" * 600_000 + "\nquorum none\n", None, id="too-large"),
        pytest.param("quorum none\nquorum none\n", 2, id="two-quorums"),
        pytest.param("quorum\n", 1, id="quorum-without-a-name"),
        pytest.param("quorum none none\n", 1, id="quorum-of-two"),
        pytest.param("quorum a\n" + W1, 1, id="quorum-above-its-witness"),
        pytest.param("Quorum none\n", 1, id="upper-case"),
        pytest.param("observer a\n", 1, id="unknown-word"),
        pytest.param(f"log {LOG} url url\nquorum none\n", 1, id="two-urls"),
        pytest.param("log\nquorum none\n", 1, id="log-without-a-key"),
        pytest.param(f"log {X1}\nquorum none\n", 1, id="log-with-a-cosigner-key"),
        pytest.param(f"log {LOG}\nlog {LOG}\nquorum none\n", 2, id="log-twice"),
        pytest.param(
            f"log {LOG}\nlog {verifier_key('other', SIGNATURE, LOG.public)}\nquorum none\n",
            2,
            id="log-key-twice",
        ),
        pytest.param(f"witness {X1}\nquorum none\n", 1, id="witness-without-a-name"),
        pytest.param(f"witness a {LOG}\nquorum a\n", 1, id="witness-with-a-log-key"),
        pytest.param("witness a b+12345678+AAAA\nquorum a\n", 1, id="witness-without-a-vkey"),
        pytest.param(f"witness none {X1}\nquorum none\n", 1, id="witness-called-none"),
        pytest.param(W1 + f"witness a {X2}\nquorum a\n", 2, id="name-twice"),
        pytest.param(W1 + f"witness b {X1}\nquorum a\n", 2, id="witness-key-twice"),
        pytest.param(W1 + "group a any a\nquorum a\n", 2, id="group-called-as-a-witness"),
        pytest.param(W1 + "group g any\nquorum a\n", 2, id="group-without-members"),
        pytest.param(W1 + "group g 0 a\nquorum a\n", 2, id="zero-of-one"),
        pytest.param(W1 + "group g 2 a\nquorum a\n", 2, id="two-of-one"),
        pytest.param(W1 + "group g 01 a\nquorum a\n", 2, id="leading-zero"),
        pytest.param(W1 + "group g +1 a\nquorum a\n", 2, id="plus"),
        pytest.param(W1 + "group g \u0661 a\nquorum a\n", 2, id="another-digit"),
        pytest.param(W1 + "group g some a\nquorum a\n", 2, id="some"),
        pytest.param(W1 + "group g any b\n" + W2 + "quorum a\n", 2, id="member-below"),
        pytest.param(W1 + "group g any g\nquorum a\n", 2, id="group-in-itself"),
        pytest.param(W1 + "group g any none\nquorum a\n", 2, id="none-in-a-group"),
        pytest.param(W1 + "group g any a a\nquorum a\n", 2, id="member-twice"),
        pytest.param(W1 + W2 + "group g any a\ngroup h any a b\nquorum h\n", 4, id="member-of-two-groups"),
        pytest.param(
            W1 + W2 + "group g any a b\ngroup h any g\ngroup i any g\nquorum i\n", 5, id="group-listed-twice"
        ),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_line(text, line):
    with pytest.raises(Refused) as refused:
        parse_policy_text(text.encode())
    assert refused.value.code == "bad-policy-text"
    assert refused.value.detail.get("line") == line


def test_a_file_may_have_64_witnesses_logs_and_groups_and_no_more():
    witnesses = [f"witness w{n} {key}\n" for n, key in enumerate(KEYS[:65])]
    logs = [f"log {verifier_key(k.name, SIGNATURE, k.public)}\n" for k in KEYS[:65]]
    groups = ["group g0 any w0\n", *(f"group g{n} any g{n - 1}\n" for n in range(1, 65))]
    text = "".join([*witnesses[:64], *logs[:64], *groups[:64]]) + "quorum g63\n"
    policy = parse_policy_text(text.encode())
    assert policy.reached([KEYS[0]])
    assert not policy.reached([KEYS[1]])
    for part in (witnesses, logs, [*witnesses[:64], *groups]):
        with pytest.raises(Refused) as refused:
            parse_policy_text(("".join(part) + "quorum none\n").encode())
        assert refused.value.code == "bad-policy-text"


def test_a_roots_policy_is_written_as_a_file_that_means_the_same():
    names = [f"did:plc:{letter}" for letter in "abcdef"]
    policy = Policy((Policy(tuple(names[:3]), 2), Policy(tuple(names[3:]), 1)), 2)
    keys = dict(zip(names, KEYS, strict=False))
    text = tlog_policy(policy, keys, [LOG]).render()
    read = parse_policy_text(text)
    assert text.endswith(
        b"group g1 2 did:plc:a did:plc:b did:plc:c\n"
        b"group g2 any did:plc:d did:plc:e did:plc:f\n"
        b"group g3 all g1 g2\nquorum g3\n"
    )
    for bits in range(64):
        signers = [name for n, name in enumerate(names) if bits >> n & 1]
        assert read.reached([keys[name] for name in signers]) is policy.reached(signers)


def test_a_policy_of_a_did_without_a_key_is_not_written():
    with pytest.raises(Refused) as refused:
        tlog_policy(Policy(("did:plc:a", "did:plc:b"), 1), {"did:plc:a": X1})
    assert refused.value.code == "no-witness-key"
    assert refused.value.detail["dids"] == ["did:plc:b"]


def test_the_linter_names_the_line():
    text = f"{EXAMPLE}witness Z {KEYS[6]}\n"
    assert [(remark.code, remark.path) for remark in lint_tlog_policy(parse_policy_text(text.encode()))] == [
        ("two-of-three", "group X-witnesses"),
        ("no-redundancy", "group X-witnesses"),
        ("low-quorum", "group Y-witnesses"),
        ("no-redundancy", "group Y-witnesses"),
        ("no-redundancy", "group X-and-Y"),
        ("unused-witness", "witness Z"),
    ]
    assert [remark.code for remark in lint_tlog_policy(parse_policy_text(b"quorum none\n"))] == ["no-quorum"]


@given(
    st.binary(max_size=120)
    | st.text(alphabet="group quorum none all any 12 a\n\t#", max_size=60).map(str.encode)
)
def test_any_octets_are_a_policy_or_refused_as_one(data):
    try:
        policy = parse_policy_text(data)
    except Refused as refused:
        code = refused.code
    else:
        assert isinstance(policy, TlogPolicy)
        assert parse_policy_text(policy.render()) == policy
        return
    assert code == "bad-policy-text"
