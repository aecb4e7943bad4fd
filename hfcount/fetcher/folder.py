"""Reads a local folder, or a single config file."""

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from hfcount.errors import FetchError
from hfcount.fetcher import files, module_files, tokens
from hfcount.fetcher.companions import companions
from hfcount.fetcher.interface import TOKENS, Documents, Pickles, Progress, Request, top_level
from hfcount.fetcher.layout import ADAPTER, BIN_INDEX, CONFIG, INDEX, SINGLE, layout_of
from hfcount.fetcher.location import Place, SourceName
from hfcount.fetcher.reasons import without_config
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.formats.samples import Piece, Samples, digest
from hfcount.text import printable

_WEIGHTS = (".safetensors", ".bin")
_SUFFIXES = (*_WEIGHTS, ".gguf", ".pt", ".pth", ".onnx", ".zip", ".tar", ".gz")  # which no repo's name ends in
_TEXTS = (".json", ".jsonl", ".txt", ".md", ".yaml", ".yml", ".py", ".jinja", ".log", ".model")
_STEP = r"(checkpoint|epoch|iter|step|global_step)[-_]?\d+"
_LOOKED, _LISTED, _DEEP = 100, 10_000, 5  # folders and files of which something is said, and how deep they may be


def takes(request: Request) -> bool:
    """Whether MODEL exists on disk (a broken link counts), or can only be a path."""
    model, path = request.model, local_path(request.model)
    return (
        model.startswith((".", "/", "~", os.sep))
        or model.endswith("/")
        or "\\" in model
        or path.name in (CONFIG, INDEX, BIN_INDEX)
        or path.suffix in _SUFFIXES
        or os.path.lexists(path)
        or (len(path.parts) > 1 and os.path.lexists(path.parts[0]) and _is_inner(path))
    )


def _is_inner(path: Path) -> bool:
    """Whether a path is deeper than a repo's name, or ends as trainers or files are called."""
    return len(path.parts) > 2 or re.fullmatch(_STEP, path.name) is not None or path.suffix.lower() in _TEXTS


def read(request: Request) -> Documents | Place:
    """The documents of a folder; or a config by its own file, whatever it is called, and nothing else."""
    path = local_path(request.model)
    if path.suffix != ".json" or os.path.isdir(path):
        folder = path / request.subfolder if request.subfolder else path
        return read_folder(folder, request.model, "folder", file=request.file)
    config = files.read(path)
    if config is None:
        from hfcount.fetcher.suggestions import no_folder

        raise FetchError("NoConfig", no_folder(path, request.model))
    return Documents(request.model, "folder", None, config, None, FolderShards(path.parent, ()), alone=True)


def local_path(model: str) -> Path:
    """The path that MODEL is, with `~` resolved where there is such a user."""
    return Path(os.path.expanduser(model))


def read_folder(
    folder: Path,
    model: str,
    source: SourceName,
    revision: str | None = None,
    label: str | None = None,
    file: str | None = None,
) -> Documents | Place:
    """The documents of one folder; the place alone if it has no config, or a file is named.

    Args:
        label: what messages call the documents; their paths when None.
        file: the weight file that is named.

    Raises:
        FetchError: NoSuchFolder or UnreadableFile.
    """
    if not os.path.isdir(folder):
        from hfcount.fetcher.suggestions import no_folder

        raise FetchError("NoSuchFolder", no_folder(folder, model))
    try:
        sizes, entries = _listed(folder), os.listdir(folder)
    except OSError as error:
        raise FetchError("UnreadableFile", f"{printable(str(folder))} cannot be read: {error.strerror}.") from None
    names, layout = top_level(sizes), layout_of({*entries})
    config, index = (files.read(folder / name, label and f"{label} {name}") for name in (layout.config, layout.listing))
    refuse = partial(_no_config, folder, sizes, source)
    place = Place(model, source, revision, sizes, files.FolderReader(folder, label), refuse, file)
    if config is None or file is not None:
        return place
    weights = [name for name in names if name.endswith(".safetensors")]
    if SINGLE not in weights and os.path.exists(folder / SINGLE):  # as a folder, or something else that is no file
        weights.append(SINGLE)
    # The cache has what was asked for before, and a recording need not have any weights.
    complete = source == "folder" or (source == "fixtures" and any(name.endswith(_WEIGHTS) for name in names))
    return Documents(
        model,
        source,
        revision,
        config,
        index,
        FolderShards(folder, weights, complete, entries),
        names if complete else list(sizes),
        sizes=sizes if complete else None,
        companions=_companions(folder, sizes, config, label),
        place=place,
        layout=layout,
    )


def _companions(
    folder: Path, sizes: Mapping[str, int | None], config: Document, label: str | None
) -> dict[str, Document]:
    """The further documents of a folder with these files."""

    def documents(wanted: Collection[str]) -> dict[str, Document]:
        read = ((name, files.read(folder / name, label and f"{label} {name}")) for name in wanted)
        return {name: document for name, document in read if document}

    named = documents([name for name in companions(sizes) if name not in TOKENS])
    others = module_files.configs({CONFIG: config, **named}, sizes, documents)
    return named | others | tokens.read(folder, sizes, label)


