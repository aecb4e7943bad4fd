"""Reads the headers of weight files of every form: the tensors they hold, and a digest of what else they say."""

import json
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from hfcount.diffing.locks.folding import StoredTensor, set_of
from hfcount.diffing.locks.roles import is_pickle
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.checkpoint_files import CheckpointFiles
from hfcount.formats.safetensors import header_end, read_shard

_AT_ONCE = 4
_FIRST = 65_536  # bytes
_SHORT = 200  # characters of a text that a lock keeps


class WeightHeader(NamedTuple):
    """What a weight file says it holds.

    Args:
        sha256: of the header's bytes; of a pickle, of its tensors and of what it calls.
        metadata: of a GGUF file, long values as digests.
    """

    tensors: tuple[StoredTensor, ...]
    sha256: str
    metadata: Mapping[str, Any] | None = None


def headers(source: CheckpointFiles, wanted: Collection[str]) -> dict[str, WeightHeader | FetchError]:
    """The headers of those of the files that have one, or why a file cannot be read."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        read = zip(wanted, pool.map(partial(_header, source), wanted), strict=True)
        return {name: header for name, header in read if header is not None}


def _header(source: CheckpointFiles, name: str) -> WeightHeader | FetchError | None:
    try:
        if name.lower().endswith(".safetensors"):
            return _of_safetensors(source, name)
        if name.lower().endswith(".gguf"):
            return _of_gguf(source, name)
        return _of_pickle(source, name) if is_pickle(name) else None
    except FetchError as error:
        return error
    except DocumentError:
        return None


def digest(value: Any) -> str:
    """The sha256 of a JSON value in its canonical form: keys sorted, no spaces, ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def _of_safetensors(source: CheckpointFiles, name: str) -> WeightHeader | None:
    size = source.sizes[name]
    first = source.reader.range(name, 0, _FIRST)
    end = header_end(first, size) if len(first) >= 8 else 0
    if end > len(first):
        first += source.reader.range(name, len(first), end)
    shard = read_shard(name, size, first)
    if shard.header is None:
        return None
    kept = set_of(name)
    rows = [StoredTensor(kept, key, entry.dtype, entry.shape) for key, entry in shard.header.tensors.items()]
    return WeightHeader(tuple(rows), sha256(shard.header.raw).hexdigest())


def _of_gguf(source: CheckpointFiles, name: str) -> WeightHeader:
    from hfcount.formats.gguf.header import read_gguf

    header = read_gguf(name, source.sizes[name], partial(source.reader.range, name))
    kept = set_of(name)
    rows = [StoredTensor(kept, key, tensor.type, tuple(tensor.shape)) for key, tensor in header.tensors.items()]
    metadata = {key: _short(value) for key, value in header.metadata.items()}
    raw = source.reader.range(name, 0, header.table[1])
    return WeightHeader(tuple(rows), sha256(raw).hexdigest(), metadata)


def _short(value: Any) -> Any:
    """A value of the metadata as a lock keeps it: short ones as they are, others as a digest."""
    if isinstance(value, bool | int) or (isinstance(value, str) and len(value) < _SHORT):
        return value
    return repr(value) if isinstance(value, float) else f"sha256:{digest(value)}"


def _of_pickle(source: CheckpointFiles, name: str) -> WeightHeader | None:
    from hfcount.formats.pickles import Pickle, look

    file = look(name, source.sizes[name] or 0, partial(source.reader.range, name))
    if not isinstance(file, Pickle):
        return None
    kept = set_of(name)
    rows = [StoredTensor(kept, key, tensor.dtype, tuple(tensor.shape)) for key, tensor in file.tensors.items()]
    calls = [sorted(file.globals), sorted(file.opcodes)]
    return WeightHeader(tuple(rows), digest([sorted(rows), calls, sorted(file.others)]))
