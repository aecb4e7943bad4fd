"""Values of another type than their key has, which only an older version takes: what stands for them."""

from typing import Any

import pytest

from hfcount.mapper.taken_values import as_taken
from hfcount.mapper.untyped import shape_of, tried, untyped


@pytest.mark.parametrize(
    ("kind", "name", "value", "types", "stands"),
    [
        ("clip_vision_model", "num_attention_heads", 2.0, (int,), 2),
        ("clip_vision_model", "hidden_size", 32.0, (int,), None),  # with which no version builds a model
        ("bert", "max_position_embeddings", "x", (int,), None),
        ("bert", "hidden_act", 3, (str,), "gelu"),  # which it calls only when it runs
        ("patchtst", "loss", 3, (str,), None),  # with which only some classes build a model
        ("swiftformer", "downsamples", "True,True", (list,), [True, True, True, True]),
        ("bert", "is_decoder", "true", (bool,), False),  # and who asks takes it by its truth
        ("no such type", "hidden_size", 2.0, (int,), None),
        (None, "hidden_size", 2.0, (int,), None),
    ],
)
def test_what_stands_for_a_value(kind: Any, name: str, value: Any, types: tuple[type, ...], stands: Any) -> None:
    assert as_taken(kind, name, value, types) == stands


@pytest.mark.parametrize(
    ("value", "shapes"),
    [
        (None, "flag float listed number text word zero"),
        (False, "null number word zero"),
        (3, "float half listed null paired text"),
        (0.5, "half listed null number paired text zero"),
        (2.0, "listed null number paired text zero"),
        ("x", "listed null number texts zero"),
        ([True, True], "flag null texts word"),
        ({"a": 1}, "listed null"),
    ],
)
def test_the_shapes_that_are_tried_of_each_type(value: Any, shapes: str) -> None:
    assert {shape_of(other) for other, _ in untyped(value)} == {*shapes.split()}


def test_a_share_outside_0_and_1_is_a_shape_of_its_own() -> None:
    values = [other for other, _ in untyped(0.5) if isinstance(other, float)]
    assert [shape_of(value, is_share=True) for value in values] == ["outside", "outside"]
    assert [shape_of(value, is_share=True) for value in (1, 0.5)] == ["number", "half"]


@pytest.mark.parametrize(
    ("types", "shapes"),
    [
        ("int|null", "float listed text"),
        ("bool", "null number word zero"),
        ("object[any]|null", "listed"),
        ("any", ""),
    ],
)
def test_of_several_types_what_was_tried_of_each_counts(types: str, shapes: str) -> None:
    assert tried(types) == {*shapes.split()}
