"""Varies configs at random: sizes, counts, switches and lists take other values, keys come and go.

A varied config need not make sense. What counts is that whatever a reference implementation builds from it has the
names and shapes that hfcount says.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any

Json = dict[str, Any]

FOREIGN: Json = {
    "add_cross_attention": True,
    "attention_bias": True,
    "attention_head_dim": 12,
    "bias": True,
    "decoder_sparse_step": 2,
    "embedding_size": 20,
    "ffn_dim": 44,
    "first_k_dense_replace": 1,
    "head_dim": 20,
    "id2label": {"0": "a", "1": "b", "2": "c"},
    "intermediate_size": 52,
    "is_decoder": True,
    "kv_lora_rank": 12,
    "layer_types": ["full_attention", "sliding_attention"],
    "lm_head_bias": True,
    "mlp_bias": True,
    "mlp_layer_types": ["dense", "sparse"],
    "mlp_only_layers": [0],
    "moe_intermediate_size": 28,
    "multi_query": True,
    "n_routed_experts": 5,
    "n_shared_experts": 2,
    "num_experts": 3,
    "num_experts_per_tok": 2,
    "num_key_value_heads": 2,
    "num_labels": 3,
    "num_local_experts": 3,
    "num_nextn_predict_layers": 1,
    "partial_rotary_factor": 0.5,
    "q_lora_rank": 12,
    "qk_layernorm": True,
    "qk_norm": True,
    "qkv_bias": True,
    "rope_scaling": None,
    "scale_embedding": True,
    "sliding_window": 8,
    "tie_encoder_decoder": True,
    "tie_word_embeddings": True,
    "use_bias": True,
    "use_cache": False,
    "use_qk_norm": True,
    "v_head_dim": 12,
    "vocab_size": 40,
}
"""Keys that a config has of another family: most families never read most of them."""

KEPT = ("model_type", "architectures", "dtype", "torch_dtype", "transformers_version", "_name_or_path", "auto_map")
"""Keys that stay as they are."""

WORDS = ("alibi", "rotary", "absolute", "relative_key", "gelu", "silu", "auto", "none", "full_attention")
"""Words for a key that holds a word."""

LARGEST = 4096
"""No number becomes larger, so that whatever is built is small."""


def varied(config: Json, chance: Random, known: Json | None = None) -> Json:
    """The config with one to four of its keys changed, taken away or added.

    Args:
        known: all keys that the type knows, with their defaults; one in five changes adds one of them.
    """
    result, layers = deepcopy(config), _layers(config)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        part = result
        while nested := [key for key in sorted(part) if key.endswith("_config") and _is_part(part[key])]:
            if chance.random() < 0.3:
                break
            part = part[chance.choice(nested)]
        _change(part, chance, {**(known or {}), **FOREIGN} if part is result else FOREIGN, layers)
    return result


def _change(part: Json, chance: Random, known: Json, layers: int) -> None:
    absent, present = sorted(set(known) - set(part)), [key for key in part if key not in KEPT]
    how = chance.random()
    if absent and (how < 0.2 or not present):
        key = chance.choice(absent)
        part[key] = _other(known[key], chance, layers) if chance.random() < 0.5 else deepcopy(known[key])
    elif how < 0.3:
        del part[chance.choice(present)]
    else:
        key = chance.choice(present)
        part[key] = _other(part[key], chance, layers)


def _other(value: Any, chance: Random, layers: int) -> Any:
    """Another value of the same kind, or null."""
    if chance.random() < 0.06:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = (value - 1, value + 1, 2 * value, 3 * value, value // 2, value * 3 // 2, 0, 1, 2, 3, 6, 7, 24, 40)
        return min(LARGEST, abs(chance.choice(near)))
    if isinstance(value, float):
        return chance.choice((value * 1.5, value / 2, 1.0, 2.0, 0.5, 2, 1))
    if isinstance(value, str):
        return chance.choice(WORDS)
    if isinstance(value, list):
        return _other_list(value, chance, layers)
    if value is None:
        return chance.choice((True, False, 2, 3, 7, 24, 1.5, [0], list(range(layers))))
    return value


def _other_list(value: Sequence[Any], chance: Random, layers: int) -> list[Any]:
    how = chance.choice(("order", "one", "fewer", "more", "none", "numbers"))
    if how == "order":
        return chance.sample(value, len(value))
    if how == "one" and value:
        return [chance.choice(value)] * len(value)
    if how == "fewer" and value:
        return list(value[:-1])
    if how == "more" and value:
        return [*value, value[0]]
    if how == "numbers" and all(type(one) is int for one in value):
        return sorted(chance.sample(range(layers), chance.randint(0, layers)))
    return []


def _layers(config: Json) -> int:
    keys = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    return next((min(config[key], 12) for key in keys if type(config.get(key)) is int), 2)


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def plain(config: Any) -> Json:
    """A config as JSON holds it."""
    result: Json = json.loads(json.dumps(config, default=str))
    return result
