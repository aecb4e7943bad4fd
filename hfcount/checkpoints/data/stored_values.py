"""Locates the values of a checkpoint in safetensors, pickles, GGUF, adapters and modules."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hfcount.checkpoints.data.locations import TensorLocation, places
from hfcount.checkpoints.data.open_files import opened
from hfcount.checkpoints.inspection import Inspection, unwatched
from hfcount.fetcher.data_files import data_folder
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Request
from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS
from hfcount.formats.safetensors import Entry, Shard
from hfcount.text import plural, printable

if TYPE_CHECKING:
    from hfcount.formats.pickles import Tensor

_ADAPTERS = ("adapter_model.safetensors", "adapter_model.bin")
_LOCAL_HEADER = 30  # bytes of the header before a record of an archive, without the name and what else it has


class StoredValues(NamedTuple):
    """The tensors of a checkpoint whose values can be read.

    Args:
        folder: of all files.
        places: locations by tensor name; names of a module's tensors are prefixed with its folder.
        files: the files that they are in.
        unread: why the values of some are not read; None if all are.
    """

    folder: Path
    places: Mapping[str, TensorLocation]
    files: tuple[str, ...]
    unread: str | None = None


def stored_values(request: Request, inspection: Inspection) -> StoredValues | None:
    """Locates the values; None if there is nothing to read.

    Raises:
        FetchError: the files are not on this machine.
    """
    evidence = inspection.evidence
    if evidence.container == "gguf":
        return of_gguf(request, inspection)
    shards = {**evidence.others, **(evidence.headers or {}), **(evidence.shards or {})}
    names = _adapter(inspection) if evidence.container == "adapter" else sorted(shards)
    if not names:
        return None
    folder = data_folder(request, inspection.documents, names)
    pickled = [name for name in names if not name.endswith(".safetensors")]
    headers = _headers(folder, [name for name in names if name not in pickled], shards)
    unprefixed = evidence.shards or (() if evidence.others else headers)
    locations, unread = _of_shards(headers, unprefixed), list[str]()
    for name in pickled:
        locations |= of_pickle(folder, name, unread)
    return StoredValues(folder, locations, tuple(names), _why(unread))


def _adapter(inspection: Inspection) -> list[str]:
    """The file of an adapter."""
    place = inspection.documents.place
    there = [name for name in _ADAPTERS if place and name in place.sizes]
    return there[:1] or [_ADAPTERS[0]]


def _headers(folder: Path, names: Sequence[str], known: Mapping[str, Shard]) -> dict[str, Shard]:
    """Files of safetensors with their headers: those that were read with their sizes, and the others."""
    headers = {name: known[name] for name in names if name in known and known[name].size is not None}
    lacking = [name for name in names if name not in headers]
    if lacking:
        headers |= FolderShards(folder, lacking, entries=lacking).read(lacking, unwatched(1))
    return headers


def _of_shards(shards: Mapping[str, Shard], unprefixed: Iterable[str]) -> dict[str, TensorLocation]:
    """The tensors of files that have the size that their headers say; of others that is told by the headers."""
    sound = {name: shard for name, shard in shards.items() if shard.header and shard.size == shard.header.file_bytes}
    locations = dict[str, TensorLocation]()
    for name in sorted(sound, key=lambda name: name in unprefixed):
        prefix = "" if name in unprefixed else _prefix(name)
        locations |= {prefix + tensor: place for tensor, place in places({name: sound[name]}).items()}
    return locations


def _prefix(name: str) -> str:
    folder = PurePosixPath(name).parent.as_posix()
    return f"{PurePosixPath(name).name}:" if folder == "." else f"{folder}/"


def of_pickle(folder: Path, name: str, unread: list[str]) -> dict[str, TensorLocation]:
    """The tensors of a pickled file; what cannot be read is added to `unread`."""
    from hfcount.formats.pickles import Broken, look

    locations = dict[str, TensorLocation]()
    prefix = _prefix(name) if "/" in name else ""
    with opened(folder / name) as file:

        def read(start: int, stop: int) -> bytes:
            file.seek(start)
            return file.read(stop - start)

        pickle = look(name, os.fstat(file.fileno()).st_size, read)
        if isinstance(pickle, Broken):  # which the findings about the file say
            return {}
        begins = {key: begin if pickle.legacy else _record(read, begin) for key, begin in pickle.begins.items()}
    for tensor, saved in pickle.tensors.items():
        place = None if saved.storage and saved.storage.key in pickle.compressed else _in_storage(name, saved, begins)
        if place:
            locations[prefix + tensor] = place
        else:
            unread.append(prefix + tensor)
    return locations


def _in_storage(name: str, tensor: "Tensor", begins: Mapping[str, int]) -> TensorLocation | None:
    """Where a tensor of a pickle is; None where its values do not lie one after another, or have no known dtype."""
    storage = tensor.storage
    if tensor.dtype not in BITS or storage is None or not begins.get(storage.key):
        return None
    strides = sorted((stride, size) for stride, size in zip(tensor.stride, tensor.shape, strict=True) if size != 1)
    if tensor.elements and strides != sorted(_strides(size for _, size in strides)):
        return None
    first = begins[storage.key] + (storage.begin + tensor.offset) * tensor.bits // 8
    ordered = [stride for stride, size in zip(tensor.stride, tensor.shape, strict=True) if size != 1]
    shape = tensor.shape if ordered == sorted(ordered, reverse=True) else (tensor.elements,)  # as they are stored
    return TensorLocation(name, first, Entry(tensor.dtype, shape, 0, tensor.bytes))


def _strides(sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The strides of dimensions of these sizes, the fastest first, and the sizes."""
    stride = 1
    for size in sizes:
        yield stride, size
        stride *= size


def _record(read: Callable[[int, int], bytes], begin: int) -> int:
    """Where the bytes of a record begin, behind its header; 0 if there is none."""
    raw = read(begin, begin + _LOCAL_HEADER)
    if len(raw) < _LOCAL_HEADER or not raw.startswith(b"PK\3\4"):
        return 0
    return begin + _LOCAL_HEADER + int.from_bytes(raw[26:28], "little") + int.from_bytes(raw[28:30], "little")


def of_gguf(request: Request, inspection: Inspection, only: tuple[str, ...] | None = None) -> StoredValues | None:
    """Locates the values of GGUF files: of all that were read, or of one set."""
    from hfcount.checkpoints.gguf.files import file_sets, headers
    from hfcount.formats.gguf.header import GgufHeader

    place = inspection.documents.place
    if place is None:
        return None
    sets, unread = file_sets(place), list[str]()
    sets = [file_set for file_set in sets if only is None or file_set.files == only]
    folder = data_folder(request, inspection.documents, [name for file_set in sets for name in file_set.files])
    locations = dict[str, TensorLocation]()
    for name, header in headers(place, sets, lambda: None).items():
        if not isinstance(header, GgufHeader) or header.end > (place.sizes[name] or 0):
            continue
        prefix = f"{name}:" if len(sets) > 1 else ""
        for tensor, stored in header.tensors.items():
            if stored.type in BITS or stored.type in BLOCKS:
                entry = Entry(stored.type, stored.shape, 0, stored.bytes)
                locations[prefix + tensor] = TensorLocation(name, header.data + stored.begin, entry)
            else:
                unread.append(prefix + tensor)
    return StoredValues(folder, locations, tuple(name for file_set in sets for name in file_set.files), _why(unread))


def _why(unread: Sequence[str]) -> str | None:
    if not unread:
        return None
    return f"the values of {plural(len(unread), 'tensor')} could not be compared: {printable(unread[0])}"
