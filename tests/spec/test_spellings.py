"""Leaves under other names and in other layouts, with all the numbers that they stand for."""

import re
from collections.abc import Callable

import pytest

from hfcount.architectures import families
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf, joined, segment, split
from hfcount.spec.tree.name_patterns import MARK, Alike, filled
from hfcount.spec.tree.spellings import Spellings, compiled, renamed
from hfcount.verifier.wrappers import WRAPPERS


def leaf(name: str, *shape: int, **numbers: Indices) -> Leaf:
    """A leaf whose name has letters for sets of numbers."""
    segments = tuple(numbers.get(part, segment(part)) for part in name.split("."))
    count = 1
    for one in numbers.values():
        count *= int(one.count)
    return Leaf(segments, shape, "parameter", "other", count, count)


LAYERS, EXPERTS = Indices.below(3), Indices.below(4)
EACH = leaf("model.layers.L.mlp.experts.E.up.weight", 6, 8, L=LAYERS, E=EXPERTS)

# What becomes of a name, the folded name that results, numbers in it, and the name that one of its tensors had before.
RENAMED: dict[str, tuple[Leaf, Callable[[str], str], str, tuple[int, ...], str]] = {
    "nothing": (EACH, str, EACH.name, (2, 3), "model.layers.2.mlp.experts.3.up.weight"),
    "another prefix": (
        EACH,
        lambda name: name.replace("model.", ""),
        "layers.{0-2}.mlp.experts.{0-3}.up.weight",
        (1, 0),
        "model.layers.1.mlp.experts.0.up.weight",
    ),
    "the numbers change places": (
        EACH,
        lambda name: ".".join(name.split(".")[place] for place in (0, 1, 5, 3, 4, 2, 6, 7)),
        "model.layers.{0-3}.mlp.experts.{0-2}.up.weight",
        (3, 2),
        "model.layers.2.mlp.experts.3.up.weight",
    ),
    "a number of its own becomes a word": (
        leaf("proj.0.weight", 2),
        lambda name: name.replace("proj.0", "proj.first"),
        "proj.first.weight",
        (),
        "proj.0.weight",
    ),
    "a word becomes a number": (
        leaf("blocks.B.proj.weight", 2, B=LAYERS),
        lambda name: name.replace("proj", "list.7"),
        "blocks.{0-2}.list.7.weight",
        (1, 7),
        "blocks.1.proj.weight",
    ),
    "only one layer": (leaf("layers.L.weight", 2, L=Indices.of([5])), str, "layers.5.weight", (5,), "layers.5.weight"),
}


@pytest.mark.parametrize(("one", "rename", "name", "numbers", "before"), RENAMED.values(), ids=RENAMED)
def test_a_leaf_under_another_name(
    one: Leaf, rename: Callable[[str], str], name: str, numbers: tuple[int, ...], before: str
) -> None:
    other, old = renamed(one, rename)
    assert (other.name, other.count, other.shape) == (name, one.count, one.shape)
    assert old(numbers) == before
    assert before in one.names()


def _swaps(merged: dict[str, tuple[str, ...]], *leaves: Leaf) -> list[tuple[list[str], dict[str, tuple[int, ...]]]]:
    found = Spellings(merged=merged).swaps(leaves)
    for swap in Spellings(merged=merged).swaps(leaves):
        assert sum(one.elements for one in swap.described) == sum(one.elements for one in swap.stored)
    return [([one.name for one in swap.described], {one.name: one.shape for one in swap.stored}) for swap in found]


GATE = leaf("model.layers.L.mlp.experts.E.gate.weight", 6, 8, L=LAYERS, E=EXPERTS)
PACKED = {"experts.both": ("experts.*.gate.weight", "experts.*.up.weight")}
FUSED = {"qkv.weight": ("q.weight", "k.weight", "v.weight")}
BOTH = "model.layers.{0-2}.mlp.experts.both"


def test_experts_in_one_tensor() -> None:
    assert _swaps(PACKED, EACH, GATE) == [([GATE.name, EACH.name], {BOTH: (4, 12, 8)})]


def test_one_tensor_as_experts() -> None:
    whole = leaf("model.layers.L.mlp.experts.both", 4, 12, 8, L=LAYERS)
    assert _swaps(PACKED, whole) == [([BOTH], {GATE.name: (6, 8), EACH.name: (6, 8)})]


def test_projections_of_different_widths_in_one() -> None:
    apart = [leaf(f"layers.L.{name}.weight", rows, 8, L=LAYERS) for name, rows in (("q", 16), ("k", 4), ("v", 4))]
    assert _swaps(FUSED, *apart) == [([one.name for one in apart], {"layers.{0-2}.qkv.weight": (24, 8)})]


@pytest.mark.parametrize(
    "leaves",
    [[EACH], [leaf("qkv.weight", 25, 8)], [leaf("qkv.weight")], [leaf("q.weight", 2), leaf("k.weight", 2)], []],
    ids=["one of two", "rows that cannot be shared", "a number", "two of three", "nothing"],
)
def test_what_has_no_other_layout(leaves: list[Leaf]) -> None:
    assert _swaps(PACKED | FUSED, *leaves) == []


def test_a_billion_layers_cost_no_more_than_one() -> None:
    many = Indices.below(10**9)
    apart = [leaf(f"layers.L.mlp.experts.E.{name}.weight", 6, 8, L=many, E=many) for name in ("gate", "up")]
    assert _swaps(PACKED, *apart) == [
        ([one.name for one in apart], {f"layers.{{{many}}}.mlp.experts.both": (10**9, 12, 8)})
    ]
    other, old = renamed(apart[0], lambda name: name.replace("mlp.", ""))
    assert (other.count, old((10**9 - 1, 5))) == (10**18, f"layers.{10**9 - 1}.mlp.experts.5.gate.weight")


def test_rules_apply_in_turn_and_once_each() -> None:
    rules = Spellings(compiled({r"^a\.": "b.a.", r"^b\.": "c."}))
    assert rules.common("a.a.x") == "c.a.a.x"
    assert rules.common("LayerNorm.gamma.LayerNorm.gamma") == "LayerNorm.gamma.LayerNorm.weight"


def test_no_pattern_tells_numbers_of_two_digits_or_more_apart() -> None:
    """Names that differ in these alone are read alike."""
    patterns = [pattern for one in families.everyone() for pattern in one.spellings]
    patterns += [pattern for one in families.everyone() for rules in one.headed.values() for pattern in rules]
    patterns += [pattern for wrapper in WRAPPERS for pattern in (wrapper.adds, wrapper.owns)]
    longer = re.compile(r"(?<![\w\\])\d\d|\{\d|\\d(?![+*)])\\d")
    assert len(patterns) > 500
    assert [one for one in patterns if longer.search(re.sub(r"\[\d+\]", "0", one))] == []


def test_names_that_differ_in_long_numbers_alone_are_worked_out_once() -> None:
    asked: list[str] = []

    def work(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        asked.append(name)
        return split(name.removeprefix("a."))

    alike = Alike(work)
    names = ["a.3.b", "a.12.b", "a.777.b", f"a.{MARK + 5}.b", "a.3.b", "a.12.4.c", "a.13.4.c"]
    made = [joined(text, filled(marked, numbers)) for (text, marked), numbers in (alike.of(name) for name in names)]
    assert made == [name.removeprefix("a.") for name in names]
    assert len(asked) == 3
