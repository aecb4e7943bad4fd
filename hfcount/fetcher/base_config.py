"""Reads the config of a related model: the base of an adapter or GGUF file, or the target of a draft."""

import os
from contextlib import suppress
from pathlib import Path, PurePosixPath

from hfcount.errors import FetchError
from hfcount.fetcher import files, folder, opened
from hfcount.fetcher.interface import PROCESSORS, Request
from hfcount.fetcher.layout import ADAPTER, CONFIG, MODEL_INDEX, OPEN_CLIP
from hfcount.fetcher.location import Place
from hfcount.fetcher.model_names import understood
from hfcount.fetcher.suggestions import no_folder
from hfcount.formats.json import Document
from hfcount.text import printable


def base_config(named: str, request: Request, trusted: bool = True) -> Document:
    """The config.json of a model, by one request where it is a repo of the Hub.

    Args:
        named: a folder, a config's own .json file, or a repo as MODEL may name it.
        request: of the derived model; its options are used.
        trusted: whether a person named it; what a file names is never a path.

    Raises:
        FetchError: it could not be read.
        ValueError: it names a local folder with a revision.
    """
    if not named:
        raise FetchError("BadName", "The name of the base or the target is empty. Name a folder or a repo.")
    asked = request.replace(
        model=named, revision=None, subfolder=None, files=None, headers=None, file=None, base=None, target=None
    )
    if trusted and (os.path.exists(folder.local_path(named)) or folder.takes(asked)):
        return _local(named)
    asked = understood(asked.replace(fixtures=None))
    if request.fixtures is not None:
        return _recorded(request, asked.path)
    from hfcount.fetcher import cache

    if cache.takes(asked):
        cached = cache.read(asked)
        config = cached.reader.document(CONFIG) if isinstance(cached, Place) else cached.config
        return _there(config, asked.path)
    from hfcount.fetcher.hub import config as hub_config

    return hub_config.config(asked)


def base_place(named: str, request: Request) -> Place:
    """The folder or repo without a config that a person named as a base, to be closed by its reader.

    Raises:
        FetchError: it could not be read, or has a config.
        ValueError: it names a local folder with a revision.
    """
    local = os.path.exists(folder.local_path(named))
    asked = understood(
        request.replace(
            model=named,
            revision=None,
            subfolder=None,
            files=None,
            headers=None,
            file=None,
            base=None,
            target=None,
            fixtures=None if local else request.fixtures,
        )
    )
    documents = opened(asked)
    if isinstance(documents, Place):
        return documents
    documents.shards.close()
    raise FetchError("NoConfig", f"{printable(named)} is not a GGUF model.")


def base_in_tree(place: Place, request: Request, named: str) -> str | None:
    """The folder that a path in a file of a local checkpoint names, as whoever trained it wrote it; None if unknown.

    The path is tried from the checkpoint's folder and from each above, up to the top of the tree: the folder of
    --recursive, the current folder or else the one above the checkpoint, as where it is the current folder itself.
    Nothing outside of that is read, and where several fit, none is taken.
    """
    if place.source not in ("folder", "fixtures") or not named or "\0" in named or "://" in named:
        return None
    own = os.path.realpath(os.path.join(request.fixtures or "", folder.local_path(place.model)))
    top = os.path.realpath(request.tree or request.fixtures or os.curdir)
    if own == top or not _is_within(own, top):
        top = os.path.dirname(own)
    starts = [own]
    while starts[-1] != top and os.path.dirname(starts[-1]) != starts[-1]:
        starts.append(os.path.dirname(starts[-1]))
    paths = dict.fromkeys(os.path.realpath(os.path.join(start, named)) for start in starts)
    fitting = [path for path in paths if path != own and _is_within(path, top) and _holds_config(path)]
    return os.path.relpath(fitting[0]) if len(fitting) == 1 and len(top) > 1 else None


def takes_base(model: str) -> bool:
    """Whether a folder holds an adapter, GGUF files, or a model of open_clip or LeRobot, which alone have a base."""
    path = folder.local_path(model)
    names = os.listdir(path) if os.path.isdir(path) else [path.name]
    marks = {ADAPTER, OPEN_CLIP, *PROCESSORS}
    return not marks.isdisjoint(names) or any(name.lower().endswith(".gguf") for name in names)


def _is_within(path: str, top: str) -> bool:
    return os.path.commonpath((path, top)) == top


def _holds_config(path: str) -> bool:
    return os.path.isfile(os.path.join(path, CONFIG))


def own_config(request: Request) -> Document:
    """The config.json of the requested model, from a folder or by one request; raises as `base_config` does."""
    if folder.takes(request):
        return _local(request.path)
    from hfcount.fetcher.hub import config as hub_config

    return hub_config.config(request)


def _local(named: str) -> Document:
    path = folder.local_path(named)
    if os.path.isdir(path):
        config = files.read(path / CONFIG)
        return config or _there(None, named, _instead(path))
    if not os.path.exists(path):
        raise FetchError("NoConfig", no_folder(path, named))
    if path.suffix.lower() != ".json":
        other = _GGUF if path.suffix.lower() == ".gguf" else "name a folder, a config's own .json file or a repo"
        raise FetchError("NoConfig", f"{printable(named)} is not a {CONFIG}: {other}.")
    return _there(files.read(path), str(path))


_GGUF = "name the model that this GGUF was converted from"
_OTHERS = {
    ADAPTER: "name the model that this adapter is for",
    MODEL_INDEX: "name one model, not a pipeline",
}


def _instead(path: Path) -> str:
    """What to name in place of a folder without a config."""
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(path)
    suggestions = [advice for name, advice in _OTHERS.items() if name in names]
    suggestions += [_GGUF] if any(name.lower().endswith(".gguf") for name in names) else []
    return f": {suggestions[0]}" if suggestions else ""


def _recorded(request: Request, named: str) -> Document:
    path = PurePosixPath(named)
    if request.fixtures is None or path.is_absolute() or ".." in path.parts or "\0" in named:
        raise FetchError("BadName", f"{printable(named)} is not a path below --fixtures.")
    return _there(files.read(request.fixtures / path / CONFIG), named)


def _there(config: Document | None, where: str, instead: str = "") -> Document:
    if config is None:
        raise FetchError("NoConfig", f"{printable(where)} has no {CONFIG}{instead}.")
    return config
