"""Formulas: their grammar, canonical text, and that nothing in them can divide by zero, overflow or run away."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weighbridge_rulecards.formula_reading import Wrong, read_formula
from weighbridge_rulecards.formula_running import runner
from weighbridge_rulecards.formulas import BOOLEAN, INTEGER, Node, names_in, text_of

MOST = 10**9


class Names:
    def __init__(self, values: Mapping[str, int]) -> None:
        self._values = values

    def read(self, path: tuple[str, ...]) -> int:
        return self._values[".".join(path)]


def value(text: str, kind: str = INTEGER, **names: int) -> int:
    return runner(read_formula(text, kind))(Names(names))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("10 - (2 - 3)", 11),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 / -2", 3),
        ("100 / 7 * 7", 98),
        ("-3 + 5", 2),
        ("--3", 3),
        ("-(2 + 3)", -5),
        ("2 - -3", 5),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2 * 4)", 8),
        ("0", 0),
        ("-0", 0),
    ],
)
def test_a_formula_gives_a_whole_number(text: str, result: int) -> None:
    assert value(text) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 < 2", 1),
        ("2 <= 1", 0),
        ("1 != 2 and 1 == 1", 1),
        ("not 1 == 1 or 2 > 1", 1),
        ("not (1 == 1 or 2 > 1)", 0),
        ("1 > 2 or 2 > 3 or 3 >= 3", 1),
        ("1 + 1 == 2", 1),
        ("not not 1 == 1", 1),
    ],
)
def test_a_condition_holds_or_does_not(text: str, result: int) -> None:
    assert value(text, BOOLEAN) == result


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("1000000000 + 1", MOST),
        ("1000000000 * 1000000000", MOST),
        ("-1000000000 - 5", -MOST),
        ("1000000000 * 2 - 1000000000", 0),
        ("1000000000 * 1000000000 * -1", -MOST),
    ],
)
def test_every_result_is_held_within_a_thousand_million(text: str, held: int) -> None:
    assert value(text) == held


def test_what_a_name_reads_is_held_as_well() -> None:
    assert value("@x", x=10**30) == MOST


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("+2", "is expected"),
        ("1d6", "no dice"),
        ("d20 + 1", "no dice"),
        ("2d6", "no dice"),
        ("1 / 0", "other than 0"),
        ("1 / @x", "other than 0"),
        ("1 / (2)", ""),
        ("1 < 2", "wanted here"),
        ("1 +", "the end"),
        ("", "the end"),
        ("1 2", "not expected"),
        ("(1", ") is expected"),
        ("1 < 2 < 3", "two sides"),
        ("(1 < 2) + 1", "+ is given"),
        ("not 1", "not is given"),
        ("min(1)", "two or more"),
        ("min 1", "( is expected"),
        ("1.5", "nothing that"),
        ("1 = 1", "nothing that"),
        ("2 ** 3", "is expected"),
        ("1000000001", "within"),
        ("99999999999", "within"),
        ("foo", "is expected"),
        ("1;2", "nothing that"),
        ("@", "nothing that"),
        ("２", "nothing that"),
        ("(" * 17 + "1" + ")" * 17, "16 deep"),
        ("-" * 17 + "1", "16 deep"),
        ("1 + " * 124 + "1", ""),
        ("1 + " * 130 + "1", "500 characters"),
        ("1" + "+1" * 200, "around signs"),
        ("-(1 < 2)", "- is given"),
        ("1 and 2", "and is given"),
        ("min(1 < 2, 3)", "min is given"),
        ("(1 < 2) < 3", "< is given"),
        ("1 < (2 < 3)", "< is given"),
    ],
)
def test_what_is_no_formula_is_refused(text: str, says: str) -> None:
    if not says:
        read_formula(text, INTEGER)
        return
    with pytest.raises(Wrong) as wrong:
        read_formula(text, INTEGER)
    assert says in wrong.value.says


def test_sixteen_deep_and_five_hundred_characters_are_fine() -> None:
    assert value("(" * 16 + "1" + ")" * 16) == 1
    assert value("1" + "+1" * 124) == 125


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((@a))", "@a"),
        ("@a+@b", "@a + @b"),
        ("(@a*2)+1", "@a * 2 + 1"),
        ("(@a+2)*3", "(@a + 2) * 3"),
        ("@a-(@b-1)", "@a - (@b - 1)"),
        ("(@a-@b)-1", "(@a - @b) - 1"),
        ("@a+(@b+1)", "@a + (@b + 1)"),
        ("- @a", "-@a"),
        ("-(-3)", "--3"),
        ("min( @a,2 )", "min(@a, 2)"),
        ("007", "7"),
        ("-0", "0"),
        ("2*(-3)", "2 * -3"),
    ],
)
def test_canonical_text_has_single_spaces_and_no_needless_bracket(text: str, canonical: str) -> None:
    assert text_of(read_formula(text, INTEGER)) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("(@a>0)and(@b<1)", "@a > 0 and @b < 1"),
        ("@a > 0 and (@b < 1 and @c == 1)", "@a > 0 and @b < 1 and @c == 1"),
        ("(@a > 0 or @b < 1) and @c == 1", "(@a > 0 or @b < 1) and @c == 1"),
        ("not (@a > 0)", "not @a > 0"),
        ("not (@a > 0 and @b > 0)", "not (@a > 0 and @b > 0)"),
        ("(@a > 0 and @b > 0) or @c > 0", "@a > 0 and @b > 0 or @c > 0"),
    ],
)
def test_conditions_are_canonical_too(text: str, canonical: str) -> None:
    assert text_of(read_formula(text, BOOLEAN)) == canonical


NUMBERS = st.integers(0, MOST).map(str)
ATOMS = st.one_of(NUMBERS, st.sampled_from(["@a", "@b.max", "@cond.x"]))
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
        st.tuples(inner, st.integers(1, 99)).map(lambda t: f"({t[0]}) / {t[1]}"),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: f"max({', '.join(each)})"),
    ),
    max_leaves=12,
)


def reads(text: str, kind: str) -> Node | None:
    try:
        return read_formula(text, kind)
    except Wrong:
        return None


@given(FORMULAS, st.integers(-MOST, MOST), st.integers(-MOST, MOST))
def test_canonical_text_reads_as_the_same_formula_and_gives_the_same(text: str, a: int, b: int) -> None:
    tree = reads(text, INTEGER)
    if tree is None:
        return
    canonical = text_of(tree)
    again = reads(canonical, INTEGER)
    assert again is not None
    assert text_of(again) == canonical
    names = Names({"a": a, "b.max": b, "cond.x": 1})
    assert runner(again)(names) == runner(tree)(names)
    assert -MOST <= runner(tree)(names) <= MOST
    assert names_in(again) == names_in(tree)


@given(st.text(alphabet="@abc.0123456789+-*/()<>=! ,dnotrmix", max_size=60))
def test_any_text_is_a_formula_or_refused(text: str) -> None:
    for kind in (INTEGER, BOOLEAN):
        tree = reads(text, kind)
        assert tree is None or tree.kind == kind
