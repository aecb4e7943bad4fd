"""LeRobot's layout: config.json with a policy's type and features, and model.safetensors.

Source: lerobot 0.4.4 (configs/policies.py, policies/pretrained.py, and each policy's configuration).
"""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.text import printable, shown

POLICIES = ("act", "diffusion", "tdmpc", "vqbet", "pi0", "pi05", "smolvla")
_AROUND = {
    "pi0_fast": "PaliGemma and a tokenizer of actions",
    "groot": "a model of NVIDIA with code of its own",
    "xvla": "Florence-2 by its config",
    "wall_x": "a Qwen2.5-VL with experts",
    "sac": "networks that its config describes and no family does",
    "sarm": "networks over CLIP",
    "reward_classifier": "a model that model_name names",
}
"""Policies that are not described, and what they are around."""

_GEMMAS = {"gemma_300m": (1024, 4096), "gemma_2b": (2048, 16384)}
"""The widths of a Gemma and of its networks, by the word for it."""

_GEMMA = {
    "model_type": "gemma",
    "vocab_size": 257152,
    "num_hidden_layers": 18,
    "num_attention_heads": 8,
    "num_key_value_heads": 1,
    "head_dim": 256,
}
_TOWER = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_channels": 3,
    "patch_size": 14,
    "vision_use_head": False,
}

_FEATURES = ("input_features", "output_features")
_SHARED = frozenset(
    """
    type normalization_mapping device use_amp use_peft push_to_hub repo_id private tags license pretrained_path
    optimizer_lr optimizer_betas optimizer_eps optimizer_weight_decay optimizer_lr_backbone optimizer_vqvae_lr
    optimizer_vqvae_weight_decay optimizer_grad_clip_norm scheduler_name scheduler_warmup_steps scheduler_decay_steps
    scheduler_decay_lr
    """.split()
)
"""Keys of training, and what all policies share."""


def config(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config as the families read it, without what is of training.

    Raises:
        UnknownArchitecture: the policy is not described.
    """
    policy = values["type"]
    if policy not in POLICIES:
        inner = f"It is around {_AROUND[policy]}, which config.json does not hold." if policy in _AROUND else ""
        text = f"{where}: {printable(policy, 60)} is a policy of LeRobot that is not described."
        described = f"Described are {', '.join(POLICIES)}."
        raise UnknownArchitecture(f"{text} {inner or described}")
    kept = {key: _plain(value) if key in _FEATURES else value for key, value in values.items() if key not in _SHARED}
    known: dict[str, Any] = {"model_type": f"lerobot_{policy}", **kept}
    return _around_gemma(known, where) if policy in ("pi0", "pi05") else known


def _around_gemma(values: dict[str, Any], where: str) -> dict[str, Any]:
    """The config of a policy with the sizes that its words for its two language models stand for."""
    text, acts = (
        _gemma(values.pop(key, usual), key, where)
        for key, usual in (("paligemma_variant", "gemma_2b"), ("action_expert_variant", "gemma_300m"))
    )
    values.pop("dtype", None)  # whichever it is, some tensors stay in float32
    sides = values.pop("image_resolution", [224, 224])
    if not isinstance(sides, list) or len(sides) != 2 or sides[0] != sides[1] or type(sides[0]) is not int:
        message = f"{where} has {shown(sides)} for image_resolution, but must give a height and a width that are equal."
        raise ConfigError(message, variant="out-of-range", key="image_resolution")
    return {**values, "text_config": text, "expert_config": acts, "vision_config": {**_TOWER, "image_size": sides[0]}}


def _gemma(variant: object, key: str, where: str) -> dict[str, Any]:
    if not isinstance(variant, str) or variant not in _GEMMAS:
        text = f"{where} has {shown(variant)} for {key}, but must have one of {', '.join(_GEMMAS)}."
        raise ConfigError(text, variant="unknown-kind", key=key)
    width, inner = _GEMMAS[variant]
    return {**_GEMMA, "hidden_size": width, "intermediate_size": inner}


def with_named(config: dict[str, Any], named: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """The config with that of the model that it is built around, of which it takes the first layers.

    Raises:
        UnknownArchitecture: that is not known.
    """
    if named is None:
        name = printable(str(config.get("vlm_model_name", "its default")), 60)
        raise UnknownArchitecture(
            f"{where}: the policy is built around {name}, whose config is not here: give its config with --base."
        )
    vlm, text, most = {**named}, named.get("text_config"), config.get("num_vlm_layers", 16)
    if isinstance(text, Mapping) and type(most) is int and most > 0:
        count = text.get("num_hidden_layers")
        vlm["text_config"] = {**text, "num_hidden_layers": min(most, count) if type(count) is int else count}
    return {**config, "vlm_config": vlm}


def _plain(features: object) -> object:
    """Features by names without dots, which part the keys of nested objects, if that leaves them different."""
    if not isinstance(features, Mapping):
        return features
    plain = {name.replace(".", "_"): feature for name, feature in features.items()}
    return plain if len(plain) == len(features) else features


def built(config: Config) -> Blueprint:
    """The blueprint of what `config` gives."""
    return build(config)
