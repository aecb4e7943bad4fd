"""Findings: names folded into the fewest rows, messages, and a rule in each file."""

import ast
import re
from collections.abc import Iterable
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT
from tables import over

from hfcount.errors import Variant
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.folded_names import fold
from hfcount.verifier.rules import RULES, checks
from hfcount.verifier.rules.hf103_inconsistent_config import InconsistentConfig
from hfcount.verifier.rules.hf202_unexpected_tensor import UnexpectedTensor
from hfcount.verifier.rules.hf204_buffer_stored import BufferStored
from hfcount.verifier.wording import agree, by_how_much, listed, short, sides, some


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
    names = tuple(f"name{chr(97 + n % 26)}{n}" for n in range(150))
    finding = UnexpectedTensor(subject="Model", tensors=names, count=150)
    assert len(finding.rows) == 101
    assert (finding.rows[-1], finding.count) == ("... and 50 more rows", 150)
    assert "namea0, nameb1, namec2 and 147 more rows." in finding.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (agree(1, "is", "are"), "is"),
        (agree(0, "is", "are"), "are"),
        (some(["a.{0-3}", "b", "c"]), "a.{0-3}, b, c"),
        (some(list("abcde")), "a, b, c and 2 more rows"),
        (short("a\n"), "a\\n"),
        (short("a" * 200), "a" * 117 + "..."),
        (listed(["short", "b" * 80]), f"short, {'b' * 57}..."),
        (sides((12, 24)), "12×24"),
        (sides(()), "a scalar"),
        (by_how_much(4096, 1), "4,095 more"),
        (by_how_much(1, 4096), "4,095 fewer"),
    ],
)
def test_words_of_messages(text: str, words: str) -> None:
    assert text == words


def test_a_message_has_no_foreign_control_characters() -> None:
    finding = UnexpectedTensor(subject="Mo\x1bdel", tensors=("\u202e",), count=1, cause="a\x07", fix="b\x1b[2J")
    assert finding.message.isprintable()


def test_what_a_rule_says_holds_unless_a_finding_says_otherwise() -> None:
    note = BufferStored(parameters=1)
    assert (note.severity, note.fix, note.blocks) == ("note", None, False)
    error = note.replace(severity="error", fix="Do it.")
    assert (error.severity, error.fix, error.blocks, note.severity) == ("error", "Do it.", True, "note")
    with pytest.raises(TypeError, match="has no colour"):
        BufferStored(parameters=1, colour="red")  # type: ignore[call-arg] - as a misspelt fact


@over("code", RULES)
def test_a_file_has_a_rule(code: str) -> None:
    rule = RULES[code]
    assert issubclass(rule, Finding)
    assert (rule.code, rule.__module__.rpartition(".")[2]) == (code, f"{code.lower()}_{rule.name.replace('-', '_')}")
    assert rule.level in get_args(Severity)
    assert [text for text in (rule.what, rule.why, rule.remedy) if not text.endswith(".")] == []


def test_a_check_needs_something_else_it_would_run_on_every_checkpoint() -> None:
    assert {file.rpartition(".")[2][:5] for file, needs in checks() if needs} >= {"hf009", "hf010"}


def test_every_error_of_a_config_has_a_variant_that_is_explained() -> None:
    assert list(InconsistentConfig.variants) == sorted(get_args(Variant))
    raised = set[object]()
    for path in (ROOT / "hfcount").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"\b(error|cannot_run|ConfigError)\(", text):  # parsing all of them takes seconds
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute | ast.Name):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                if name in ("error", "cannot_run") and isinstance(node.args[0], ast.Constant):
                    raised.add(node.args[0].value)
                if name == "ConfigError" and len(node.args) == 1:
                    assert "variant" in [one.arg for one in node.keywords], path
    assert raised == {*get_args(Variant)}
