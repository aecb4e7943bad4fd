"""Stored tensors are folded into rows, and compared with leaves row by row as they would be name by name."""

from itertools import product

import pytest
from build import Json, config
from tables import over

import hfcount
from hfcount.spec.tree.indices import Indices
from hfcount.verifier.causes.stored_rows import Difference, Row, StoredRows, compare
from hfcount.verifier.causes.whole_model import wholes

LLAMA, MOE = config("llama"), config("qwen3_moe")


def held(values: Json, *without: str) -> dict[str, tuple[int, ...] | None]:
    """The shapes that a config describes, but for names with one of these in them."""
    tensors = hfcount.blueprint(values).tensors()
    return {one.name: tuple(map(int, one.shape)) for one in tensors if not any(part in one.name for part in without)}


def difference(says: Json, saved: Json, *without: str) -> Difference:
    return compare(hfcount.blueprint(says).leaves, StoredRows.of(held(saved, *without)))


@pytest.mark.parametrize(
    ("says", "saved", "without", "counts"),
    [
        (LLAMA, LLAMA, (), (0, 0, 0)),
        (LLAMA, LLAMA, ("model.norm", "layers.1."), (10, 0, 0)),
        (LLAMA, config("llama", num_hidden_layers=5), (), (0, 18, 0)),
        (LLAMA, config("llama", intermediate_size=7), (), (0, 0, 9)),
        (MOE, config("qwen3_moe", num_experts=6), (), (3 * 2 * 3, 0, 3)),
        (MOE, config("qwen3_moe", num_experts=9), ("layers.1.mlp.gate.",), (1, 3 * 3, 2)),
        (LLAMA, config("llama", attention_bias=True), (), (0, 12, 0)),
    ],
)
def test_what_differs_is_counted(
    says: Json, saved: Json, without: tuple[str, ...], counts: tuple[int, int, int]
) -> None:
    found = difference(says, saved, *without)
    assert found.counts == counts
    places = [how for how, _, _ in found.places()]
    assert tuple(map(places.count, ("missing", "unexpected", "misshapen"))) == counts


@pytest.mark.parametrize(
    "without", [(), ("layers.1.",), ("experts.2.",), ("layers.0.mlp.experts.1.up", "layers.2.self")]
)
@pytest.mark.parametrize(
    "says", [MOE, config("qwen3_moe", num_experts=9), config("qwen3_moe", moe_intermediate_size=7)]
)
def test_the_layers_that_differ_are_those_of_all_places(says: Json, without: tuple[str, ...]) -> None:
    for a, b in ((says, MOE), (MOE, says)):
        found = difference(a, b, *without)
        assert found.layers == {numbers[0] for _, _, numbers in found.places() if numbers}


def test_a_place_is_held_against_the_rows_of_its_layer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every layer lacks another expert, so that each is a row of its own.
    wide = config("qwen3_moe", num_hidden_layers=8, num_experts=8)
    asked = []
    contains = Row.__contains__
    monkeypatch.setattr(Row, "__contains__", lambda row, place: asked.append(place) or contains(row, place))
    found = difference(wide, wide, *(f"layers.{layer}.mlp.experts.{layer}." for layer in range(8)))
    assert len([*found.places()]) == 8 * 3
    assert len(asked) <= 8 * 8 * 3


FEWER, MORE = config("llama", num_hidden_layers=2), config("llama", num_hidden_layers=4)
WIDER, BIASED = config("llama", intermediate_size=7), config("llama", attention_bias=True)


SAVED = {"same": LLAMA, "fewer": FEWER, "more": MORE, "wider": WIDER, "biased": BIASED}
ALL = SAVED | {"sparse": MOE}


@over(
    ("saved", "one", "other"),
    product(SAVED.values(), ALL.values(), ALL.values()),
    ids=map("-".join, product(SAVED, ALL, ALL)),
)
def test_one_difference_is_within_another_as_its_tensors_are(saved: Json, one: Json, other: Json) -> None:
    left, right = difference(one, saved, "layers.1."), difference(other, saved, "layers.1.")
    assert left.within(right) == (set(left.places()) <= set(right.places()))


def test_numbers_of_layers_and_experts() -> None:
    stored = StoredRows.of(held(MOE, "experts.3.", "layers.1.mlp.experts.5."))
    assert stored.numbers((".model.layers",)) == {(): {0, 1, 2}}
    experts = stored.numbers((".model.layers", ".mlp.experts"))
    assert experts == {(0,): {0, 1, 2, 4, 5, 6, 7}, (1,): {0, 1, 2, 4, 6, 7}, (2,): {0, 1, 2, 4, 5, 6, 7}}
    assert stored.numbers((".elsewhere",)) == {}


def test_layers_with_other_numbers() -> None:
    late = StoredRows.of({name.replace("layers.2.", "layers.7."): shape for name, shape in held(LLAMA).items()})
    assert compare(hfcount.blueprint(LLAMA).leaves, late).counts == (9, 9, 0)
    again = late.renumbered((".model.layers",), [0, 1, 7])
    assert compare(hfcount.blueprint(LLAMA).leaves, again).counts == (0, 0, 0)


def test_layers_without_end_cost_nothing() -> None:
    endless = hfcount.blueprint(config("llama", num_hidden_layers=10**18))
    assert compare(endless.leaves, StoredRows.of(held(LLAMA))).counts == (9 * (10**18 - 3), 0, 0)


@pytest.mark.parametrize(
    ("without", "rows"),
    [
        (("model.norm",), ["model.norm.weight"]),
        (("layers.1.",), ["model.layers.1.* (33 tensors)"]),
        (("layers.1.", "layers.2.", "lm_head"), ["lm_head.weight", "model.layers.{1-2}.* (66 tensors)"]),
        (("self_attn",), [f"model.layers.{{0-2}}.self_attn.{one}.weight" for one in ("q_proj", "k_proj", "v_proj")]),
        (("model",), ["model.* (101 tensors)"]),
        (("experts.7",), ["model.layers.{0-2}.mlp.experts.7.gate_proj.weight"]),
    ],
)
def test_whole_parts_and_layers_are_one_row(without: tuple[str, ...], rows: list[str]) -> None:
    stored = StoredRows.of(held(MOE, *without))
    missing = compare(hfcount.blueprint(MOE).leaves, stored).places()
    assert wholes(((text, numbers) for _, text, numbers in missing), stored).rows()[: len(rows)] == rows


def test_a_row_is_named_and_met_by_its_numbers() -> None:
    ((row,),) = (rows for text, rows in StoredRows.of(held(LLAMA)).rows.items() if text[-1] == ".mlp.up_proj.weight")
    assert (row.name, row.count, row.shape) == ("model.layers.{0-2}.mlp.up_proj.weight", 3, (20, 12))
    assert row.meet([Indices.of([2, 3])]).name == "model.layers.2.mlp.up_proj.weight"
    assert ((1,) in row, (3,) in row) == (True, False)
