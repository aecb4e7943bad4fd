"""Hints name the key that was read, and only one that fits all that was found."""

import json
from pathlib import Path

import pytest
from build import Json, config

import hfcount
from hfcount.verifier import hints
from hfcount.verifier.hints import Hint

ARCHITECTURES = Path(__file__).parent.parent / "fixtures" / "architectures"


def _recorded(name: str, **changes: object) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return values | changes


def _shapes(read: Json, stored: Json) -> list[Hint]:
    """What is said of a checkpoint that was built by one config and is read by another."""
    expected, found = (hfcount.blueprint(values).leaves for values in (read, stored))
    shapes = [(leaf, tuple(map(int, other.shape))) for leaf, other in zip(expected, found, strict=True)]
    wrong = [(leaf, shape) for leaf, shape in shapes if leaf.shape != shape]
    return hints.shape(wrong, [leaf for leaf, shape in shapes if leaf.shape == shape])


def _layers(read: Json, stored: Json) -> Hint | None:
    blueprint = hfcount.blueprint(read)
    names = [tensor.name for tensor in hfcount.blueprint(stored).tensors()]
    return hints.layers(blueprint.leaves, names, blueprint.spec.depth)


GPT2 = _recorded("gpt2")
GEMMA = _recorded("gemma3")
SAME = config("qwen3_moe", mlp_only_layers=[1], intermediate_size=10)


@pytest.mark.parametrize(
    ("read", "stored", "hint"),
    [
        (config("llama"), config("llama", vocab_size=60), Hint("vocab_size", 50, 60)),
        (config("qwen3_moe"), config("qwen3_moe", moe_intermediate_size=12), Hint("moe_intermediate_size", 10, 12)),
        (SAME, SAME | {"moe_intermediate_size": 12}, Hint("moe_intermediate_size", 10, 12)),
        (SAME, SAME | {"intermediate_size": 12}, Hint("intermediate_size", 10, 12)),
        (config("mixtral"), config("mixtral", num_local_experts=6), Hint("num_local_experts", 8, 6)),
        (GPT2, _recorded("gpt2", vocab_size=7), Hint("vocab_size", GPT2["vocab_size"], 7)),
        (
            GEMMA,
            GEMMA | {"text_config": GEMMA["text_config"] | {"intermediate_size": 8}},
            Hint("text_config.intermediate_size", GEMMA["text_config"]["intermediate_size"], 8),
        ),
        (_recorded("bart"), _recorded("bart", max_position_embeddings=30), Hint("max_position_embeddings", 112, 30)),
    ],
    ids=lambda value: value.key if isinstance(value, Hint) else "",
)
def test_the_key_of_a_wrong_shape(read: Json, stored: Json, hint: Hint) -> None:
    assert _shapes(read, stored) == [hint]


def test_a_width_that_others_are_derived_from_is_told_by_all_of_them() -> None:
    assert _shapes(config("llama"), config("llama", hidden_size=16)) == [Hint("hidden_size", 12, 16)]


def test_what_no_key_gives_alone_is_named_by_its_arithmetic() -> None:
    (hint,) = _shapes(config("llama"), config("llama", head_dim=5))
    assert hint == Hint("hidden_size / num_attention_heads", 3, 5)
    assert str(hint) == "hidden_size / num_attention_heads is 3, and 5 would fit."


def test_what_an_absent_key_means_is_said_to_be_a_default() -> None:
    (hint,) = _shapes(config("qwen3", "head_dim"), config("qwen3", head_dim=5))
    assert hint == Hint("head_dim, by default", 128, 5)
    assert str(hint) == "head_dim is 128 by default, and 5 would fit."


def test_all_keys_that_fit_alike_are_named() -> None:
    (leaf,) = [leaf for leaf in hfcount.blueprint(config("qwen3")).leaves if leaf.name.endswith("o_proj.weight")]
    assert hints.shape([(leaf, (12, 48))], []) == [Hint("num_attention_heads", 4, 8), Hint("head_dim", 6, 12)]


def test_nothing_is_said_when_no_key_alone_fits() -> None:
    assert _shapes(config("llama"), config("llama", vocab_size=60, intermediate_size=30)) == []


def test_what_the_architecture_fixes_is_no_value_to_change() -> None:
    leaves = hfcount.blueprint(_recorded("molmo")).leaves
    leaf = next(leaf for leaf in leaves if leaf.component == "vision" and leaf.shape == (1024,))
    assert hints.shape([(leaf, (7,))], []) == []


@pytest.mark.parametrize(
    ("read", "stored", "hint"),
    [
        (GPT2, _recorded("gpt2", n_layer=2), Hint("n_layer", GPT2["n_layer"], 2)),
        (config("llama"), config("llama", num_hidden_layers=5), Hint("num_hidden_layers", 3, 5)),
        (SAME, SAME | {"num_hidden_layers": 2}, Hint("num_hidden_layers", 3, 2)),
        (config("llama"), config("llama"), None),
        (
            GEMMA,
            GEMMA | {"vision_config": GEMMA["vision_config"] | {"num_hidden_layers": 2}},
            Hint("vision_config.num_hidden_layers", GEMMA["vision_config"]["num_hidden_layers"], 2),
        ),
    ],
    ids=lambda value: value.key if isinstance(value, Hint) else "",
)
def test_the_key_of_a_wrong_number_of_layers(read: Json, stored: Json, hint: Hint | None) -> None:
    assert _layers(read, stored) == hint
