"""tests/tools/standins.py: what is learnt of a few probes, and types recorded anew against transformers."""

import itertools
from typing import Any

import pytest
from standin_decisions import Decided, Learner
from standin_effects import Effects
from standin_fits import Sample, Values, expression_of
from standin_rows import literal, rows
from standins import text

from hfcount.architectures.stand_ins import StandIn

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
        ("width + heads + depth + rank", "width+heads+depth+rank"),
        ("1 + (width * rank) // heads ** 2 + depth", "width^rank//heads^heads+depth+1"),
        ("width + 2 * (width // heads) * depth", "width+2*width//heads*depth"),
        ("(width // heads) * (rank // heads) + depth + 1", "width//heads*rank//heads+depth+1"),
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


@pytest.mark.parametrize(
    ("formula", "expression"), [("width * rank", "width*rank"), ("width // heads", "width//heads")]
)
def test_an_expression_holds_for_sizes_of_0_too(formula: str, expression: str) -> None:
    probes = [*_RANDOM, (0, 4, 3, 16)]
    columns = {key: np.array(values, dtype=float) for key, values in zip(KEYS, zip(*probes, strict=True), strict=True)}
    targets = [eval(formula, dict(zip(KEYS, values, strict=True))) for values in probes]
    assert expression_of(columns, targets) == expression


