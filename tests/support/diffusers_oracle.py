"""What diffusers itself builds of a config: the judge of the classes that it has (extra `oracle`).

It builds each model on the meta device, without weights, and shares no code with hfcount. `python
tests/support/diffusers_oracle.py [--each N] [--seed S] [CLASS ...]` varies each recorded config N times and shows
where the two differ.
"""

import argparse
import json
import pkgutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, Literal

import diffusers
import torch
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.class_defaults import declared, is_of_diffusers

Json = dict[str, Any]
Shapes = dict[str, tuple[int, ...]]
Verdict = Literal["agrees", "cannot run", "refused", "unknown", "differs"]

AROUND_CLIP = {
    **dict.fromkeys(
        ("StableDiffusionSafetyChecker", "SafeStableDiffusionSafetyChecker", "IFSafetyChecker"), "CLIPConfig"
    ),
    "PaintByExampleImageEncoder": "CLIPVisionConfig",
}
"""Its classes that have a configuration of transformers, and which."""

RECORDED: dict[str, Json] = {
    path.stem: json.loads(path.read_text())["config"]
    for path in sorted(ARCHITECTURES.glob("*.json"))
    if is_of_diffusers(path.stem) or path.stem in AROUND_CLIP
}

LARGEST, DEEPEST = 4096, 12
"""No number becomes larger, nor one of layers, so that whatever is built is small."""

PLAIN = (1, 2, 3, 4, 8, 16, 24, 32, 48, 64, 96)

WORDS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("act_fn", "time_embedding_act_fn", "timestep_post_act", "time_embed_act_fn"), ("silu", "gelu", "relu", "mish")
    ),
    "addition_embed_type": (None, "text", "text_time", "text_image", "image", "image_hint"),
    "class_embed_type": (None, "timestep", "identity", "projection", "simple_projection"),
    "encoder_hid_dim_type": (None, "text_proj", "text_image_proj", "image_proj"),
    "mid_block_type": (None, "UNetMidBlock2DCrossAttn", "UNetMidBlock2D", "UNetMidBlock2DSimpleCrossAttn", "Other"),
    "add_control_noise_refiner": (None, "control_layers", "control_noise_refiner", "other"),
    "added_emb_type": (None, "prd", "other"),
    **dict.fromkeys(("norm_in_type", "embedding_proj_norm_type"), (None, "layer", "other")),
    "encoder_hid_proj_type": (None, "linear", "other"),
    "adapter_type": ("full_adapter", "full_adapter_xl", "light_adapter", "other"),
    "cross_attention_norm": (None, "layer_norm", "group_norm", "other"),
    "norm_type": ("group",),
    "qk_norm": (None, "rms_norm", "layer_norm", "other"),
    "resnet_time_scale_shift": ("default", "scale_shift", "other"),
    "reverse_transformer_layers_per_block": (None, [1, 2, 3, 4], [2, [1, 2, 3], [3, 1, 2, 2]], [[1]]),
    "time_embedding_type": ("positional", "fourier", "learned"),
    "transformer_layers_per_block": (1, 3, [1, 2, 3], [1, 2], [2, [1, 2, 3], 1], [3, 2, 1, 4]),
}
"""What keys that hold a word, or may hold something of several kinds, may hold."""

WORDS_OF: dict[str, dict[str, tuple[Any, ...]]] = {
    "AutoencoderKLCosmos": {"patch_type": ("haar", "rearrange", "other")},
    "AutoencoderKLLTX2Audio": {
        "causality_axis": ("none", "none", "width", "height", "width-compatibility", "other", None),
        "norm_type": ("group", "pixel", "other"),
    },
    "MotifVideoTransformer3DModel": {"norm_type": ("layer_norm", "layer_norm", "fp32_layer_norm", "group")},
    "OmniGenTransformer2DModel": {"pos_embed_max_size": (1, 5, 12)},  # it is squared
    "DiTTransformer2DModel": {"norm_type": ("ada_norm_zero", "ada_norm_single", "other")},
    "LTX2LatentUpsamplerModel": {"rational_spatial_scale": (0.75, 1.5, 2.0, 4.0, 3.0), "dims": (2, 3, 1)},
    "LTX2TextConnectors": {"rope_type": ("interleaved", "split", "other")},
    **dict.fromkeys(
        ("LTX2Vocoder", "LTX2VocoderWithBWE"),
        dict.fromkeys(("act_fn", "bwe_act_fn"), ("snakebeta", "snake", "leaky_relu", "other")),
    ),
    "LTXLatentUpsamplerModel": {"dims": (2, 3, 1)},
    "LatteTransformer3DModel": {
        "norm_type": ("ada_norm_single", "ada_norm", "ada_norm_zero", "layer_norm", "layer_norm_i2vgen", "other"),
        "num_embeds_ada_norm": (None, 5, 12),
    },
}
"""The same of keys that mean something else in one class."""

