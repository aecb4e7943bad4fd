"""A local folder, or a config's own file."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.fetcher.interface import CONFIG, INDEX, Documents, Progress, Request, SourceName
from hfcount.fetcher.missing import without_config
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.text import printable


def takes(request: Request) -> bool:
    """Whether MODEL is a folder or a .json file, or can only be meant as a path."""
    path = local_path(request.model)
    return (
        request.model.startswith((".", "/", "~", os.sep))
        or "\\" in request.model
        or os.path.isdir(path)
        or (path.suffix == ".json" and (path.name == CONFIG or os.path.exists(path)))
    )


def read(request: Request) -> Documents:
    """The documents of a folder; or a config by its own file, whatever it is called, and nothing else."""
    path = local_path(request.model)
    if path.suffix != ".json" or os.path.isdir(path):
        return read_folder(path / request.subfolder if request.subfolder else path, request.model, "folder")
    config = files.read(path)
    if config is None:
        raise FetchError("NoConfig", f"there is no file {printable(str(path))}. Check the path.")
    return Documents(request.model, "folder", None, config, None, FolderShards(path.parent, []), alone=True)


def local_path(model: str) -> Path:
    """The path that MODEL is, with `~` resolved where there is such a user."""
    return Path(os.path.expanduser(model))


def checkpoints_below(root: Path) -> list[str]:
    """Every folder from `root` down that holds a config.json beside weights or an index, and each that cannot be read.

    Raises:
        FetchError: NoSuchFolder or NoConfig.
    """
    if not root.is_dir():
        raise FetchError("NoSuchFolder", f"{printable(str(root))} is not a folder. Check --recursive.")
    found: list[str] = []
    for folder, _, names in os.walk(root, onerror=lambda error: found.append(str(error.filename))):
        if CONFIG in names and any(name == INDEX or name.endswith((".safetensors", ".bin")) for name in names):
            found.append(folder)
    if not found:
        raise FetchError(
            "NoConfig", f"no {CONFIG} with weights or an index beside it, from {printable(str(root))} down."
        )
    return sorted(found)


def read_folder(
    folder: Path, model: str, source: SourceName, revision: str | None = None, label: str | None = None
) -> Documents:
    """The documents of one folder.

    Args:
        label: what messages call the documents; their paths when None.

    Raises:
        FetchError: NoSuchFolder, NoConfig or UnreadableFile.
    """
    if not os.path.isdir(folder):
        raise FetchError(
            "NoSuchFolder", f"{printable(str(folder))} is not a folder. Check the path of {printable(model)}."
        )
    config, index = (files.read(folder / name, label and f"{label} {name}") for name in (CONFIG, INDEX))
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if _is_file(entry))
    except OSError as error:
        raise FetchError("UnreadableFile", f"{printable(str(folder))} cannot be read: {error.strerror}.") from None
    if config is None:
        raise FetchError("NoConfig", f"{printable(str(folder))} has no {CONFIG}{without_config(names)}.")
    shards = FolderShards(folder, [name for name in names if name.endswith(".safetensors")])
    return Documents(model, source, revision, config, index, shards, names)


class FolderShards:
    """Weight files of a folder."""

    local = True

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self._folder = folder
        self.names: Collection[str] | None = names

    def close(self) -> None:
        """Nothing is open."""

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; a file that does not exist is left out."""
        found = {}
        for name in wanted:
            if (one := self._read(name)) is not None:
                found[name] = one
            done()
        return found

    def _read(self, name: str) -> Shard | None:
        with files.opened(self._folder / name, printable(name)) as file:
            if file is None:
                return None
            size = os.fstat(file.fileno()).st_size
            first = file.read(256) or b""
            rest = file.read(max(header_end(first, size) - len(first), 0)) or b""
            return read_shard(name, size, first + rest)


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False
