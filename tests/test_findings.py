"""Folding names: the fewest rows, and never a name gained or lost."""

from collections.abc import Iterable
from itertools import product

import pytest
from hfcount.verifier.messages import render
from hypothesis import given, settings
from hypothesis import strategies as st

from hfcount.verifier.findings import Outcome
from hfcount.verifier.folding import fold


def _names(template: str, *ranges: Iterable[int]) -> list[str]:
    return [template.format(*numbers) for numbers in product(*ranges)]


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ([], []),
        (["lm_head.weight"], ["lm_head.weight"]),
        (["b", "a"], ["b", "a"]),
        (["a.5.w"], ["a.5.w"]),
        (_names("a.{}.w", range(3)), ["a.{0-2}.w"]),
        (_names("a.{}.w", [7, 0, 1, 3]), ["a.{0-1,3,7}.w"]),
        (_names("a.{}.w", range(3)) + _names("a.{}.b", range(2)), ["a.{0-2}.w", "a.{0-1}.b"]),
        (_names("a.{}.e.{}.w", range(3), range(8)), ["a.{0-2}.e.{0-7}.w"]),
        ([*_names("a.{}.e.{}.w", [0, 1], range(8)), "a.2.e.5.w"], ["a.{0-1}.e.{0-7}.w", "a.2.e.5.w"]),
        (_names("{}", range(2)), ["{0-1}"]),
        (["a.01.w", "a.1.w"], ["a.01.w", "a.1.w"]),
        (["a.0.w", "a.0"], ["a.0.w", "a.0"]),
        (["", ".", "a..b"], ["", ".", "a..b"]),
    ],
    ids=(
        "none plain order-kept one-index range gaps two-templates product ragged-product bare-index leading-zero"
        " lengths empty-segments"
    ).split(),
)
def test_fold(names: list[str], rows: list[str]) -> None:
    assert fold(names) == rows


def test_a_name_of_nothing_but_indices_folds() -> None:
    name = ".".join("0" * 500)
    assert fold([name]) == [name]


_PLACES = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1)


@settings(deadline=None)
@given(_PLACES)
def test_rows_stand_for_exactly_the_names_that_were_folded(places: set[tuple[int, int]]) -> None:
    rows = fold(f"a.{first}.b.{second}" for first, second in sorted(places))
    unfolded = [pair for row in rows for pair in product(*(_unfold(row.split(".")[place]) for place in (1, 3)))]
    assert sorted(unfolded) == sorted(places)


def _unfold(segment: str) -> list[int]:
    spans = [span.partition("-") for span in segment.strip("{}").split(",")]
    return [number for low, _, high in spans for number in range(int(low), int(high or low) + 1)]


def test_a_finding_lists_a_hundred_rows_and_counts_the_others() -> None:
    outcome = Outcome()
    outcome.report("HF202", "Model", tensors=[f"name{chr(97 + n % 26)}{n}" for n in range(150)], count=150)
    (finding,) = outcome.findings
    assert len(finding.rows) == 101
    assert (finding.rows[-1], finding.count) == ("... and 50 more rows", 150)
    assert "namea0, nameb1, namec2 and 147 more rows." in finding.message


@pytest.mark.parametrize(
    ("template", "facts", "message"),
    [
        ("{count:tensor} of {size:,}", {"count": 1, "size": 4096}, "1 tensor of 4,096"),
        ("{count:tensor} {count:is|are} there", {"count": 2000}, "2,000 tensors are there"),
        ("{names}", {"names": ["a.{0-3}", "b", "c"]}, "a.{0-3}, b, c"),
        ("{names}", {"names": list("abcde")}, "a, b, c and 2 more rows"),
        ("{names:such}", {"names": ["a\n", "b"]}, "a\\n"),
        ("{names:5}", {"names": ["short", "long enough"]}, "short, lo..."),
        ("{name:5}", {"name": "long enough"}, "lo..."),
        ("{name}", {"name": "{count}[x]"}, "{count}[x]"),
        ("{shape:shape}", {"shape": (12, 24)}, "12×24"),
        ("{shape:shape}", {"shape": ()}, "a scalar"),
        ("a[ and {b}][ or {c}]", {"b": "b", "c": None}, "a and b"),
        ("a[ and {b} in {c}]", {"b": "b"}, "a"),
        ("a[yes? b][no? c][gone? d]", {"yes": True, "no": False}, "a b"),
        ("a[zero? is {zero:,}]", {"zero": 0}, "a"),
        ("a[ is {zero:,}]", {"zero": 0}, "a is 0"),
        ("a:[; {b}][; {c}].", {"b": "b", "c": "c"}, "a: b; c."),
        ("a:[; {b}][; {c}].", {"c": "c"}, "a: c."),
    ],
)
def test_a_template_says_the_facts_that_are_there(template: str, facts: dict[str, object], message: str) -> None:
    assert render(template, facts) == message


def test_a_template_needs_what_is_outside_brackets() -> None:
    with pytest.raises(KeyError):
        render("{count:tensor}", {})
