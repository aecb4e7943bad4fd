"""Sets of layer numbers, held as ranges: they behave as the set they stand for, at any size."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices

BILLION = Indices.below(10**9)


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        (Indices.below(64), "0-63"),
        (Indices.below(1), "0"),
        (Indices.of([5]), "5"),
        (Indices.of([3, 1, 2, 2]), "1-3"),
        (Indices.of([1, 2, 5, 7, 8]), "1-2,5,7-8"),
        (Indices.of(range(1, 10, 2)), "1-9 step 2"),
        (Indices.below(6).difference(Indices.of([0, 3])), "1-2,4-5"),
        (Indices.below(6).difference(Indices.of([5])), "0-4"),
        (Indices.below(6).difference(Indices.of([])), "0-5"),
        (Indices.of(range(0, 40, 2)).difference(Indices.of([2])), "0,4,6,8,10,12,14,... (19 in all)"),
        (Indices.of(range(100_002)).shifted(0), "0-100001"),
        (Indices.of([*range(100_001), 100_002]), "0-100000,100002"),
        (BILLION, "0-999999999"),
        (BILLION.difference(Indices.of([3])), "0-999999999 but 3"),
        (BILLION.difference(BILLION.difference(Indices.of([3]))), "0-999999999 but 0-999999999 but 3"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_text(indices: Indices, text: str) -> None:
    assert str(indices) == text


@pytest.mark.parametrize(
    ("number", "contained"),
    [(0, True), (10**9 - 1, True), (10**9, False), (-1, False), (10**30, False), (3, False), (4, True)],
)
def test_membership_in_a_billion_but_one(number: int, contained: bool) -> None:
    assert (number in BILLION.difference(Indices.of([3]))) is contained


@pytest.mark.parametrize("number", [Dim.named("N", 2**61), Dim.named("N", 2**61, "moe_layers")], ids=["symbol", "key"])
def test_a_size_that_knows_more_than_its_value_is_a_plain_number_here(number: int) -> None:
    assert number in Indices.below(2**62)
    assert [type(one) for one in Indices.of([number])] == [int]


@settings(deadline=None)
@given(st.sets(st.integers(0, 60)), st.lists(st.sets(st.integers(0, 60)), max_size=3), st.booleans())
def test_it_is_the_set_it_stands_for(numbers: set[int], taken: list[set[int]], whole: bool) -> None:
    base = set(range(61)) if whole else numbers
    rest, without = set(base), []
    for one in taken:
        without.append(Indices.of(rest & one))
        rest -= one
    indices = (Indices.below(61) if whole else Indices.of(numbers)).difference(*without)
    assert list(indices) == sorted(rest)
    assert indices.count == len(rest)
    assert {number for number in range(-1, 63) if number in indices} == rest
