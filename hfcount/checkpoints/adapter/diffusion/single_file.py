"""Says what a single safetensors file without a config holds, by the names of its tensors, and what to do with it."""

from collections.abc import Collection
from typing import NamedTuple


class SingleFile(NamedTuple):
    """What a file is, as a noun, and what can be done, as a clause."""

    what: str
    do: str


_DIFFUSERS_REPO = (
    "name the repo for diffusers that it was made from, which has a model_index.json: `hfcount ORG/NAME`; diffusers"
    " reads it with from_single_file"
)
_INVERSION = (
    "it adds rows to the embedding of a text encoder (load_textual_inversion in diffusers); hfcount does not check that"
)
_UNET = "model.diffusion_model.input_blocks.0.0.weight"
_TRANSFORMERS = (
    ("double_blocks.", "single_blocks.", "a transformer of Flux in one file"),
    ("joint_blocks.", "context_embedder.", "a transformer of Stable Diffusion 3 in one file"),
    ("blocks.0.cross_attn.", "patch_embedding.", "a transformer of Wan in one file"),
)


def single_file(names: Collection[str]) -> SingleFile | None:
    """What a file with tensors of these names is; None if that is not known."""
    if names and len(names) <= 2 and {*names} <= {"emb_params", "clip_g", "clip_l"}:
        return SingleFile("a textual inversion", _INVERSION)
    if _UNET in names:
        return SingleFile(f"a checkpoint of {_unet(names)} in one file", _DIFFUSERS_REPO)
    stems = [name.removeprefix("model.diffusion_model.").removeprefix("diffusion_model.") for name in names]
    for first, second, what in _TRANSFORMERS:
        if any(stem.startswith(first) for stem in stems) and any(stem.startswith(second) for stem in stems):
            return SingleFile(what, _DIFFUSERS_REPO)
    if any(name.startswith(("first_stage_model.", "encoder.down.")) for name in names):
        return SingleFile("an autoencoder of Stable Diffusion in one file", _DIFFUSERS_REPO)
    if any(name.startswith("control_model.") for name in names):
        return SingleFile("a ControlNet in one file", _DIFFUSERS_REPO)
    return None


def _unet(names: Collection[str]) -> str:
    """Which Stable Diffusion it is, by its text encoders."""
    if any(name.startswith("conditioner.embedders.1.") for name in names):
        return "Stable Diffusion XL"
    if any(name.startswith("conditioner.embedders.0.") for name in names):
        return "the refiner of Stable Diffusion XL"
    if any(name.startswith("cond_stage_model.model.") for name in names):
        return "Stable Diffusion 2"
    if any(name.startswith("cond_stage_model.transformer.") for name in names):
        return "Stable Diffusion 1"
    return "Stable Diffusion"
