"""The requested GGUF files of a place: split sets and headers."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from hfcount.checkpoints.gguf.split_set import raw_part, split_name
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.location import Place
from hfcount.fetcher.reasons import named
from hfcount.formats.gguf.header import GgufHeader, read_gguf, read_variant
from hfcount.text import printable

HeaderOrError = GgufHeader | DocumentError
"""The header of a file, or why it has none."""

_AT_ONCE = 4
_COMPANIONS = ("mmproj", "imatrix", "vocab", "lora")  # in names of files that are no variants of a model


class FileSet(NamedTuple):
    """A file, or the files of a split set.

    Args:
        name: of the first file.
        files: their paths, in order; `lost` are those that the names of the others count.
    """

    name: str
    files: tuple[str, ...]
    lost: tuple[str, ...] = ()


def file_sets(place: Place) -> list[FileSet]:
    """The sets of a place that were asked for, all where none was.

    Raises:
        FetchError: NoSuchFile.
    """
    near = (name for name in place.sizes if name == place.file or name.count("/") <= 1)
    names = sorted(name for name in near if name.lower().endswith(".gguf") and "/." not in f"/{name}")
    grouped: dict[tuple[str, int], list[str]] = {}
    for name in names:
        parts = split_name(name)
        grouped.setdefault((parts[0], parts[2]) if parts else (name, 0), []).append(name)
    sets = [_set(stem, count, files) for (stem, count), files in grouped.items()]
    wanted = [file_set for file_set in sets if _is_wanted(file_set, place.file)]
    if wanted:
        return wanted
    raise FetchError("NoSuchFile", _without(place, names))


def _set(stem: str, count: int, files: list[str]) -> FileSet:
    if not count:
        return FileSet(files[0], tuple(files))
    all_of_them = [f"{stem}-{number:05}-of-{count:05}.gguf" for number in range(1, min(count, 1_000) + 1)]
    return FileSet(files[0], tuple(files), tuple(name for name in all_of_them if name not in files))


def _is_wanted(file_set: FileSet, file: str | None) -> bool:
    """Whether a set is asked for: by one of its files, or by the end of its name, such as `Q4_K_M`."""
    if file is None or file in file_set.files:
        return True
    if file.lower().endswith(".gguf"):
        return False
    parts = split_name(file_set.name)
    path = parts[0] if parts else file_set.name[: -len(".gguf")]
    return re.search(rf"(^|[-._/]){re.escape(file)}(/[^/]*)?$", path, re.IGNORECASE) is not None


def _without(place: Place, names: Sequence[str]) -> str:
    """The message for a requested file that is absent or unreadable."""
    cut = [name for name in place.sizes if raw_part(name)]
    if cut and (place.file is None or place.file in cut):
        first = re.split(r"(?<=\.gguf)", cut[0], maxsplit=1, flags=re.IGNORECASE)[0]
        return (
            f"{printable(place.model)} holds raw cuts of a GGUF file ({named(sorted(cut))}), which no loader reads."
            f" Join them first: cat {printable(first)}* > {printable(first)}."
        )
    there = f"It has {named(names)}." if names else "It has no GGUF files."
    return f"{printable(place.model)} has no GGUF file {printable(place.file or '')}. {there}"


def headers(place: Place, sets: Sequence[FileSet], done: Callable[[], None]) -> Mapping[str, HeaderOrError]:
    """The header of each file, or what is wrong with it.

    Over a network the first file is read whole, and one that may be a variant of it by one range, as far as that works.

    Raises:
        FetchError: one could not be read.
    """
    files = [name for file_set in sets for name in file_set.files]
    if place.local or len(files) == 1:
        return {name: _counted(_read(place, name), done) for name in files}
    files.sort(key=_is_companion)
    first = _counted(_read(place, files[0]), done)
    known = first if isinstance(first, GgufHeader) and split_name(files[0]) is None else None
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        rest = pool.map(lambda name: _counted(_read(place, name, known), done), files[1:])
        return {files[0]: first, **dict(zip(files[1:], rest, strict=True))}


def _is_companion(name: str) -> bool:
    return any(word in name.lower() for word in _COMPANIONS)


def _counted(read: HeaderOrError, done: Callable[[], None]) -> HeaderOrError:
    done()
    return read


def _read(place: Place, name: str, known: GgufHeader | None = None) -> HeaderOrError:
    size = place.sizes[name]

    def reader(start: int, stop: int) -> bytes:
        return place.reader.range(name, start, stop)

    try:
        if known and size and not _is_companion(name) and split_name(name) is None:
            variant = read_variant(name, size, reader, known)
            if variant is not None:
                return variant
        return read_gguf(name, size, reader)
    except DocumentError as error:
        return error
