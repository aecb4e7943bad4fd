"""Suggests a command when the path is not a checkpoint."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from shlex import quote

from hfcount.fetcher.layout import CONFIG, DIFFUSION_LORA, MODULES
from hfcount.fetcher.other_formats import foreign, unread
from hfcount.fetcher.unread_files import PICKLES, TRAINING, kind
from hfcount.text import plural, printable

_ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar")
_NEAR = 0.7
_MANY, _NAMED = 10_000, 3  # entries of a folder that are looked at; those that are named
_OF_MODELS = "models--"
_WEIGHTS = re.compile(r"[^/]+\.(safetensors|bin|pt|pth|ckpt)")
_DIALECTS = {
    "GGUF": "which --set, --quantize and `hfcount fix` do not take: name the model that it was converted from",
    "GGML": "the format before GGUF, which llama.cpp no longer reads: convert the model again, or look for its GGUF",
}
"""What to do about weights of another kind where nothing takes them."""
_KINDS = ("ONNX", "TensorFlow", "Flax", "OpenVINO", "Core ML", *_DIALECTS)


def no_folder(path: Path, model: str) -> str:
    """The message for a path, given as MODEL, that is not a folder."""
    shown = printable(str(path))
    if os.path.islink(path) and not os.path.exists(path):
        return f"{shown} is a link to {printable(os.readlink(path))}, which does not exist. Download it again."
    if os.path.isfile(path):
        return _of_file(path, shown)
    if os.path.exists(path):
        return f"{shown} is neither a folder nor a readable file. Name a checkpoint's folder."
    return f"there is no folder or file {shown}. {_near(path, model)}"


def _of_file(path: Path, shown: str) -> str:
    if path.suffix.lower() in _ARCHIVES:
        return f"{shown} is an archive. Unpack it and name the folder: `hfcount FOLDER`."
    if (path.parent / CONFIG).is_file():
        return f"{shown} is not a folder. {command(str(path.parent))} verifies the checkpoint that it is in."
    if (file_kind := kind(path.name)) in _KINDS:
        return f"{shown} is not a folder, but {file_kind}, {_DIALECTS.get(file_kind) or unread(file_kind, path.name)}."
    return f"{shown} is not a folder, but a file without a {CONFIG} beside it. Name a checkpoint's folder."


def _near(path: Path, model: str) -> str:
    """What there is on the way to a path that does not exist, and what else may be meant."""
    if "\\" in model and os.sep != "\\":
        return f"Folders are divided by /, as in {command(model.replace(chr(92), '/'))}."
    meant, repo = "", re.fullmatch(r"(\w[\w.-]*(?:/\w[\w.-]*)?)(?:/+|/(.+))", model)
    if repo and not os.path.lexists(repo[1]):
        meant = f" If a repo is meant: {command(*_repo(repo[1], repo[2] or ''))}."
    above = next((parent for parent in path.parents if os.path.isdir(parent)), None)
    if above is None or str(above) in (".", "/"):
        return f"Check the path.{meant}"
    near, names = _nearest(path.name, above)
    if len(near) == 1:
        return f"Did you mean {command(os.path.join(above, near[0]))}?{meant}"
    return f"{printable(str(above))} has {_some(near or names) or 'nothing in it'}.{meant}"


def _nearest(name: str, folder: Path) -> tuple[list[str], list[str]]:
    """The entries of a folder whose names are near to one, and all of them."""
    from difflib import get_close_matches

    names = [entry for entry in _entries(folder) if not entry.startswith(".")]
    return get_close_matches(name[:200], names, 3, _NEAR), names


def no_repo(model: str) -> str:
    """A hint for a missing repo: local folders that may be meant, and how repos are named."""
    above, slash, name = model.rpartition("/")
    near, names = _nearest(name, Path(above or "."))
    if names and slash:
        return f" The folder {printable(above)} has {_some(near or names)}."
    hint = f" Here are {_some(near)}." if near else ""
    return hint if slash else f"{hint} Most repos are named org/name."


def _repo(name: str, rest: str) -> Sequence[str]:
    folder = rest.strip("/")
    if "." in os.path.basename(folder):  # a file's name
        folder = os.path.dirname(folder)
    return (name, "--subfolder", folder) if folder else (name,)


def command(*words: str) -> str:
    """The command as it can be typed; a folder that may be taken for a command goes by its path."""
    clear = "/" in words[0] or words[0] in ("-r", os.curdir, os.pardir) or not os.path.isdir(words[0])
    first = words[0] if clear else f"./{words[0]}"
    return f"`hfcount {' '.join(quote(printable(word, 300)) for word in (first, *words[1:]))}`"


def without_config(files: Collection[str], folder: Path | None = None) -> str:
    """What a folder has instead of a config.json, as the end of a sentence; empty if unknown.

    Args:
        files: paths of the files that are known, those of folders below included.
        folder: where they are, if they are on disk; None for a repo.
    """
    if folder is not None and (cached := _cached(folder)):
        return cached
    inner = _models(files)
    if "params.json" in files:
        return ", but weights in their author's own layout (params.json)"
    if MODULES in files:
        return f", which the first of the modules that {MODULES} names is read from. Download it again"
    if inner:
        return _inner(inner, files, folder)
    if known := foreign(files):
        return known
    if not files:
        return ": there is no file in it. Check the path" if folder is not None else ""
    return _weights_alone(files, folder) or f", only {_some(sorted(files))}. Name a checkpoint's folder"


def _models(files: Collection[str]) -> list[str]:
    """The folders below that hold a checkpoint, unless these are GGUF files alone."""
    from hfcount.fetcher.find_checkpoints import checkpoints_among

    below = [file for file in files if "/" in file]
    others = checkpoints_among(file for file in below if not file.endswith(".gguf"))
    return _by_number(checkpoints_among(below)) if others else []


def _inner(inner: list[str], files: Collection[str], folder: Path | None) -> str:
    """That folders below have a config: the last one, of which a training has the highest number."""
    configured = all(f"{name}/{CONFIG}" in files for name in inner)
    have = f"{_some(inner[::-1])} {'has' if len(inner) == 1 else 'have'}"
    if folder is None:
        return f", but {have}: add --subfolder {quote(printable(inner[-1], 300))}"
    if not configured and len(inner) > 1:
        return (
            f", but {len(inner):,} checkpoints below ({_some(inner[::-1])}): {command('-r', str(folder))} verifies all"
        )
    every = f", {command('-r', str(folder))} all" if len(inner) > 1 else ""
    return f", but {have}: {command(os.path.join(folder, inner[-1]))} verifies it{every}"


def _weights_alone(files: Collection[str], folder: Path | None) -> str:
    """That there are weights without a config."""
    kinds = {name: file_kind for name in sorted(files) if (file_kind := kind(name)) not in (None, TRAINING)}
    if any(_WEIGHTS.fullmatch(name) and kinds.get(name, PICKLES) == PICKLES for name in files):
        return ", but weights: copy the config.json of their model into the folder"
    for name in sorted(files):
        if name.endswith(f"/{DIFFUSION_LORA}"):
            return f", but a LoRA of a diffusion model in a folder below: {_at(name, folder)}"
    for name, file_kind in kinds.items():
        if file_kind == "GGUF" and name.count("/") > 1:
            return f", but GGUF in folders below: {_at(name, folder)}"
        if file_kind in _KINDS:
            return f", only {file_kind} ({printable(name, 100)}), {_DIALECTS.get(file_kind) or unread(file_kind, name)}"
    return ""


def _at(name: str, folder: Path | None) -> str:
    """How to name a file in a folder below."""
    if folder is None:
        return f"add --subfolder {quote(printable(name.rpartition('/')[0], 300))}"
    return f"{command(os.path.join(folder, name))} verifies {printable(name, 100)}"


def _cached(folder: Path) -> str:
    """What a folder of the Hugging Face cache is, and how its repos are named; empty for any other."""
    path = Path(os.path.abspath(folder))
    repo = next((parent for parent in (path, *path.parents) if parent.name.startswith(_OF_MODELS)), None)
    if repo is None:
        names = [entry for place in (path, path / "hub") for entry in _entries(place) if entry.startswith(_OF_MODELS)]
        if not names:
            return ""
        return (
            f": it is the Hugging Face cache, with {plural(len(names), 'model')} ({_some(list(map(_named, names)))}):"
            f" {command(_named(names[0]), '--offline')} verifies one"
        )
    name = printable(_named(repo.name))
    snapshots = [name for name in _entries(repo / "snapshots") if (repo / "snapshots" / name / CONFIG).exists()]
    if not snapshots:
        return f": it is the Hugging Face cache of {name}, which has no whole snapshot: {command(name)} asks the Hub"
    place = os.path.relpath(repo / "snapshots" / snapshots[-1])
    return f": it is the Hugging Face cache of {name}: {command(place)} verifies its snapshot"


def _named(folder: str) -> str:
    return folder.removeprefix(_OF_MODELS).replace("--", "/")


def _entries(folder: Path) -> list[str]:
    with suppress(OSError, ValueError), os.scandir(folder) as listing:
        return _by_number(entry.name for entry in islice(listing, _MANY))
    return []


def _by_number(names: Iterable[str]) -> list[str]:
    """Names in order, numbers in them by their size: checkpoint-500 goes before checkpoint-1000."""
    return sorted(
        names, key=lambda name: [part.zfill(20) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
    )


def _some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    first = [printable(name, 100) for name in names[:_NAMED]]
    if len(names) > len(first):
        return f"{', '.join(first)} and {len(names) - len(first):,} more"
    return " and ".join([", ".join(first[:-1]), first[-1]] if len(first) > 1 else first)
