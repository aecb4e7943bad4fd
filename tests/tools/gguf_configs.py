"""Configs that llama.cpp's converter takes, made of recorded ones: small, resized, and with other switches."""

from collections.abc import Iterator
from typing import Any

from distinct import HEADS, LAYERS, sizes

from hfcount.blueprints.build import blueprint
from hfcount.errors import HfcountError

Json = dict[str, Any]

TAKEN = {"temporal_patch_size": 2, "altup_num_inputs": 4, "decoder_sparse_step": 1}
"""Sizes of which the converter takes no other."""

BY_TYPE: dict[str, Json] = {
    "mamba": {"hidden_size": 64, "intermediate_size": 128},
    "falcon_mamba": {"hidden_size": 64, "intermediate_size": 128},
    "falcon": {"num_kv_heads": 1},
    "bamba": {"attn_layer_indices": [1]},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8}},
    "eurobert": {"classifier_pooling": "mean"},
    "falcon_h1": {"head_dim": 176},
    "qwen3_5_text": {"mtp_num_hidden_layers": 1},
    "qwen3_5_moe_text": {"mtp_num_hidden_layers": 1},
}

ABSENT = {
    "n_ctx": 64,
    "rotary_pct": 0.25,
    "scale_emb": 12,
    "scale_depth": 1.4,
    "dim_model_base": 256,
    "decoder_start_token_id": 0,
    "max_position_embeddings": 64,
    "layer_norm_epsilon": 1e-5,
    "topk_method": "noaux_tc",
    "rope_theta": 10000.0,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "rotary_dim": 16,
    "partial_rotary_factor": 0.25,
    "norm_topk_prob": False,
    "activation_function": "silu",
    "linear_conv_kernel_dim": 4,
}
"""Values without a bearing on tensors that the converter asks of a config, whose defaults are left out there."""

ALIKE = {
    "moe_intermediate_size": "intermediate_size",
    "swa_head_dim": "head_dim",
    "swa_v_head_dim": "v_head_dim",
    "swa_num_attention_heads": "num_attention_heads",
    "swa_num_key_value_heads": "num_key_value_heads",
}
"""Keys that the converter asks for although another says it."""

DEEP, MANY = 5, 12  # layers and experts of a config that is not small


def smaller(config: Json) -> Json:
    """A config with few layers and experts, as the converter takes it; lists for each layer are cut with them."""
    depth = config.get("num_hidden_layers")
    changed: Json = {}
    for key, value in config.items():
        if isinstance(value, dict):
            value = smaller(value)
        elif isinstance(value, list) and value:
            value = _shorter(value, depth)
        elif type(value) is int and LAYERS.search(key) and value > DEEP:
            value = DEEP
        elif type(value) is int and key.endswith("experts") and value > MANY:
            value = MANY
        changed[key] = TAKEN.get(key, value)
    if changed.get("kv_lora_rank") and "num_key_value_heads" in changed:
        changed["num_key_value_heads"] = changed["num_attention_heads"]
    return {
        key: value
        for key, value in (changed | BY_TYPE.get(changed.get("model_type", ""), {})).items()
        if value is not None
    }


def _shorter(values: list[Any], depth: int | None) -> list[Any]:
    if depth and len(values) == depth > DEEP:
        return values[:DEEP]
    if (
        all(type(value) is int for value in values)
        and values == sorted(set(values))
        and values[-1] >= DEEP
        and values[-1] < 64
    ):
        return [value for value in values if value < DEEP] or [1]
    return values


def resized(config: Json) -> Json:
    """The config with every size changed that may change alone."""
    for number, way in enumerate(sizes(config)):
        if way[-1] in TAKEN or way[-1].endswith("step") or way[0] == "architectures":
            continue
        factor = 2 if HEADS.search(way[-1]) or number % 2 else 3
        value = sizes(config).get(way, 0)
        changed = _with(config, way, value + 1 if LAYERS.search(way[-1]) or value < 3 else value * factor)
        try:
            blueprint(smaller(changed))
        except (HfcountError, TypeError):
            continue
        config = changed
    return smaller(config)


def flagged(config: Json) -> Json:
    """The config with every switch turned that changes the names of its tensors."""
    for way in list(_switches(config, ())):
        changed = _with(config, way, not _at(config, way))
        try:
            before, after = ({leaf.name for leaf in blueprint(values).leaves} for values in (config, changed))
        except (HfcountError, TypeError):
            continue
        if before != after:
            config = changed
    return config


def _switches(config: Json, way: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _switches(value, (*way, key))
        elif isinstance(value, bool):
            yield (*way, key)


def _at(config: Json, way: tuple[str, ...]) -> Any:
    return _at(config[way[0]], way[1:]) if len(way) > 1 else config[way[0]]


def _with(config: Json, way: tuple[str, ...], value: int) -> Json:
    key, *rest = way
    inner = config[key]
    if rest:
        return {**config, key: _with(inner, tuple(rest), value)}
    return {**config, key: [value] * len(inner) if isinstance(inner, list) else value}
