"""Records models of open_clip and LeRobot: `PYTHON tests/tools/towers.py`, with a Python that has both libraries.

For each of CONFIGS the library builds the model, and if hfcount describes the same names and shapes, it writes
fixtures/architectures/<type>.json. CI has neither library, and tests hold what is recorded.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from record import FOLDER, record, text  # noqa: E402 - found by the path set above

from hfcount.blueprints.build import build  # noqa: E402 - found by the path set above
from hfcount.blueprints.libraries import lerobot, open_clip  # noqa: E402 - found by the path set above
from hfcount.mapper import Config  # noqa: E402 - found by the path set above

Json = dict[str, Any]
Shapes = dict[str, tuple[int, ...]]

_SEEN: Json = {
    "observation.state": {"type": "STATE", "shape": [6]},
    "observation.environment_state": {"type": "ENV", "shape": [11]},
    "observation.images.top": {"type": "VISUAL", "shape": [3, 96, 96]},
}
_IMAGES = {name: one for name, one in _SEEN.items() if one["type"] != "ENV"}
_DONE: Json = {"action": {"type": "ACTION", "shape": [5]}}

CONFIGS: dict[str, Json] = {
    "open_clip": {
        "embed_dim": 40,
        "custom_text": True,
        "init_logit_bias": -10,
        "vision_cfg": {
            "image_size": 98,
            "layers": 3,
            "width": 48,
            "head_width": 12,
            "patch_size": 14,
            "mlp_ratio": 3.5,
            "ls_init_value": 0.1,
            "attentional_pool": "parallel",
            "attn_pooler_queries": 9,
            "attn_pooler_heads": 5,
        },
        "text_cfg": {
            "context_length": 17,
            "vocab_size": 99,
            "width": 64,
            "heads": 2,
            "layers": 6,
            "embed_cls": True,
            "proj_bias": True,
            "qk_norm": True,
            "scale_heads": True,
            "scale_attn_inner": True,
            "scale_attn": True,
            "scale_fc": True,
        },
        "multimodal_cfg": {"context_length": 17, "vocab_size": 99, "width": 56, "heads": 7, "layers": 5},
    },
    "open_clip-resnet": {
        "embed_dim": 40,
        "vision_cfg": {"image_size": 160, "layers": [3, 2, 4, 1], "width": 24, "head_width": 64},
        "text_cfg": {"context_length": 17, "vocab_size": 99, "width": 64, "heads": 2, "layers": 6},
    },
    "lerobot_act": {
        "type": "act",
        "input_features": _SEEN,
        "output_features": _DONE,
        "chunk_size": 20,
        "n_action_steps": 20,
        "dim_model": 64,
        "n_heads": 4,
        "dim_feedforward": 97,
        "n_encoder_layers": 2,
        "n_decoder_layers": 3,
        "use_vae": True,
        "latent_dim": 8,
        "n_vae_encoder_layers": 7,
        "vision_backbone": "resnet18",
        "pretrained_backbone_weights": None,
        "pre_norm": True,
    },
    "lerobot_diffusion": {
        "type": "diffusion",
        "input_features": _SEEN,
        "output_features": _DONE,
        "n_obs_steps": 2,
        "horizon": 16,
        "vision_backbone": "resnet18",
        "crop_shape": [84, 84],
        "use_group_norm": True,
        "spatial_softmax_num_keypoints": 12,
        "down_dims": [32, 64, 128],
        "kernel_size": 5,
        "n_groups": 8,
        "diffusion_step_embed_dim": 18,
        "use_film_scale_modulation": True,
        "use_separate_rgb_encoder_per_camera": False,
    },
    "lerobot_tdmpc": {
        "type": "tdmpc",
        "input_features": _SEEN,
        "output_features": _DONE,
        "image_encoder_hidden_dim": 7,
        "state_encoder_hidden_dim": 24,
        "latent_dim": 10,
        "q_ensemble_size": 4,
        "mlp_dim": 32,
    },
    "lerobot_vqbet": {
        "type": "vqbet",
        "input_features": _IMAGES,
        "output_features": _DONE,
        "n_obs_steps": 3,
        "n_action_pred_token": 9,
        "action_chunk_size": 4,
        "vision_backbone": "resnet18",
        "crop_shape": [84, 84],
        "use_group_norm": True,
        "spatial_softmax_num_keypoints": 12,
        "vqvae_n_embed": 14,
        "vqvae_embedding_dim": 36,
        "vqvae_enc_hidden_dim": 28,
        "gpt_block_size": 30,
        "gpt_input_dim": 34,
        "gpt_output_dim": 46,
        "gpt_n_layer": 2,
        "gpt_n_head": 8,
        "gpt_hidden_dim": 64,
        "sequentially_select": False,
    },
}


def of_open_clip(values: Json) -> Shapes:
    """What open_clip builds of a model_cfg."""
    import torch

    model, coca = import_module("open_clip.model"), import_module("open_clip.coca_model")
    own = json.loads(json.dumps(values))
    custom = own.pop("custom_text", False)
    kind = (coca.CoCa if "multimodal_cfg" in own else model.CustomTextCLIP) if custom else model.CLIP
    with torch.device("meta"):
        return {name: tuple(one.shape) for name, one in kind(**own).state_dict().items()}


def of_lerobot(values: Json) -> Shapes:
    """What LeRobot builds of a policy's config."""
    types, policy = import_module("lerobot.configs.types"), values["type"]
    place = f"lerobot.policies.{policy}"
    name = {"act": "ACT", "diffusion": "Diffusion", "tdmpc": "TDMPC", "vqbet": "VQBeT"}[policy]
    settings = {key: tuple(one) if isinstance(one, list) else one for key, one in values.items() if key != "type"}
    for key in ("input_features", "output_features"):
        settings[key] = {
            known: types.PolicyFeature(type=types.FeatureType[one["type"]], shape=tuple(one["shape"]))
            for known, one in values[key].items()
        }
    config = getattr(import_module(f"{place}.configuration_{policy}"), f"{name}Config")(**settings, device="cpu")
    built = getattr(import_module(f"{place}.modeling_{policy}"), f"{name}Policy")(config)
    return {known: tuple(one.shape) for known, one in built.state_dict().items()}


def write(name: str, values: Json) -> None:
    """Judges one config, and writes its file; exits where hfcount describes something else."""
    clip = name.startswith("open_clip")
    judged: Callable[[Json], Shapes] = of_open_clip if clip else of_lerobot
    library, package = (open_clip, "open_clip_torch") if clip else (lerobot, "lerobot")
    config = library.config({"model_cfg": values} if clip else values, name)
    found = {one.name: tuple(map(int, one.shape)) for one in build(Config(config)).tensors()}
    if odd := set(found.items()) ^ set(judged(values).items()):
        sys.exit(f"{name}: {sorted(odd)[:3]}")
    recorded = record(config, f"{package.removesuffix('_torch')} {_version(package)}: names and shapes of its model")
    (FOLDER / f"{name}.json").write_text(text(recorded))


def _version(package: str) -> str:
    return "0.4.4" if package == "lerobot" else version(package)


if __name__ == "__main__":
    for each, settings in CONFIGS.items():
        write(each, settings)
