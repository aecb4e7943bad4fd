"""Sizes that remember their formula: the number and the text agree, whatever is done to them."""

import operator
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfcount.spec.tree.dims import Dim, polynomial, portion, round_up, scaled
from hfcount.spec.tree.polynomials import Atom, atoms, evaluate, render, render_factored

N, D, F, V = (Dim.named(*pair) for pair in (("N", 3), ("d", 8), ("d_ff", 20), ("|V|", 1000)))


@pytest.mark.parametrize(
    ("dim", "value", "text"),
    [
        (D, 8, "d"),
        (D + F, 28, "d + d_ff"),
        (D + 3, 11, "d + 3"),
        (3 + D, 11, "d + 3"),
        (D - F, -12, "d - d_ff"),
        (D - D, 0, "0"),
        (D - 1, 7, "d - 1"),
        (D + D, 16, "2·d"),
        (F * D, 160, "d·d_ff"),
        (V * D * N, 24_000, "N·d·|V|"),
        (D * D, 64, "d·d"),
        (2 * D, 16, "2·d"),
        (D * 2, 16, "2·d"),
        (D * 0, 0, "0"),
        (D * 1000, 8000, "1,000·d"),
        ((D + F) * (D - F), -336, "d·d - d_ff·d_ff"),
        ((D + 1) * (D + 1), 81, "d·d + 2·d + 1"),
        (D // 3, 2, "(d/3)"),
        (F // D * 4, 8, "4·(d_ff/d)"),
    ],
    ids=str,
)
def test_arithmetic_keeps_the_number_and_its_formula(dim: int, value: int, text: str) -> None:
    assert (int(dim), evaluate(polynomial(dim)), render(polynomial(dim))) == (value, value, text)


@pytest.mark.parametrize(
    "dim",
    [D // 3, D * F // N, F // D * 4, (D + F) // 5, (D + F) // 5 + D, F // (N * D), F // (N + D)],
    ids=lambda dim: render(polynomial(dim)),
)
def test_the_text_of_a_quotient_evaluates_to_it(dim: int) -> None:
    text = render(polynomial(dim)).replace("·", "*").replace("/", "//")
    assert eval(text, {"N": 3, "d": 8, "d_ff": 20}) == int(dim)


@pytest.mark.parametrize(
    ("value", "terms"), [(0, {}), (7, {(): 7}), (-7, {(): -7}), (D, {(Atom("d", 8, "8, fixed"),): 1})], ids=str
)
def test_a_plain_number_is_a_constant(value: int, terms: dict[tuple[Atom, ...], int]) -> None:
    assert polynomial(value) == terms


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (D * F, "d·d_ff"),
        (2 * D + D * F, "d·(2 + d_ff)"),
        (2 * N * D + N * D * F + D, "N·(2·d + d·d_ff) + d"),
        (D + N * D, "N·d + d"),
        (N * D + N * F, "N·(d + d_ff)"),
        (D + F, "d + d_ff"),
        (V * D + D, "d·(|V| + 1)"),
        (D - D, "0"),
    ],
    ids=str,
)
def test_what_all_layers_share_is_written_once(dim: int, text: str) -> None:
    assert render_factored(polynomial(dim), {atom: atom.symbol for atom in atoms(polynomial(dim))}) == text


HIDDEN, HEADS = Dim.named("hidden_size", 24, "text_config.hidden_size"), Dim.named("h", 4, "num_attention_heads")
ABSENT = Dim.named("head_dim", 8, "head_dim, by default")


@pytest.mark.parametrize(
    ("dim", "source"),
    [
        (HIDDEN, "text_config.hidden_size"),
        (ABSENT, "head_dim, by default"),
        (Dim.named("d", HIDDEN), "text_config.hidden_size"),
        (Dim.named("d", 24), "24, fixed"),
        (2 * HIDDEN, "2 · text_config.hidden_size"),
        (2 * ABSENT + 1, "2 · 8 + 1"),
        (HIDDEN // HEADS, "text_config.hidden_size / num_attention_heads"),
        (100 // HEADS, "100 / num_attention_heads"),
        (HIDDEN * HEADS // (HEADS + 1), "num_attention_heads · text_config.hidden_size / (num_attention_heads + 1)"),
        ((HIDDEN + 1) // HEADS * 2, "2 · ((text_config.hidden_size + 1) / num_attention_heads)"),
        (1 - HEADS, "1 - num_attention_heads"),
        (HEADS - HEADS, "0"),
        (scaled(1.5, "expand", HIDDEN), "expand · text_config.hidden_size"),
        (round_up(HEADS, 16), "16 · ((num_attention_heads + 15) / 16)"),
    ],
    ids=str,
)
def test_a_source_is_arithmetic_over_keys(dim: Dim, source: str) -> None:
    assert dim.source == source


@pytest.mark.parametrize(
    ("dim", "value", "changed"),
    [
        (HIDDEN, 24, 30),
        (Dim.named("h_d", HIDDEN // HEADS), 6, 7),
        (HIDDEN * HEADS - HEADS, 92, 116),
        (scaled(1.5, "expand", HIDDEN + 1), 37, 46),
        (round_up(HIDDEN, 16), 32, 32),
        (HEADS, 4, 4),
    ],
    ids=str,
)
def test_a_size_is_worked_out_anew_for_another_value_of_a_key(dim: Dim, value: int, changed: int) -> None:
    assert (dim, dim.depending("text_config.hidden_size")(30)) == (value, changed)


def test_a_size_tells_the_keys_and_the_named_sizes_that_it_was_made_of() -> None:
    head_dim = Dim.named("h_d", HIDDEN // HEADS)
    assert list((head_dim * HEADS).read()) == [
        ("text_config.hidden_size / num_attention_heads", 6),
        ("text_config.hidden_size", 24),
        ("num_attention_heads", 4),
        ("num_attention_heads", 4),
    ]


def test_a_part_of_a_size_is_a_plain_number() -> None:
    assert (HIDDEN * 0.25, type(HIDDEN * 0.25)) == (6.0, float)


def test_one_value_from_two_keys_stays_two_symbols() -> None:
    both = Dim.named("d_ff", 8, "intermediate_size") + Dim.named("d_ff", 8, "moe_intermediate_size")
    assert len(atoms(both.terms)) == 2


def test_some_of_all_keep_their_symbol_when_they_are_as_many() -> None:
    some, every = Dim.named("k", 8, "top_k"), Dim.named("n", 8, "num_experts")
    assert render(polynomial(portion(every * D, some, every))) == "k·d"


K, E, C = (Dim.named(*pair) for pair in (("k", 2), ("n", 6), ("c", 1)))


@pytest.mark.parametrize(
    ("whole", "of", "some", "value", "text"),
    [
        ((E + C) * D * F, E + C, K + C, 480, "k·d·d_ff + d·d_ff·c"),
        ((E + C) * (D - F), E + C, K, -24, "k·d - k·d_ff"),
        ((E - C) * (E - C) * D, E - C, K, 80, "n·k·d - k·d·c"),
        (2 * E * D + 2 * D, 2 * E + 2, K, 16, "k·d"),
        (E * D * F, E + C, K, 274, "274"),
        (E * D + C, E, K, 16, "16"),
        ((E + C) * D, 2 * (E + C), K, 8, "8"),
        (3 * (E + C), E - C, K, 8, "8"),
        (7, E + C, K, 2, "2"),
    ],
    ids=str,
)
def test_a_factor_is_replaced_where_it_divides_the_polynomial(
    whole: int, of: int, some: int, value: int, text: str
) -> None:
    found = portion(whole, some, of)
    assert (int(found), evaluate(polynomial(found)), render(polynomial(found))) == (value, value, text)


def test_two_values_of_one_symbol_stay_two_symbols() -> None:
    wide, narrow = Dim.named("d_ff", 20), Dim.named("d_ff", 10)
    assert atoms((wide + narrow).terms) == {Atom("d_ff", 20, "20, fixed"), Atom("d_ff", 10, "10, fixed")}
    assert evaluate((wide + narrow).terms) == 30


_LEAVES = st.one_of(
    st.integers(-9, 9),
    st.builds(Dim.named, st.sampled_from(["N", "d", "d_ff", "|V|"]), st.integers(1, 2**32)),
)
_OPERATORS: list[Callable[[int, int], int]] = [operator.add, operator.sub, operator.mul]


@settings(deadline=None)
@given(
    st.recursive(_LEAVES, lambda inner: st.builds(lambda f, a, b: f(a, b), st.sampled_from(_OPERATORS), inner, inner))
)
def test_every_polynomial_evaluates_to_its_number(value: int) -> None:
    assert evaluate(polynomial(value)) == int(value)
