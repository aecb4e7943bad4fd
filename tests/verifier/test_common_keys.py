"""Values of keys that all classes of transformers read alike, as each version was run with them."""

from typing import Any

import pytest

from hfcount.verifier.loaders.common_keys import COMMON_KEYS, problems

OLDEST, NEWEST = "4.57.1", "5.24.0"
KEYS = ("hidden_size", "vocab_size")

# a key, what it holds, and whether 4.57.1 and 5.24.0 build a model of a config with it
VALUES: list[tuple[str, Any, bool, bool]] = [
    ("attn_implementation", {"": "eager"}, True, True),
    ("attn_implementation", {"": "nonsense"}, True, False),
    ("attn_implementation", {}, True, True),
    ("attn_implementation", 1, True, False),
    ("attn_implementation", [], True, False),
    ("experts_implementation", "eager", True, True),
    ("experts_implementation", "nonsense", True, False),
    ("experts_implementation", {"": "nonsense"}, True, False),
    ("experts_implementation", None, True, True),
    ("experts_implementation", [], True, False),
    ("_attn_implementation_internal", "nonsense", False, True),
    ("_attn_implementation_internal", "sdpa", True, True),
    ("problem_type", "nonsense", False, True),
    ("problem_type", "regression", True, True),
    ("label2id", [], False, True),
    ("label2id", {}, True, True),
    ("pruned_heads", 5, False, True),
    ("pruned_heads", {}, True, True),
    ("pruned_heads", {"a": [0]}, False, True),
    ("base_model_tp_plan", "x", False, False),
    ("base_model_tp_plan", {}, True, True),
    ("base_model_fsdp_plan", "x", True, False),
    ("attribute_map", None, False, False),
    ("attribute_map", {"hidden_size": "d"}, False, False),
    ("attribute_map", {"hidden_size": ["vocab_size"]}, False, False),
    ("attribute_map", {"hidden_size": {}}, False, False),
    ("attribute_map", {"hidden_size": "vocab_size"}, True, True),
    ("attribute_map", {"other": ["d"]}, True, True),
    ("attribute_map", {"other": "d"}, True, True),
    ("auto_map", {"AutoConfig": 5}, False, False),
    ("auto_map", {"AutoConfig": "x.Y"}, True, True),
    ("self", 1, False, False),
]


@pytest.mark.parametrize(("key", "value", "oldest", "newest"), VALUES)
def test_values_as_versions_take_them(key: str, value: Any, oldest: bool, newest: bool) -> None:
    named = {version: [name for name, _ in problems(version, {key: value}, KEYS, True)] for version in (OLDEST, NEWEST)}
    assert named == {OLDEST: [] if oldest else [key], NEWEST: [] if newest else [key]}
    assert key in COMMON_KEYS


def test_a_nested_config_takes_its_kernels_from_the_whole() -> None:
    values = {"attn_implementation": {"": "nonsense"}, "auto_map": {"AutoConfig": 5}, "self": 1}
    assert [name for name, _ in problems(NEWEST, values, KEYS, False)] == ["self"]


@pytest.mark.parametrize(
    ("key", "value", "kind", "version", "refused"),
    [
        ("experts_implementation", "grouped_mm", "llama", NEWEST, True),
        ("experts_implementation", "grouped_mm", "vit", NEWEST, True),
        ("experts_implementation", {"": "grouped_mm"}, "bert", NEWEST, True),
        ("experts_implementation", "grouped_mm", "qwen3_moe", NEWEST, False),
        ("experts_implementation", "batched_mm", "llama", NEWEST, False),
        ("experts_implementation", "grouped_mm", "llama", OLDEST, False),
        ("pruned_heads", {"0": [0]}, "llama", OLDEST, True),
        ("pruned_heads", {"0": []}, "qwen3", OLDEST, True),
        ("pruned_heads", {"0": []}, "bert", OLDEST, False),
        ("pruned_heads", {}, "llama", OLDEST, False),
        ("pruned_heads", {"0": [0]}, "llama", NEWEST, False),
    ],
)
def test_values_that_only_some_types_take(key: str, value: Any, kind: str, version: str, refused: bool) -> None:
    named = [name for name, _ in problems(version, {key: value}, KEYS, True, kind)]
    assert named == ([key] if refused else [])
