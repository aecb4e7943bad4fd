"""tests/tools/standins.py: what is learnt of a few probes, and types recorded anew against transformers."""

import itertools
from typing import Any

import pytest
from standin_fits import Learner, Sample, expression_of
from standin_rows import rows

np = pytest.importorskip("numpy")

_RANDOM = [(8, 2, 3, 16), (24, 4, 5, 8), (40, 2, 2, 24), (48, 8, 7, 40), (64, 4, 4, 8), (72, 6, 9, 32), (96, 2, 11, 56)]
_RANDOM += [(112, 8, 6, 48), (25, 4, 3, 72), (130, 3, 5, 64), (60, 5, 8, 88), (84, 7, 10, 104)]
KEYS = ("width", "heads", "depth", "rank")


@pytest.mark.parametrize(
    ("formula", "expression"),
    [
        ("12", "12"),
        ("3 * width", "3*width"),
        ("width + 2", "width+2"),
        ("width * rank", "width*rank"),
        ("width // heads", "width//heads"),
        ("width // heads * heads", "width//heads*heads"),
        ("(width // heads) ** 2 + 1", "width//heads*width//heads+1"),
        ("width * heads * rank", "width*heads*rank"),
        ("2 * width + rank", "2*width+rank"),
        ("width * heads + 2 * depth * rank", "width*heads+2*depth*rank"),
        ("2 * width + 2 * rank * heads + depth", "2*width+2*heads*rank+depth"),
    ],
)
def test_an_expression_is_found(formula: str, expression: str) -> None:
    columns = {key: np.array(values, dtype=float) for key, values in zip(KEYS, zip(*_RANDOM, strict=True), strict=True)}
    targets = [eval(formula, dict(zip(KEYS, values, strict=True))) for values in _RANDOM]
    found = expression_of(columns, targets)
    assert found is not None
    assert sorted(found.split("+")) == sorted(expression.split("+"))


def test_no_expression_is_made_up() -> None:
    columns = {key: np.array(values, dtype=float) for key, values in zip(KEYS, zip(*_RANDOM, strict=True), strict=True)}
    assert expression_of(columns, [17, 3, 99, 41, 5, 60, 7, 81, 23, 12, 350, 2]) is None


def sample(label: Any, **values: Any) -> Sample:
    return Sample(values, label)


def test_a_switch_decides() -> None:
    samples = [
        sample(("#|", (width,)) if biased else None, width=width, biased=biased)
        for width, biased in itertools.product((3, 5, 8, 21), (True, False))
    ]
    assert Learner(["width"], ["biased"]).decide(samples, "x") == (["biased", {"true": "width|", "false": None}], 0)


def test_what_parts_the_probes_alike_is_asked_for_together() -> None:
    samples = [
        sample(("#|", (width,)) if biased else None, width=width, biased=biased, mode="x" if biased else None)
        for width, biased in itertools.product((3, 5, 8, 21), (True, False))
    ]
    decision, left = Learner(["width"], ["biased", "mode"]).decide(samples, "x")
    assert (decision, left) == (["biased&mode", {"true&'x": "width|", "false&null": None}], 0)


def test_sizes_are_compared_where_no_switch_decides() -> None:
    samples = [
        sample(None if width == rank else ("#|", (width,)), width=width, rank=rank)
        for width, rank in itertools.product((3, 5, 8, 21), (3, 5, 8))
    ]
    decision, left = Learner(["width", "rank"], [], ["width<=>rank"]).decide(samples, "x")
    assert (decision, left) == (["width<=>rank", {"=": None, ">": "width|", "<": "width|"}], 0)


def test_too_few_probes_tell_nothing() -> None:
    samples = [sample(("#|", (2 * width,)), width=width) for width in (3, 5)]
    assert Learner(["width"], []).decide(samples, "x") == ("?", 2)


class Built:
    """A probe, as `rows` looks at it."""

    def __init__(self, tensors: Any, taken: Any) -> None:
        self.tensors, self.taken = tensors, taken


def built(**shapes: Any) -> Any:
    return Built(
        {name.replace("_", "."): (shape, "parameter") for name, shape in shapes.items()}, {"kinds": ["a", "b", "a"]}
    )


def test_names_are_folded_by_ranges_lists_and_numbers() -> None:
    even = built(layers_0_w=(4,), layers_1_w=(4,), layers_2_w=(4,))
    ((name, kind, labels),) = rows([even])
    assert (name, kind, labels) == ("layers.{}.w", "parameter", {0: ("#|#:#", (4, 0, 3))})
    mixed = built(layers_0_w=(4,), layers_1_w=(5,), layers_2_w=(4,))
    by_word = {row.labels[0] for row in rows([mixed])}
    assert by_word == {("#|kinds=a", (4,)), ("#|kinds=b", (5,))}
    steps = built(stages_0_w=(4,), stages_1_w=(8,), stages_2_w=(16,))
    assert [row.name for row in rows([steps])] == ["stages.0.w", "stages.1.w", "stages.2.w"]


@pytest.mark.long
@pytest.mark.parametrize("model_type", ["qwen2", "bert", "vit"])
def test_types_recorded_anew_are_answered_rightly(model_type: str) -> None:
    pytest.importorskip("transformers")
    from standin_judge import judged

    found = judged(model_type)
    assert found["wrong"] == 0, found["why"]
    assert found["right"] >= 14, found["why"]
