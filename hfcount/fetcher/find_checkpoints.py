"""The checkpoints in a folder and in the folders below it."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher import files
from hfcount.fetcher.gitignore import Rules, ignored, rules_above, rules_in
from hfcount.fetcher.interface import SHORT
from hfcount.fetcher.layout import ADAPTER, BIN_INDEX, CONFIG, HEADERS, INDEX, MODEL_INDEX, MODULES, layout_of
from hfcount.fetcher.module_files import named_modules
from hfcount.formats.json import Document
from hfcount.formats.model_index import read_pipeline
from hfcount.formats.modules_json import KIND, ROUTER_CONFIGS
from hfcount.text import plural, printable

_BESIDE = (INDEX, BIN_INDEX, HEADERS)
_WEIGHTS = (".safetensors", ".bin")
_OTHERS = ("node_modules", "site-packages", "__pycache__")
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
_MODULE = re.compile(r"\d+_[A-Z]\w*")  # as sentence-transformers calls the folder of a module
_OF_MODULES = (KIND, *ROUTER_CONFIGS)
_SOME = 1_000  # that are looked for among what is left out


def checkpoints(root: str | os.PathLike[str], everything: bool = False) -> Iterator[str]:
    """Every folder from `root` down with a checkpoint, and each unreadable one, in order.

    Links are followed unless they lead back. Hidden folders, those of Python's environments and of node, and what git
    ignores are left out below `root`, unless `everything` is wanted or git ignores `root` itself.
    A folder that several links lead to is looked into through one of them.
    """
    start = os.fspath(root)
    rules = None if everything else rules_above(start)
    return _walk(_Folder(start, os.path.realpath(start), rules), everything)


def checkpoints_below(root: Path) -> list[str]:
    """The same of a folder that has to have some.

    Raises:
        FetchError: NoSuchFolder or NoConfig.
    """
    shown = printable(str(root))
    if not os.path.isdir(root):
        raise FetchError(
            "NoSuchFolder", f"{shown} is not a folder, which --recursive needs. Leave out --recursive for a repo."
        )
    if folders := list(checkpoints(root)):
        return folders
    message = f"no checkpoint in {shown} or below: no {CONFIG} with weights or an index beside it"
    if left := list(islice(checkpoints(root, everything=True), _SOME)):
        raise FetchError(
            "NoConfig",
            f"{message}, except {plural(len(left), 'checkpoint')} that git ignores or in a hidden folder. Name that"
            f" folder: `hfcount -r {printable(os.path.dirname(left[0]) or '.')}`.",
        )
    raise FetchError("NoConfig", f"{message}. `hfcount {shown}` shows what is there.")


def is_checkpoint(names: Collection[str]) -> bool:
    """Whether a folder holds a model: GGUF files, an adapter, a pipeline, or a config beside weights or an index.

    Of a model of sentence-transformers modules.json may stand for the config, and of Mistral's own layout params.json.
    """
    if MODEL_INDEX in names or any(name.endswith(".gguf") for name in names):
        return True
    if ADAPTER in names and any(name.startswith("adapter_model.") for name in names):
        return True
    stored = any(name in _BESIDE or name.endswith(_WEIGHTS) for name in names)
    if MODULES in names and (stored or any(name in _OF_MODULES or _MODULE.fullmatch(name) for name in names)):
        return True
    return stored and layout_of(names).config in names


def checkpoints_among(files: Iterable[str]) -> list[str]:
    """The folders that hold a checkpoint, of files by their paths."""
    names: dict[str, set[str]] = {}
    for file in files:
        folder, _, name = file.rpartition("/")
        names.setdefault(folder, set()).add(name)
    return [folder for folder, inside in names.items() if is_checkpoint(inside)]


def modules_in(folder: str) -> frozenset[str]:
    """The folders of modules or of a pipeline's parts that an index in a folder names: they are verified with it."""
    read = {name: _document(os.path.join(folder, name)) for name in (MODULES, *ROUTER_CONFIGS)}
    documents = {name: document for name, document in read.items() if document}
    modules = named_modules(documents, documents)
    parts = _parts(_document(os.path.join(folder, MODEL_INDEX)))
    return parts | frozenset(module.folder.partition("/")[0] for module in modules if module.folder)


def _parts(index: Document | None) -> frozenset[str]:
    """The names of the parts of a pipeline."""
    with suppress(DocumentError):
        return frozenset(part.name for part in read_pipeline(index).parts) if index else frozenset()
    return frozenset()


def _document(path: str) -> Document | None:
    raw = files.beginning(Path(path), SHORT)
    return None if raw is None else Document(path, raw)


class _Folder(NamedTuple):
    """A folder to look into: `real` is the path that patterns are held against, `above` are those it is in."""

    path: str
    real: str
    rules: Rules | None
    above: tuple[tuple[int, int], ...] = ()
    linked: bool = False


def _walk(start: _Folder, everything: bool) -> Iterator[str]:
    left, visited = [start], set[tuple[int, int]]()
    while left:
        folder = left.pop()
        try:
            facts = os.stat(folder.path)
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            yield folder.path
            continue
        place = (facts.st_dev, facts.st_ino)
        if place in folder.above or (folder.linked and place in visited):
            continue
        if folder.linked:
            visited.add(place)
        names = {entry.name for entry in entries}
        if is_checkpoint(names):
            yield folder.path
        rules = folder.rules
        if rules is not None and ".gitignore" in names:
            rules = rules_in(folder.real, rules)
        above, modules = (
            (*folder.above, place),
            modules_in(folder.path) if {MODULES, MODEL_INDEX} & names else frozenset(),
        )
        inner = [
            _Folder(entry.path, os.path.join(folder.real, entry.name), rules, above, entry.is_symlink())
            for entry in entries
            if entry.name not in modules and _is_folder(entry)
        ]
        left += [child for child in reversed(inner) if everything or not _is_left_out(child)]


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_left_out(folder: _Folder) -> bool:
    name = os.path.basename(folder.path)
    if name.startswith(".") or name in _OTHERS:
        return True
    if any(os.path.lexists(os.path.join(folder.path, file)) for file in _ENVIRONMENT):
        return True
    return bool(folder.rules) and ignored(folder.real, folder.rules or ())