diffusers.utils.logging.set_verbosity_error()


@cache
def class_of(name: str) -> Any:
    """The class of that name; not all are exported."""
    if hasattr(diffusers, name):
        return getattr(diffusers, name)
    for base in (diffusers.models, diffusers.pipelines):
        for found in pkgutil.walk_packages(base.__path__, f"{base.__name__}."):
            try:
                one = getattr(import_module(found.name), name, None)
            except Exception:  # it needs a library that is not installed
                continue
            if one is not None:
                return one
    raise LookupError(f"diffusers {diffusers.__version__} has no {name}")


def model_of(values: Json) -> Any:
    """The model that diffusers builds of a config, on torch's default device."""
    kind = class_of(values.get("model_type") or values["_class_name"])
    given = {key: one for key, one in deepcopy(values).items() if key != "model_type" and key[:1] != "_"}
    if kind.__name__ in AROUND_CLIP:
        return kind(getattr(import_module("transformers"), AROUND_CLIP[kind.__name__])(**given))
    return kind(**kind.extract_init_dict(given)[0])


def described(values: Json) -> Shapes:
    """The names and shapes that `save_pretrained` writes."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: tuple(one.shape) for name, one in model_of(values).state_dict().items()}


def judged(values: Json) -> tuple[Verdict, str]:
    """What comes of a config, and how hfcount and diffusers differ if they do."""
    try:
        theirs: Shapes | None = described(values)
    except Exception as error:  # of any kind, from anywhere in a model's code
        theirs, refusal = None, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    try:
        blueprint = hfcount.blueprint(values)
    except hfcount.UnknownArchitecture as error:
        return "unknown", str(error)
    except hfcount.ConfigError as error:
        return ("refused", "") if theirs is None else ("differs", f"hfcount refuses: {error}")
    if theirs is None:
        return ("cannot run", "") if blueprint.problems else ("differs", f"diffusers refuses: {refusal}")
    mine = {one.name: one.shape for one in blueprint.tensors() if one.kind != "legacy"}
    if mine == theirs:
        return ("cannot run" if blueprint.problems else "agrees"), ""
    odd = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
    said = [f"{name}: hfcount {mine.get(name)}, diffusers {theirs.get(name)}" for name in odd[:3]]
    return "differs", f"{len(odd)} tensors, such as {'; '.join(said)}"


def varied(config: Json, chance: Random) -> Json:
    """The config with one to four of the keys of its class changed, taken away or added."""
    result, known = deepcopy(config), declared(config["model_type"]).keys
    keys = sorted({*known, *config} - {"model_type"})
    for _ in range(chance.choice((1, 1, 2, 2, 3, 4)) if keys else 0):
        key = chance.choice(keys)
        if key in result and chance.random() < 0.15:
            del result[key]
        else:
            words = WORDS_OF.get(config["model_type"], {}).get(key)
            result[key] = (
                chance.choice(words) if words else _other(key, result.get(key, known.get(key, config.get(key))), chance)
            )
    return result


def _other(key: str, value: Any, chance: Random) -> Any:
    if key in WORDS and not isinstance(value, bool):
        return chance.choice(WORDS[key])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = (value + 1, 2 * value, 3 * value, value // 2, value * 3 // 2, *PLAIN)
        return min(DEEPEST if "layers" in key or "blocks" in key else LARGEST, chance.choice(near))
    if isinstance(value, dict):
        inner = chance.choice(sorted(value))
        return {**value, inner: _other(inner, value[inner], chance)}
    if isinstance(value, list) and value:
        how = chance.choice(("order", "one", "fewer", "more", "numbers"))
        if how == "order":
            return chance.sample(value, len(value))
        if how == "numbers":
            return [_other(key, one, chance) for one in value]
        return {"one": [chance.choice(value)] * len(value), "fewer": value[:-1], "more": [*value, value[-1]]}[how]
    if value is None:
        return chance.choice((2, 8, 64, True, None))
    return value


def variants(config: Json, each: int, seed: str) -> Iterator[Json]:
    """So many varied configs, always the same for a seed; the first is the config itself."""
    chance = Random(f"{seed} {config['model_type']}")
    yield config
    for _ in range(each):
        yield varied(config, chance)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="*", default=list(RECORDED), metavar="CLASS")
    parser.add_argument("--each", type=int, default=250)
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()
    worst = 0
    for name in options.classes:
        tally, shown = Counter[str](), 0
        for values in variants(RECORDED[name], options.each, options.seed):
            verdict, how = judged(values)
            tally[verdict] += 1
            if verdict == "differs" and shown < 4:
                shown += 1
                changed = {key: one for key, one in values.items() if RECORDED[name].get(key) != one}
                print(f"  {json.dumps(changed)} without {[*RECORDED[name].keys() - values.keys()]}\n    {how}")
        worst |= tally["differs"] > 0
        print(name, dict(tally), flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
