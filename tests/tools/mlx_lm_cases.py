"""Small checkpoints of the types that mlx-lm has, from the configs that fixtures/architectures records."""

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from math import prod
from typing import Any, NamedTuple

import loading
import mlx_lm_runs as runs

Json = dict[str, Any]

LARGEST = 2 * 10**8
"""The parameters of the largest model that is run as it is recorded; the sizes of larger ones are made smaller."""

_ENDS = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "Model")
_SMALL = {
    "vocab_size": 208,
    "hidden_size": 160,
    "intermediate_size": 176,
    "moe_intermediate_size": 48,
    "shared_expert_intermediate_size": 56,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 120,
    "n_routed_experts": 6,
    "num_experts": 6,
    "num_local_experts": 6,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "q_lora_rank": 40,
    "kv_lora_rank": 36,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 12,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 20,
    "vocab_size_per_layer_input": 208,
    "hidden_size_per_layer_input": 24,
    "mamba_n_heads": 10,
    "mamba_d_head": 32,
    "num_heads": 10,
    "ffn_hidden_size": 120,
    "expert_ffn_hidden_size": 44,
}
_GROUPS = {"n_group": 1, "topk_group": 1}
_LAYERS = 4
_BESIDE: Json = {
    "max_position_embeddings": 2048,
    "norm_eps": 1e-6,
    "rms_norm_eps": 1e-6,
    "layer_norm_eps": 1e-6,
    "rope_theta": 10_000.0,
    "attention_bias": False,
    "tie_word_embeddings": False,
    "hidden_act": "silu",
}
"""Keys that bear on no shape, so that recorded facts have none."""


class Sample(NamedTuple):
    """A config and the weights that are stored for it; `torch` is None for a type that transformers cannot run."""

    kind: str
    config: Json
    weights: runs.Weights
    torch: runs.Torch | None
    defaults: Mapping[str, Any]


def samples(kind: str, module: str) -> Iterator[Sample]:
    """Checkpoints of a type, the one first that is most like what is published.

    Args:
        module: what mlx-lm reads it by, whose own type stands for one that has no config.
    """
    configs = [*_configs(kind)] or [{**config, "model_type": kind} for config in _configs(module)]
    variants = [values for config in configs for values in [*_sizes(config), *_mixed(config)]]
    for made in (_of_torch, _of_blueprint):
        for values in variants:
            sample = made(kind, values)
            if sample:
                yield sample


def _configs(kind: str) -> Iterator[Json]:
    folder = loading.ROOT / "fixtures" / "architectures"
    path = next(
        (path for name in (kind, kind.replace("-", "_")) if (path := folder / f"{name}.json").exists()), folder / "_"
    )
    if path.exists():
        config = json.loads(path.read_text())["config"]
        yield (
            {"model_type": kind, **config}
            if config.get("model_type") in (None, kind)
            else {**config, "model_type": kind}
        )
    from transformers import CONFIG_MAPPING

    if not path.exists() and kind in CONFIG_MAPPING:
        yield {
            "model_type": kind,
            **{key: value for key, value in _SMALL.items() if key in loading.defaults(CONFIG_MAPPING[kind])},
        }


def _sizes(config: Json) -> Iterator[Json]:
    yield _smaller(config)
    yield config
    kinds = config.get("layer_types")
    if isinstance(kinds, list) and kinds and "full_attention" not in kinds:
        yield _smaller({**config, "layer_types": [*kinds[:-1], "full_attention"]})
    yield _smaller(config, width=_SMALL["hidden_size"] // _SMALL["num_attention_heads"])


def _mixed(config: Json) -> Iterator[Json]:
    """Small configs with a second kind of layer, where the config has one kind alone."""
    from transformers.configuration_utils import ALLOWED_LAYER_TYPES

    given = config.get("layer_types")
    if isinstance(given, list) and len({*given}) == 1:
        for word in ALLOWED_LAYER_TYPES:
            if word not in given:
                yield _smaller({**config, "layer_types": [word, *given[1:]]})


def _smaller(values: Json, width: int | None = None) -> Json:
    """The same config with small sizes; `width` is that of a head, another than what the sizes give if absent."""
    small = {**_SMALL, **({"head_dim": width} if width else {})}
    small |= {"head_dim": 32} if "state_size" in values else {}  # it is of the heads of Mamba 2
    layers = values.get("num_hidden_layers")
    found: Json = {}
    for key, value in values.items():
        if isinstance(value, dict):
            value = _smaller(value, width)
        elif key in small and type(value) is int:
            value = small[key]
        elif isinstance(value, list) and type(layers) is int and len(value) == layers > _LAYERS:
            value = value[-_LAYERS:]
        found[key] = value
    if type(layers) is int:
        found["num_hidden_layers"] = min(layers, _LAYERS)
    return found | (_GROUPS if {"n_routed_experts", "num_experts"} & found.keys() else {})


def _of_torch(kind: str, config: Json) -> Sample | None:
    import transformers

    classes = json.loads((loading.ROOT / "hfcount" / "mapper" / "classes.json").read_text())["classes"].get(kind, "")
    first = [*(config.get("architectures") or [])[:1]]
    names = first + [name for end in _ENDS for name in classes.split() if name.endswith(end)]
    for name in list(dict.fromkeys(names))[:2]:
        if not hasattr(transformers, name) or _count(config, name) > LARGEST:
            continue
        try:
            torch = runs.Torch(name, {**deepcopy(config), "architectures": [name]})
        except Exception:  # these sizes do not fit one another, or the class needs a library
            continue
        values = {**torch.config, "architectures": [name], "model_type": kind}
        return Sample(kind, values, torch.weights, torch, _defaults(kind))
    return None


def _defaults(kind: str) -> Json:
    from transformers import CONFIG_MAPPING

    try:
        return json.loads(json.dumps(CONFIG_MAPPING[kind]().to_dict(), default=str))
    except Exception:  # a class without defaults
        return {}


def _count(config: Json, name: str) -> int:
    import hfcount

    try:
        return hfcount.blueprint({**deepcopy(config), "architectures": [name]}).total
    except Exception:  # not laid out here
        return 0


def _of_blueprint(kind: str, config: Json) -> Sample | None:
    import hfcount

    values = {**_BESIDE, **deepcopy(config)}
    try:
        tensors = hfcount.blueprint(deepcopy(values)).tensors(stored=True)
    except Exception:  # these sizes do not fit one another
        return None
    shapes = {tensor.name: tuple(map(int, tensor.shape)) for tensor in tensors if tensor.kind != "legacy"}
    if sum(map(prod, shapes.values())) > LARGEST:
        return None
    return Sample(kind, values, runs.random_weights(shapes), None, {})


def head_of(weights: runs.Weights) -> str:
    """The name of the head over the vocabulary that is stored; empty if there is none."""
    return next((name for name in weights if re.search(r"(^|\.)(lm_head|embed_out|output)\.weight$", name)), "")
