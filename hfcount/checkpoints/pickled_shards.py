"""Pickled weight files as shards, so that they go through the checks that headers of safetensors go through."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence

from hfcount.fetcher.interface import Shards
from hfcount.fetcher.reasons import named
from hfcount.formats.dtypes import BITS
from hfcount.formats.pickles import Broken, Pickle
from hfcount.formats.safetensors import LENGTH_BYTES, Entry, Header, Shard
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules.hf003_invalid_header import InvalidHeader
from hfcount.verifier.rules.hf004_truncated_shard import CutOff
from hfcount.verifier.rules.hf701_pickle_calls import PickleCalls
from hfcount.verifier.rules.hf705_pickle_protocol import PickleProtocol

_STAND_INS = {"complex128": "C64", "complex32": "C64", "qint8": "I8", "quint8": "U8", "qint32": "I32"}
"""For dtypes that safetensors does not have one of the same kind, so that names and shapes can be compared."""

Files = Sequence[Pickle | Broken]


def sound(files: Files) -> list[Pickle]:
    """Those files that could be read, by name."""
    return sorted((file for file in files if isinstance(file, Pickle)), key=lambda pickle: pickle.name)


def shards(files: Files) -> dict[str, Shard]:
    """All files by name, as the checks of weight files take them."""
    return {file.name: shard(file) if isinstance(file, Pickle) else Shard(file.name, file.size) for file in files}


def shard(pickle: Pickle) -> Shard:
    """A pickle as the checks of weight files take it: its header lists the tensors as a file of safetensors would.

    The places of the tensors are not those in the pickle, and the header's length is what is left of the file's size,
    so that a sound file has the size that its header asks for.
    """
    entries, place = dict[str, Entry](), 0
    for name, tensor in pickle.tensors.items():
        dtype = tensor.dtype if tensor.dtype in BITS else _STAND_INS.get(tensor.dtype, "U8")
        end = place + (tensor.elements * BITS[dtype] + 7) // 8
        entries[name] = Entry(dtype, tensor.shape, place, end)
        place = end
    raw = json.dumps(
        {
            name: {"dtype": dtype, "shape": shape, "data_offsets": [*place]}
            for name, (dtype, shape, *place) in entries.items()
        }
    ).encode()
    return Shard(pickle.name, pickle.size, Header(entries, pickle.size - LENGTH_BYTES - place, place, raw))


def broken(files: Files) -> list[Finding]:
    """HF003, HF004: why files cannot be read, one finding of each; none for what is longer than is read."""
    by_code: dict[str, list[Broken]] = {}
    for file in sorted((file for file in files if isinstance(file, Broken)), key=lambda file: file.name):
        if not file.large:
            by_code.setdefault(file.code, []).append(file)
    return [_broken(code, alike) for code, alike in by_code.items()]


def _broken(code: str, alike: Sequence[Broken]) -> Finding:
    first, text = alike[0], alike[0].problem
    if len(alike) > 1:
        text += f" {len(alike):,} files are broken: {named([file.name for file in alike])}."
    if code == "HF004":
        fix = first.fix or CutOff.remedy
        return CutOff(statement=text, file=first.name, fix=fix, expected=first.expected, observed=first.size)
    return InvalidHeader(statement=text, file=first.name, fix=first.fix, expected=first.expected)


def faults(files: Files) -> list[Finding]:
    """What is wrong with files whatever they are to hold: they cannot be read, or torch refuses them."""
    return broken(files) + [finding for pickle in sound(files) for finding in refused(pickle)]


def refused(pickle: Pickle) -> Iterator[Finding]:
    """HF701, HF705: what torch.load refuses of a pickle by default, whatever it holds."""
    if pickle.globals:
        yield PickleCalls(file=pickle.name, called=pickle.globals)
    elif pickle.opcodes:
        yield PickleProtocol(file=pickle.name, opcodes=pickle.opcodes, protocol=pickle.protocol)


def read_weights(
    shards: Shards, wanted: Collection[str], progress: Callable[[int], Callable[[], None]]
) -> dict[str, Shard]:
    """The files of those names; one that does not exist is left out.

    Args:
        progress: called with the number of files; returns what is called after each.

    Raises:
        FetchError: they could not be read.
    """
    done, pickled = progress(len(wanted)), [name for name in wanted if name.endswith(".bin")]
    others = [name for name in wanted if name not in pickled]
    read = dict(shards.read(others, done)) if others else {}
    return read | {name: _of_module(file) for name, file in (shards.pickles(pickled, done) if pickled else {}).items()}


def _of_module(file: Pickle | Broken) -> Shard:
    """A pickled file as the checks of modules take it; what torch.load refuses by default cannot be read."""
    if isinstance(file, Broken):
        return Shard(file.name, file.size, problem=file.problem, fix=file.fix)
    if finding := next(refused(file), None):
        return Shard(file.name, file.size, problem=finding.message, fix=finding.fix)
    return shard(file)
