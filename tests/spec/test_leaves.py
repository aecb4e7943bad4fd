"""The tree: nodes unfold to leaves, leaves to names, and names find their leaf again."""

from collections.abc import Callable

import pytest

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Finder, Leaf, is_index, leaves
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, Tied, block, buffer, obsolete

NINE = Tensor((3, 3))


def _repeat(count: int, body: Node, active: int | None = None) -> Repeat:
    return Repeat(Indices.below(count), body, active)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (NINE, [("a", (3, 3), "parameter", "other", 1, 1)]),
        (buffer(4, component="router"), [("a", (4,), "buffer", "router", 1, 1)]),
        (obsolete(4), [("a", (4,), "legacy", "other", 1, 1)]),
        (buffer(), [("a", (), "buffer", "other", 1, 1)]),
        (Linear(2, 5), [("a.weight", (5, 2), "parameter", "other", 1, 1)]),
        (
            Linear(2, 5, bias=True, component="lm_head"),
            [("a.weight", (5, 2), "parameter", "lm_head", 1, 1), ("a.bias", (5,), "parameter", "lm_head", 1, 1)],
        ),
        (Tied("x.weight", (7, 2), "lm_head"), [("a.weight", (7, 2), "tied", "lm_head", 1, 1)]),
        (_repeat(3, NINE), [("a.{0-2}", (3, 3), "parameter", "other", 3, 3)]),
        (_repeat(8, NINE, active=2), [("a.{0-7}", (3, 3), "parameter", "other", 8, 2)]),
        (
            _repeat(3, block(experts=_repeat(8, block("experts", w=NINE), active=2))),
            [("a.{0-2}.experts.{0-7}.w", (3, 3), "parameter", "experts", 24, 6)],
        ),
        (
            (Repeat(Indices.of([0, 2]), block(b=NINE)), Repeat(Indices.of([1]), block(c=NINE))),
            [("a.{0,2}.b", (3, 3), "parameter", "other", 2, 2), ("a.1.c", (3, 3), "parameter", "other", 1, 1)],
        ),
        (block("norm", b=NINE, c=None), [("a.b", (3, 3), "parameter", "norm", 1, 1)]),
        (block(), []),
    ],
    ids="tensor buffer obsolete scalar linear bias tied repeat active nested alternatives absent-part empty".split(),
)
def test_nodes_unfold_to_leaves(node: Node, expected: list[tuple[object, ...]]) -> None:
    found = [(one.name, one.shape, one.label, one.component, one.count, one.active) for one in leaves(block(a=node))]
    assert found == expected


@pytest.mark.parametrize(
    ("node", "component", "axes", "label"),
    [
        (NINE, "mlp", ("parameter", "required", "model"), "parameter"),
        (buffer(3), "mlp", ("buffer", "required", "model"), "buffer"),
        (obsolete(3), "mlp", ("buffer", "obsolete", "model"), "legacy"),
        (Tied("x.weight", (7, 2)), "mlp", ("parameter", "optional", "model"), "tied"),
        (NINE, "mtp", ("parameter", "optional", "prediction"), "auxiliary"),
        (buffer(3), "mtp", ("buffer", "optional", "prediction"), "auxiliary buffer"),
        (obsolete(3), "mtp", ("buffer", "obsolete", "model"), "legacy"),
        (Tied("x.weight", (7, 2)), "mtp", ("parameter", "optional", "model"), "tied"),
        (Linear(2, 5), "mtp", ("parameter", "optional", "prediction"), "auxiliary"),
    ],
)
def test_kind_presence_and_part_make_one_word(
    node: Node, component: Component, axes: tuple[str, str, str], label: str
) -> None:
    (leaf,) = leaves(block(component, a=node))
    assert ((leaf.kind, leaf.presence, leaf.part), leaf.label) == (axes, label)
    assert leaf.counted == (label == "parameter")


