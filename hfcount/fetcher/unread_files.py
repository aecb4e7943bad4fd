"""Classifies the files next to a model that are not read: other formats, adapters, training state."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from os import PathLike
from typing import Any

from hfcount.errors import DocumentError
from hfcount.fetcher.layout import MODULES
from hfcount.formats.json import Document
from hfcount.formats.modules_json import read_modules

TRAINING = "the state of a training"
PICKLES, OWN = "pickled weights", "the author's own layout"
CODE = "code that trust_remote_code runs"
ABSENT_TOKENIZER = "no tokenizer"
"""The kind that stands for files which are not there."""

_GENERATE = "custom_generate/generate.py"  # which from_pretrained loads (transformers 5.24, generation/utils.py:586)
_STEPS, _FOLDERS = "sentence-transformers modules", "safetensors of other folders"

KEPT = ".cache/huggingface/hfcount"
"""Where `hfcount fix` keeps what it replaces, a folder for each run: huggingface_hub leaves it out of uploads."""

RECORD = "undo.json"
"""What a run replaced, in its folder there; it exists once the run is done."""

ORIGINALS = "originals kept by hfcount fix"

# Paths, of which the first that fits says the kind.
_BY_NAME = (
    (r"(.*/)?(optimizer|scheduler|scaler|random_states|rng_state|training_args|zero_pp_rank)[\w.-]*", TRAINING),
    (r"(.*/)?(adapter_(config\.json|model[\w.-]*)|(pytorch_lora_weights|ip-adapter)[\w.-]*)", "adapters"),
    (r"(.*/)?consolidated[\w.-]*\.(safetensors|pth|pt|bin|index\.json)", OWN),
)
_KINDS = (
    *_BY_NAME,
    (r".*\.(safetensors|bin|json|gguf)\.bak(\.\d+)?", "backups"),
    (r".*\.gguf", "GGUF"),
    (r".*\.(ggml|ggjt)|(.*/)?ggml-model[\w.-]*\.bin", "GGML"),
    (r".*\.onnx([._]data)?(_\d+)?", "ONNX"),
    (r"(.*/)?openvino[\w.-]*\.(bin|xml)", "OpenVINO"),
    (r".*\.mlpackage/.*|.*\.mlmodelc?(/.*)?", "Core ML"),
    (r".*(\.(h5|keras|pb|tflite)|(\.ckpt(-\d+)?|/variables)\.(index|meta|data[\w.-]*))", "TensorFlow"),
    (r".*\.msgpack", "Flax"),
    (r".*\.(ot|npz|engine|plan|pte|nemo|mar|task|litertlm|distcp|bmodel|rknn|param)", "files of other libraries"),
    (r".*\.(bin|pt|pth|ckpt|pkl|pickle|th|t7)", PICKLES),
    (r".*/.*\.safetensors", _FOLDERS),
    (r"diffusion_pytorch_model\.(?!safetensors)[\w.-]*\.safetensors", "variants"),
    (r"(open_clip|diffusion)_[\w.-]*\.safetensors", "another library's layout"),
    (r"model\.((fp|bf|f|int|nf|q)\d+\w*|(non_)?ema|\d-?bit)(-\d+-of-\d+)?\.safetensors", "variants"),
)

_TEXTS = (".json", ".txt", ".md", ".py", ".jinja")
"""Endings of files at the top that are of no kind but by the beginnings of their names."""


@cache
def _kinds(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in rows)


def kind(name: str) -> str | None:
    """The kind of an unread file, by its path; None if unknown."""
    if name.startswith(".") or "/." in name:
        return None
    by_name = name.lower().endswith(_TEXTS) and "/" not in name
    return next((kind for pattern, kind in _kinds(_BY_NAME if by_name else _KINDS) if pattern.fullmatch(name)), None)


def beside(names: Collection[str], read: Collection[str], companions: Mapping[str, Document]) -> dict[str, list[str]]:
    """The files that were not read, by kind.

    Args:
        names: paths of all files that are known; read: those that were read.
        companions: documents beside the config, by name.
    """
    steps, by_kind = module_folders(companions), dict[str, list[str]]()
    for name in sorted(set(names).difference(read)):
        file_kind = kind(name)
        if file_kind in (_FOLDERS, PICKLES) and "/" in name and name.partition("/")[0] in steps:
            file_kind = _STEPS
        if file_kind:
            by_kind.setdefault(file_kind, []).append(name)
    for place in {name.rpartition("/")[0] for name in by_kind.get(OWN, ())}:
        if (params := f"{place}/params.json".lstrip("/")) in names:
            by_kind[OWN].append(params)
    return by_kind


def code(names: Collection[str], settings: Iterable[Mapping[str, Any]]) -> list[str]:
    """The files with code that loading runs: those that an auto_map names, if they are there or of other repos.

    Args:
        names: paths of all files that are known.
        settings: documents that may have an auto_map.
    """
    modules, elsewhere = set[str](), set[str]()
    for values in settings:
        classes = values.get("auto_map")
        for named in classes.values() if isinstance(classes, dict) else ():
            paths = named if isinstance(named, list) else [named]
            for path in (path for path in paths if isinstance(path, str)):
                repo, apart, module = path.rpartition("--")
                (elsewhere if apart else modules).add(f"{repo}{apart}{module.partition('.')[0]}.py")
    return sorted({*modules, _GENERATE}.intersection(names) | elsewhere)


def kept_runs(folder: str | PathLike[str]) -> list[str]:
    """The repairs of a folder whose originals are kept, by their numbers."""
    with suppress(OSError):
        return [name for name in os.listdir(os.path.join(folder, KEPT)) if name.isdigit()]
    return []


def originals(folder: str | PathLike[str]) -> list[str]:
    """The originals that `hfcount fix` keeps of a folder, by their paths in it."""
    runs = sorted(kept_runs(folder), key=int)
    names = [f"{KEPT}/{run}/{name}" for run in runs for name in sorted(os.listdir(os.path.join(folder, KEPT, run)))]
    return [name for name in names if not name.endswith(f"/{RECORD}")]


def module_folders(companions: Mapping[str, Document]) -> set[str]:
    """The folders at the top that modules.json names modules in."""
    if MODULES in companions:
        with suppress(DocumentError):
            return {module.folder.partition("/")[0] for module in read_modules(companions[MODULES])} - {""}
    return set()