def test_no_expression_takes_a_fraction_of_what_was_rounded_down() -> None:
    widths = [9, 13, 22, 35, 47, 61]
    columns = {"width": np.array(widths, dtype=float)}
    assert expression_of(columns, [width // 2 * 2 for width in widths]) == "2*width//2"
    assert expression_of({"width": np.array([8.0, 24, 40, 56])}, [3, 9, 15, 21]) == "3*width/8"


@pytest.mark.parametrize("factor", [4_000_000, 12_345])
def test_a_number_that_no_code_has_is_before_no_key(factor: int) -> None:
    columns = {"epsilon": np.array([1e-5, 2e-5, 4e-5, 8e-5, 16e-5])}
    assert expression_of(columns, [factor * share for share in (1, 2, 4, 8, 16)]) is None


def test_keys_that_are_not_finite_are_in_no_expression() -> None:
    samples = [sample(("#|", (3 * width,)), width=width, limit=float("inf")) for width in (3, 5, 8, 21)]
    assert Learner(["width", "limit"], []).decide(samples, "x").decision == "3*width|"


def sample(label: Any, **values: Any) -> Sample:
    return Sample(values, label)


def test_a_switch_decides() -> None:
    samples = [
        sample(("#|", (width,)) if biased else None, width=width, biased=biased)
        for width, biased in itertools.product((3, 5, 8, 21), (True, False))
    ]
    decision = ["biased", {"true": "width|", "false": None}]
    assert Learner(["width"], ["biased"]).decide(samples, "x") == Decided(decision, [], [])


def test_what_a_class_makes_of_several_keys_decides_where_no_key_does() -> None:
    words = ("plain", "gated-x", "gated-y", "other")
    samples = [
        sample(("#|", (width,)) if word[:5] == "gated" else None, width=width, word=word, gated=word[:5] == "gated")
        for width, word in itertools.product((3, 5, 8, 21), words)
    ]
    samples += [sample(("#|", (width,)), width=width, word="plain", gated=True) for width in (3, 5, 8, 21)]
    found = Learner(["width"], ["word"], ["gated"]).decide(samples, "x")
    assert found == Decided(["gated", {"true": "width|", "false": None}], [], [])


def test_a_rule_that_answers_is_preferred_to_one_that_does_not() -> None:
    samples = [sample(("#|", (inner,)), width=width, inner=inner) for width, inner in ((3, 5), (5, 7), (8, 9), (21, 2))]
    samples += [sample(("#|", (4 * width,)), width=width, inner=None) for width in (3, 5, 8, 21)]
    decision = ["inner", {"+": "inner|", "null": "4*width|"}]
    assert Learner(["width", "inner"], ["inner"]).decide(samples, "x") == Decided(decision, [], [])


def test_what_parts_the_probes_alike_is_asked_for_together() -> None:
    samples = [
        sample(("#|", (width,)) if biased else None, width=width, biased=biased, mode="x" if biased else None)
        for width, biased in itertools.product((3, 5, 8, 21), (True, False))
    ]
    decision = ["biased&mode", {"true&'x": "width|", "false&null": None}]
    assert Learner(["width"], ["biased", "mode"]).decide(samples, "x") == Decided(decision, [], [])


def test_sizes_are_compared_where_no_switch_decides() -> None:
    samples = [
        sample(None if width == rank else ("#|", (width,)), width=width, rank=rank)
        for width, rank in itertools.product((3, 5, 8, 21), (3, 5, 8))
    ]
    decision = ["width<=>rank", {"=": None, ">": "width|", "<": "width|"}]
    assert Learner(["width", "rank"], [], compared=["width<=>rank"]).decide(samples, "x") == Decided(decision, [], [])


def test_what_no_rule_holds_for_is_left_to_few_states() -> None:
    """Weights of one activation that some layers lack leave all others decided."""
    random = itertools.cycle((3, 17, 5, 29, 11))
    samples = [
        sample(("#|", (next(random),)) if act == "prelu" and fast else None, fast=fast, act=act, mode=mode, width=width)
        for width, fast, act, mode in itertools.product((3, 5, 8, 21), (True, False), ("silu", "prelu", "gelu"), "xyz")
    ]
    feature, by_state = Learner(["width"], ["fast", "mode", "act"]).decide(samples, "x").decision
    assert (feature, by_state["'silu"], by_state["'gelu"]) == ("act", None, None)
    assert by_state["'prelu"] == ["fast", {"true": "?", "false": None}]


def test_a_size_is_compared_with_1() -> None:
    samples = [
        sample(("#|", (width,)) if step == 1 else ("?", ()), width=width, step=step)
        for width, step in itertools.product((3, 5, 8, 21, 22, 30, 41, 57), (1, 2, 3))
    ]
    found = Learner(["width", "step"], [], compared=["step<=>1"]).decide(samples, "x")
    assert found.decision == ["step<=>1", {"=": "width|", ">": "?"}]
    few = [one for one in samples if one.values["width"] < 22]
    found = Learner(["width", "step"], [], compared=["step<=>1"]).decide(few, "x")
    assert found.decision == ["step<=>1", {"=": "?", ">": "?"}], "where much is left open, a few probes are too few"


def test_a_rule_may_hold_for_the_usual_small_numbers_alone() -> None:
    """A stack of convolutions follows no rule of this kind, but does where its kernels are the usual ones."""
    odd = itertools.cycle((7, 2, 31, 11, 5))
    samples = [
        sample(("#|", (2 * width if kernel == 3 else next(odd),)), width=width, kernel=kernel)
        for width, kernel in itertools.product((3, 5, 8, 21, 22, 30, 41, 57), (3, 3, 1, 2, 5))
    ]
    found = Learner(["width", "kernel"], [], usual={"kernel": 3}).decide(samples, "x")
    assert found.decision == ["kernel<=>3", {"=": "2*width|", "<": "?", ">": "?"}]


def test_the_end_of_a_range_is_that_of_names_that_begin_alike() -> None:
    """Where the layers of two parts are as many by chance, what holds for tensors of most probes is taken."""
    learner = Learner(["decoder", "encoder"], ["act"])
    many = [
        sample(("|#:#", (0, encoder)), act="gelu", decoder=decoder, encoder=encoder)
        for decoder, encoder in itertools.product((2, 3, 5, 8), (1, 4, 6, 7))
    ]
    assert learner.decide(many, ("encoder.{}.weight", "linear")).decision == "|0:encoder"
    few = [sample(("|#:#", (0, layers)), act="prelu", decoder=layers, encoder=layers) for layers in (2, 3, 5, 8)]
    assert learner.decide(few, ("encoder.{}.act.weight", "parameter")).decision == "|0:encoder"
    assert learner.decide(few, ("other.{}.act.weight", "parameter")).decision == "|0:decoder"


def test_a_rule_ends_at_the_number_from_which_on_none_holds() -> None:
    """Of the greater of two sizes the rule for the usual ones is known."""
    odd = itertools.cycle((101, 77, 303, 59, 211))
    samples = [
        sample(("#|", (2 * width if least < 40 else next(odd),)), width=width, least=least, mode=mode)
        for width, mode, least in itertools.product((3, 5, 8, 21, 22, 30, 41), "xy", (1, 4, 8, 24, 40))
        if mode == "y" or least < 24
    ]
    decision = ["least<=>24", {"<": "2*width|", "=": "2*width|", ">": "?"}]
    assert Learner(["width", "least"], ["mode"]).decide(samples, "x").decision == decision


@pytest.mark.parametrize(
    ("probed", "decision"),
    [
        ((1, 2, 3, 4, 5, 6, 7), ["many<=>4", {"<": None, "=": "width|", ">": "width|"}]),
        ((1, 2, 3, 5, 6, 7, 8), ["many<=>5", {"<": "?", "=": "width|", ">": "width|"}]),  # of 4 nothing is known
    ],
)
def test_there_is_nothing_up_to_a_number_that_was_probed(probed: Any, decision: Any) -> None:
    samples = [
        sample(("#|", (width,)) if many > 3 else None, width=width, many=many)
        for width, many in itertools.product((3, 5, 8, 21, 22, 30, 41, 57), probed)
    ]
    assert Learner(["width", "many"], []).decide(samples, "x").decision == decision


def test_too_few_probes_tell_nothing() -> None:
    samples = [sample(("#|", (2 * width,)), width=width) for width in (3, 5)]
    assert Learner(["width"], []).decide(samples, "x") == Decided("?", [0, 1], [0, 1])


class Built:
    """A probe, as `rows` and `Effects` look at it."""

    def __init__(self, tensors: Any, taken: Any) -> None:
        self.tensors, self.taken = tensors, taken
        self.given = taken


class Hashes:
    """What `Effects` asks a builder for."""

    def hashes(self, probe: Any) -> dict[str, int]:
        numbers = {key: hash(f"{key}={value}") for key, value in probe.given.items()}
        return {**numbers, "*": sum(numbers.values())}


def test_keys_bear_on_what_changes_with_them_alone() -> None:
    small, large = {"w": ((4,), "parameter")}, {"w": ((8,), "parameter")}
    settings = [(4, True, 1), (4, False, 1), (8, True, 1), (8, False, 2)]  # the last two differ in two keys
    probes: Any = [
        Built(small if width == 4 else large, {"width": width, "fast": fast, "depth": depth, "twice": 2 * width})
        for width, fast, depth in settings
    ]
    builder: Any = Hashes()
    effects = Effects(probes, builder, ["width", "fast", "depth"], probes[0], Values())
    assert {key: [group.along for group in groups] for key, groups in effects.groups.items()} == {}
    for probe in probes:  # what a class makes of a key is not given
        probe.given = {key: value for key, value in probe.given.items() if key != "twice"}
    effects = Effects(probes, builder, ["width", "fast", "depth"], probes[0], Values())
    assert {key: [group.along for group in groups] for key, groups in effects.groups.items()} == {
        "width": [{"width", "twice"}]
    }


def test_how_far_a_layer_is_within_a_step_is_compared_with_1() -> None:
    settings = [(1, 4), (2, 4), (1, 8), (2, 8)]
    probes: Any = [
        Built({"w": ((width, step), "parameter")}, {"width": width, "sparse_step": step}) for step, width in settings
    ]
    builder: Any = Hashes()
    learner = Effects(probes, builder, ["width", "sparse_step"], probes[0], Values()).learner(None, braces=1)
    assert learner is not None
    assert "sparse_step!0m<=>1" in learner.compared
    assert "width!0m<=>1" not in learner.compared


def test_names_with_the_same_tensors_are_one_row_of_a_record() -> None:
    rows_made = [("a.w", "linear", "width|"), ("b.w", "linear", "width|"), ("a.b", "parameter", "width|")]
    empty: dict[str, Any] = {key: {} for key in ("names", "spans", "states", "computed")}
    known = StandIn(
        model_type="odd", architecture="Odd", version="", defaults={"width": 4}, declared="", rows=rows_made, **empty
    )
    assert '["a.w b.w","linear","width|"],' in text([known])


def built(**shapes: Any) -> Any:
    return Built(
        {name.replace("_", "."): (shape, "parameter") for name, shape in shapes.items()}, {"kinds": ["a", "b", "a"]}
    )


def test_names_are_folded_by_ranges_lists_and_numbers() -> None:
    even = built(layers_0_w=(4,), layers_1_w=(4,), layers_2_w=(4,))
    (row,) = rows([even])
    assert row[:3] == ("layers.{}.w", "parameter", {0: ("#|#:#", (4, 0, 3))})
    mixed = built(layers_0_w=(4,), layers_1_w=(5,), layers_2_w=(4,))
    by_word = {row.labels[0] for row in rows([mixed])}
    assert by_word == {("#|kinds=a", (4,)), ("#|kinds=b", (5,))}
    steps = built(stages_0_w=(4,), stages_1_w=(8,), stages_2_w=(16,))
    (row,) = rows([steps])
    assert (row.name, row.at) == ("stages.{}.w", (0,))
    assert row.each == {0: {(0,): ("#|", (4,)), (1,): ("#|", (8,)), (2,): ("#|", (16,))}}
    assert [one.name for one in literal(row, [steps], 0)] == ["stages.0.w", "stages.1.w", "stages.2.w"]


@pytest.mark.long
@pytest.mark.parametrize("model_type", ["qwen2", "bert", "vit"])
def test_types_recorded_anew_are_answered_rightly(model_type: str) -> None:
    pytest.importorskip("transformers")
    from standin_judge import judged

    found = judged(model_type)
    assert found["wrong"] == 0, found["why"]
    assert found["right"] >= 14, found["why"]


def test_a_share_is_rounded_down_once() -> None:
    """Where a third of a half is as much in all probes, the sixth is taken: it is a whole number elsewhere, too."""
    widths = [768, 769, 192, 1536, 2304, 4608]
    assert expression_of({"width": np.array(widths, dtype=float)}, [width // 6 for width in widths]) == "width//6"
