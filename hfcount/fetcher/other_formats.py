"""Recognises repos of unsupported libraries by their files, and suggests what to do."""

import re
from collections.abc import Collection
from typing import NamedTuple

from hfcount.text import printable


class OtherFormat(NamedTuple):
    """A kind of repo.

    Args:
        what: it is, as a noun.
        marks: patterns of paths; a file fits each of them.
        do: what can be done, as a clause.
    """

    what: str
    marks: tuple[str, ...]
    do: str


_ORIGINAL = "name the model that it was converted from, as its card says: `hfcount ORG/NAME`"
_EXPORTED = f"which is not read: {_ORIGINAL.replace('converted', 'exported')}"
_SAVED = "which is not read: load it with transformers 4.57 and save it again"
_UNREAD = {"ONNX": _EXPORTED, "OpenVINO": _EXPORTED, "Core ML": _EXPORTED, "TensorFlow": _SAVED, "Flax": _SAVED}

_FOLDERS = "checkpoints|clip_vision|controlnet|diffusion_models|loras|model_patches|text_encoders|unet|vae"
_KINDS = (
    OtherFormat(
        "a conversion by CTranslate2",
        (r"model\.bin", r"(shared_|source_|target_)?vocabulary\.(json|txt)"),
        f"which has its own format and is not read: {_ORIGINAL}",
    ),
    OtherFormat(
        "a distributed checkpoint of PyTorch",
        (r"(.*/)?[\w.-]+\.distcp",),
        "whose shards `accelerate merge-weights` gathers",
    ),
    OtherFormat(
        "a checkpoint of DeepSpeed",
        (r"zero_to_fp32\.py", r"(.*/)?[\w.-]+_model_states\.pt"),
        "whose shards `python zero_to_fp32.py . .` gathers",
    ),
    OtherFormat(
        "an archive of NeMo",
        (r".*\.nemo",),
        "which is not read: `tar -tf` lists what it holds; a version for transformers, if there is one, is a repo of"
        " its own",
    ),
    OtherFormat(
        "a model of SpeechBrain",
        (r"(.*/)?hyperparams\.yaml",),
        "whose hyperparams.yaml names code instead of sizes: only SpeechBrain can build it",
    ),
    OtherFormat(
        "a model or pipeline of pyannote.audio",
        (r"config\.yaml", r"(.*/)?pytorch_model\.bin|handler\.py"),
        "which names no sizes: only pyannote.audio can build it",
    ),
    OtherFormat(
        "a pipeline of spaCy",
        (r"meta\.json", r"config\.cfg"),
        "which only spaCy reads",
    ),
    OtherFormat(
        "a model of Keras",
        (r"metadata\.json|.*\.keras", r"(.*/)?[\w.-]*\.weights\.h5|.*\.keras"),
        f"which is not read: if it was ported, {_ORIGINAL}",
    ),
    OtherFormat(
        "a model of Flair",
        (r"pytorch_model\.bin", r"loss\.tsv|training\.log|weights\.txt"),
        "whose sizes are in its pickled file: only Flair can build it",
    ),
    OtherFormat(
        "a model of Ultralytics",
        (r"(.*/)?(yolo|rtdetr|fastsam|mobile_sam|sam2?(\.1)?_)[\w.-]*\.pt",),
        "a pickle with its own classes, which is not read: only Ultralytics can build it",
    ),
    OtherFormat(
        "a textual inversion",
        (r"learned_embeds(-steps-\d+)?\.(safetensors|bin|pt)",),
        "rows for the embedding of a text encoder, which diffusers adds by load_textual_inversion: it has no base here",
    ),
    OtherFormat(
        "a pickled LoRA of a diffusion model",
        (r"pytorch_lora_weights\.(bin|pt)",),
        "which is not read: load it with diffusers, and save it again as safetensors",
    ),
    OtherFormat(
        "files for ComfyUI",
        (rf"(.*/)?({_FOLDERS})/[^/]+\.(safetensors|ckpt|pt)",),
        "each a model in one file without a config: name the diffusers repo that they were made from: `hfcount"
        " ORG/NAME`",
    ),
    OtherFormat(
        "a diffusion model in one file",
        (r"v1-inference\.yaml|[\w.-]*(sd_xl|sdxl|v1-5|v2-1|sd3|sd3\.5|flux1?-)[\w.-]*\.(safetensors|ckpt)",),
        "without a config: name the diffusers repo that it was made from, which has a model_index.json:"
        " `hfcount ORG/NAME`",
    ),
)


def unread(kind: str, name: str) -> str:
    """What to do about a weight file of an unsupported kind, as a clause."""
    if kind == "TensorFlow" and not name.endswith("_model.h5"):  # which transformers never saved
        return _EXPORTED
    return _UNREAD.get(kind, "which is not read")


def foreign(files: Collection[str]) -> str:
    """What a repo with these files is, and what can be done, as the end of a sentence; empty if that is unknown."""
    for kind in _KINDS:
        fitting = [_first(pattern, files) for pattern in kind.marks]
        if all(fitting):
            return f", but is {kind.what} ({printable(fitting[0], 100)}), {kind.do}"
    return ""


def _first(pattern: str, files: Collection[str]) -> str:
    """The first file that fits; empty if none does."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return next((name for name in sorted(files) if compiled.fullmatch(name)), "")
