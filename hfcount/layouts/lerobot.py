"""LeRobot's layout: config.json with a policy's type and features, and model.safetensors.

Source: lerobot 0.4.4 (configs/policies.py, policies/pretrained.py, and each policy's configuration).
"""

from collections.abc import Mapping
from typing import Any

from hfcount.building import build
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.plan import Blueprint
from hfcount.text import printable

POLICIES = ("act", "diffusion", "tdmpc", "vqbet")
_AROUND = {
    "smolvla": "SmolVLM2 by the config of vlm_model_name",
    "pi0": "PaliGemma and an expert by names of sizes",
    "pi0_fast": "PaliGemma and a tokenizer of actions",
    "pi05": "PaliGemma and an expert by names of sizes",
    "groot": "a model of NVIDIA with code of its own",
    "xvla": "Florence-2 by its config",
    "wall_x": "a Qwen2.5-VL with experts",
    "sac": "networks that its config describes and no family does",
    "sarm": "networks over CLIP",
    "reward_classifier": "a model that model_name names",
}
"""Policies that are not described, and what they are around."""

_FEATURES = ("input_features", "output_features")
_SHARED = frozenset(
    """
    type normalization_mapping device use_amp use_peft push_to_hub repo_id private tags license pretrained_path
    optimizer_lr optimizer_betas optimizer_eps optimizer_weight_decay optimizer_lr_backbone optimizer_vqvae_lr
    optimizer_vqvae_weight_decay scheduler_name scheduler_warmup_steps
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
        shown = printable(policy, 60)
        inner = f"It is around {_AROUND[policy]}, which config.json does not hold." if policy in _AROUND else ""
        known = f"Described are {', '.join(POLICIES)}."
        raise UnknownArchitecture(f"{where}: {shown} is a policy of LeRobot that is not described. {inner or known}")
    own = {key: _plain(one) if key in _FEATURES else one for key, one in values.items() if key not in _SHARED}
    return {"model_type": f"lerobot_{policy}", **own}


def _plain(features: object) -> object:
    """Features by names without dots, which part the keys of nested objects, if that leaves them different."""
    if not isinstance(features, Mapping):
        return features
    plain = {name.replace(".", "_"): one for name, one in features.items()}
    return plain if len(plain) == len(features) else features


def built(config: Config) -> Blueprint:
    """The blueprint of what `config` gives."""
    return build(config)