@pytest.mark.parametrize(
    ("tree", "role"),
    [
        (block(a=block("attention", q_norm=block("norm", weight=NINE))), "attention"),
        (block(a=block(q_norm=block("norm", weight=Tensor((3,), component="other")))), "norm"),
        (block(a=block(weight=NINE)), "other"),
    ],
    ids=["outer-of-two", "outer-block-over-tensor", "none-is-other"],
)
def test_the_outermost_role_names_the_component(tree: Block, role: str) -> None:
    assert [leaf.component for leaf in leaves(tree)] == [role]


@pytest.mark.parametrize(
    ("leaf", "size", "elements"),
    [
        (Leaf(("a",), (), "parameter", "other", 1, 1), 1, 1),
        (Leaf(("a",), (3, 4), "parameter", "other", 5, 5), 12, 60),
        (Leaf(("a",), (0, 4), "parameter", "other", 5, 5), 0, 0),
    ],
    ids=["scalar", "matrix", "empty"],
)
def test_elements(leaf: Leaf, size: int, elements: int) -> None:
    assert (leaf.size, leaf.elements, int(leaf.formula)) == (size, elements, elements)


@pytest.mark.parametrize(
    ("segments", "names"),
    [
        (("a", "b"), ["a.b"]),
        (("a", Indices.below(2), "b"), ["a.0.b", "a.1.b"]),
        (("a", Indices.of([1, 3])), ["a.1", "a.3"]),
        ((Indices.below(2), Indices.below(2), "w"), ["0.0.w", "0.1.w", "1.0.w", "1.1.w"]),
        (("a", Indices.of([]), "b"), []),
    ],
    ids=lambda value: ".".join(map(str, value)),
)
def test_names(segments: tuple[str | Indices, ...], names: list[str]) -> None:
    assert Leaf(segments, (1,), "parameter", "other", len(names), len(names)).names() == names


@pytest.fixture(scope="module")
def find() -> Callable[[str], Leaf | None]:
    odd = Repeat(Indices.of(range(1, 10**9, 2)), block(mlp=block(up=NINE)))
    even = Repeat(Indices.of(range(0, 10**9, 2)), block(mlp=block(up=NINE, experts=_repeat(4, block(w=NINE)))))
    return Finder(leaves(block(layers=(odd, even), norm=NINE))).find


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("norm", "norm"),
        ("layers.0.mlp.up", "layers.{0-999999998 step 2}.mlp.up"),
        ("layers.999999999.mlp.up", "layers.{1-999999999 step 2}.mlp.up"),
        ("layers.2.mlp.experts.3.w", "layers.{0-999999998 step 2}.mlp.experts.{0-3}.w"),
        ("layers.1.mlp.experts.3.w", None),
        ("layers.2.mlp.experts.4.w", None),
        ("layers.1000000000.mlp.up", None),
        ("layers.00.mlp.up", None),
        ("layers.01.mlp.up", None),
        ("layers.-1.mlp.up", None),
        ("layers.+1.mlp.up", None),
        ("layers.1_0.mlp.up", None),
        ("layers. 1.mlp.up", None),
        ("layers.٣.mlp.up", None),
        ("layers.².mlp.up", None),
        ("layers..mlp.up", None),
        ("layers." + "9" * 5000 + ".mlp.up", None),
        ("layers.{0}.mlp.up", None),
        ("norm.", None),
        (".norm", None),
        ("", None),
    ],
    ids=lambda value: str(value)[:40] or "empty",
)
def test_a_name_finds_its_leaf(find: Callable[[str], Leaf | None], name: str, template: str | None) -> None:
    leaf = find(name)
    assert (leaf.name if leaf else None) == template


@pytest.mark.parametrize(
    ("segment", "expected"),
    [("0", True), ("12", True), ("01", False), ("", False), ("a", False), ("²", False), ("9" * 20, False)],
    ids=["zero", "number", "leading-zero", "empty", "letter", "superscript", "20-digits"],
)
def test_is_index(segment: str, expected: bool) -> None:
    assert is_index(segment) is expected
