"""What the files of a checkpoint are for, by their paths."""

import re
from typing import Literal

Role = Literal["config", "index", "weights", "other", "unread"]
"""`unread`: no loader of models reads it. What is not known is `other`, which a loader may read."""

LOCK = "hfcount.lock"
"""The usual name of a lock; a file of this name is part of no checkpoint."""

_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_WEIGHTS = re.compile(
    r".*\.(safetensors|bin|gguf|pt|pth|ckpt|npz|h5|msgpack|onnx|onnx[._]data\w*|ot|pkl|pickle|tflite|pb)", re.IGNORECASE
)
_CONFIGS = re.compile(r"(.*/)?(config|adapter_config|model_index|params|open_clip_config|generation_config)\.json")
_TRAINING = re.compile(
    r"(.*/)?(training_args\.bin|optimizer\.(bin|pt)|(scheduler|scaler)\.pt|rng_state\w*\.pth|trainer_state\.json)"
)
"""What the Trainer of transformers writes beside a model, and reads when a training resumes (transformers 5.24,
trainer.py:245-250, 1857). Of the weights, vLLM leaves out training_args.bin, optimizer.bin, optimizer.pt, scheduler.pt
and scaler.pt (vLLM 0.33.0, model_executor/model_loader/weight_utils.py:619)."""

_TITLES = r"(readme|licen[cs]e|notice|use_policy|usage_policy|changelog|citation|authors|copying)"
_PROSE = (
    rf"{_TITLES}([_-](code|data|models?|weights|third[_-]party))?(\.txt)?|"
    rf"{_TITLES}([_-][\w-]*)?\.(md|rst|pdf|html|cff)"
)
"""A text of another name, such as authors_vocab.txt, may be a list of words that a tokenizer reads."""

_SIGNATURES = rf".*\.(sig|sigstore(\.json)?|intoto\.jsonl|asc)|{re.escape(LOCK)}"
_SHOWN = r".*\.(md|png|jpe?g|gif|svg|webp|ico|pdf|mp4|html|ipynb|tfevents)|events\.out\.tfevents\.\d+\.[\w.-]*"
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
    if _TRAINING.fullmatch(path):
        return "unread"
    if _WEIGHTS.fullmatch(path):
        return "weights"
    if _UNREAD.fullmatch(path):
        return "unread"
    return "weights" if (size or 0) > _LARGE else "other"


def is_training(path: str) -> bool:
    """Whether the Trainer of transformers reads it when a training resumes."""
    return _TRAINING.fullmatch(path) is not None


def is_pickle(path: str) -> bool:
    """Whether weights of this name are pickled."""
    return path.lower().endswith(_PICKLES)