def _no_config(folder: Path, sizes: Collection[str], source: SourceName) -> FetchError:
    instead = without_config(sizes, files.read(folder / ADAPTER), folder if source == "folder" else None)
    return FetchError("NoConfig", f"{printable(str(folder))} has no {CONFIG}{instead}.")


_MOST_HOLES = 1000  # of a file, that are looked at


def _holes(handle: int, size: int) -> tuple[tuple[int, int], ...]:
    """The parts of a file that were never written, where the file system tells; what is behind its end is none."""
    if not hasattr(os, "SEEK_HOLE"):
        return ()
    holes, end = list[tuple[int, int]](), 0
    with suppress(OSError):
        while len(holes) < _MOST_HOLES and (begin := os.lseek(handle, end, os.SEEK_HOLE)) < size:
            end = size
            with suppress(OSError):  # ENXIO: nothing was written behind it
                end = os.lseek(handle, begin, os.SEEK_DATA)
            holes.append((begin, end))
    return tuple(holes)


class FolderShards:
    """Weight files of a folder; `whole`: the folder has all of them; `entries`: all names in it."""

    local = True
    kept: Collection[str] = ()

    def __init__(
        self, folder: Path, names: Collection[str], whole: bool = False, entries: Collection[str] = ()
    ) -> None:
        self._folder, self.whole, self._entries = folder, whole, frozenset(entries)
        self.names: Collection[str] | None = names

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._folder

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """Bytes of those of the files that are there; None for the size of what is no file."""
        sizes: dict[str, int | None] = {}
        for name in filter(self._there, wanted):
            try:
                facts = os.stat(self._folder / name)
                sizes[name] = facts.st_size if S_ISREG(facts.st_mode) else None
            except FileNotFoundError:
                continue
            except (OSError, ValueError):
                sizes[name] = None
        return sizes

    def close(self) -> None:
        """Nothing is open."""

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """The shards of those names; a file that does not exist is left out."""
        shards = {}
        for name in wanted:
            if self._there(name) and (shard := self._read(name)) is not None:
                shards[name] = shard
            done()
        return shards

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """The pickled files of those names; a file that does not exist is left out."""
        from hfcount.formats.pickles import PickleSet  # most checkpoints have none

        pickles = PickleSet()
        for name in wanted:
            if self._there(name):
                with files.opened(self._folder / name, printable(name)) as file:
                    if file is not None:
                        pickles.look(name, os.fstat(file.fileno()).st_size, partial(_range, file))
            done()
        return pickles.files

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """The digests of pieces of the files, as far as these reach."""
        digests: dict[Piece, str] = {}
        for piece in wanted:
            with files.opened(self._folder / piece.file, printable(piece.file)) as file:
                if file is not None:
                    file.seek(piece.begin)
                    raw = file.read(piece.end - piece.begin) or b""
                    if len(raw) == piece.end - piece.begin:
                        digests[piece] = digest(raw)
        return digests

    def _there(self, name: str) -> bool:
        """Whether it may exist: a recording names many files that are absent."""
        return "/" in name or name in self._entries

    def _read(self, name: str) -> Shard | None:
        with files.opened(self._folder / name, printable(name)) as file:
            if file is None:
                return None
            size = os.fstat(file.fileno()).st_size
            first = file.read(256) or b""
            rest = file.read(max(header_end(first, size) - len(first), 0)) or b""
            shard, holes = read_shard(name, size, first + rest), _holes(file.fileno(), size)
            return shard._replace(holes=holes) if holes else shard


def _range(file: BinaryIO, start: int, stop: int) -> bytes:
    file.seek(start)
    return file.read(stop - start) or b""


def _listed(folder: Path) -> dict[str, int | None]:
    """Bytes of the files of a folder and, of some, of the folders in it, by their paths."""
    sizes = _files(folder)
    left, looked = [""], 0
    while left and looked < _LOOKED and len(sizes) < _LISTED:
        place, looked = left.pop(0), looked + 1
        with suppress(OSError), os.scandir(folder / place) as entries:
            inner = sorted(f"{place}{entry.name}/" for entry in entries if entry.name[0] != "." and _is_folder(entry))
            left += inner if place.count("/") < _DEEP else []
            for child in inner[: _LOOKED - looked]:
                with suppress(OSError):
                    sizes |= {f"{child}{name}": size for name, size in _files(folder / child).items()}
    return sizes


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)


def _files(folder: Path) -> dict[str, int | None]:
    with os.scandir(folder) as entries:
        return {entry.name: entry.stat().st_size for entry in sorted(entries, key=_name) if _is_file(entry)}


def _name(entry: "os.DirEntry[str]") -> str:
    return entry.name


def _is_file(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False
