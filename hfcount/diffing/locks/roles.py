"""What the files of a checkpoint are for, by their paths."""

import re
from typing import Literal

Role = Literal["config", "index", "weights", "other", "unread"]
"""`unread`: no loader reads it. What is not known is `other`, which a loader may read."""

_WEIGHTS = re.compile(
    r".*\.(safetensors|bin|gguf|pt|pth|ckpt|npz|h5|msgpack|onnx|onnx[._]data\w*|ot|pkl|pickle|tflite|pb)", re.IGNORECASE
)
_CONFIGS = re.compile(r"(.*/)?(config|adapter_config|model_index|params|open_clip_config|generation_config)\.json")
_TRAINING = re.compile(
    r"(.*/)?(training_args\.bin|optimizer\.(bin|pt)|(scheduler|scaler)\.pt|rng_state\w*\.pth|trainer_state\.json)"
)
"""What the Trainer of transformers writes beside a model; vLLM leaves it out of the weights, too (vLLM 0.9,
model_loader/weight_utils.py, `filter_files_not_needed_for_inference`)."""

_PROSE = (
    r"(readme|licen[cs]e|notice|use_policy|usage_policy|changelog|citation|authors|copying)"
    r"([_-][\w-]*)?(\.(md|txt|rst|pdf|html|cff))?"
)
_SIGNATURES = r".*\.(sig|sigstore(\.json)?|intoto\.jsonl|asc)|hfcount\.lock"
_SHOWN = r".*\.(md|png|jpe?g|gif|svg|webp|ico|pdf|mp4|html|ipynb|tfevents[\w.-]*)|events\.out\.tfevents[\w.-]*"
_UNREAD = re.compile(rf"(.*/)?({_PROSE}|{_SIGNATURES}|{_SHOWN})", re.IGNORECASE)
_LARGE = 64 << 20  # bytes


def role(path: str, size: int | None = None) -> Role:
    """The role of a file; one of another kind that is as large as weights counts as weights."""
    if _CONFIGS.fullmatch(path):
        return "config"
    if path.endswith(".index.json"):
        return "index"
    if path.endswith(".py"):
        return "other"
    if _TRAINING.fullmatch(path) or _UNREAD.fullmatch(path):
        return "unread"
    if _WEIGHTS.fullmatch(path) or (size or 0) > _LARGE:
        return "weights"
    return "other"
