"""Finds weights that were never written, by the holes of sparse files; needs no values and no numpy.

A file system may store zeros as holes, too: matrices that are zero, or rows of them. So the bytes beside a hole are
read, to see where the zeros begin and end: those of a matrix, or of whole rows, are meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from hfcount.checkpoints.data.byte_span import Span
from hfcount.checkpoints.data.findings import ranged
from hfcount.checkpoints.data.locations import TensorLocation, places
from hfcount.checkpoints.data.subjects import Subject, subjects
from hfcount.checkpoints.data.tally import Tally
from hfcount.checkpoints.inspection import Inspection
from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.fetcher.data_files import data_folder
from hfcount.fetcher.interface import Request
from hfcount.formats.safetensors import Shard
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules.hf915_hole_in_file import HoleInFile

if TYPE_CHECKING:
    from hfcount.verifier.rules.hf908_zeros_in_part import ZerosInPart

_AROUND = 1 << 20  # bytes that are read on either side of a hole
_LEAST = 4096  # bytes of a tensor that are in a hole


def with_holes(request: Request, inspection: Inspection, shards: Mapping[str, Shard]) -> Inspection:
    """Adds findings about tensors of which a part is in a hole.

    Args:
        shards: the files that have holes.
    """
    try:
        folder = data_folder(request, inspection.documents, list(shards))
        broken = [found for name in sorted(shards) for found in _of_file(folder, shards[name], inspection)]
    except FetchError:  # what cannot be read is said elsewhere
        return inspection
    if broken:
        names = {tensor.name for tensor, _ in broken}
        outcome = inspection.outcome
        outcome.findings = [
            finding for finding in outcome.findings if not (_is_zeros(finding) and finding.tensor in names)
        ]
        outcome.findings += ranged(HoleInFile, [tensor for tensor, _ in broken], broken[0][1])
        outcome.errors_first()
    return inspection


def _is_zeros(finding: Finding) -> "TypeGuard[ZerosInPart]":
    """Whether it reports by its values what a hole explains."""
    return finding.code == "HF908"


def _of_file(folder: Path, shard: Shard, inspection: Inspection) -> Iterator[tuple[Subject, Span]]:
    where = places({shard.name: shard})
    tensors = subjects(where, dict.fromkeys(where, Tally()), inspection)
    for hole in shard.holes:
        partly = [tensor for tensor in tensors if tensor.weights and _in_part(tensor.place, hole)]
        for tensor in partly:
            part = _zeros(folder, tensor.place, hole)
            if part is not None and not _is_meant(tensor, part):
                yield tensor, part


def _in_part(place: TensorLocation, hole: Sequence[int]) -> bool:
    """Whether some bytes of a tensor are in a hole, and not all."""
    begin, end = max(place.begin, hole[0]), min(place.begin + place.size, hole[1])
    return _LEAST <= end - begin < place.size


def _zeros(folder: Path, place: TensorLocation, hole: Sequence[int]) -> Span | None:
    """The bytes of a tensor that are zero in and around a hole; None if the file is gone."""
    begin, end = max(place.begin, hole[0]), min(place.begin + place.size, hole[1])
    with files.opened(folder / place.file, printable(place.file)) as file:
        if file is None:
            return None
        start = max(place.begin, begin - _AROUND)
        file.seek(start)
        before = file.read(begin - start) or b""
        file.seek(end)
        behind = file.read(min(_AROUND, place.begin + place.size - end)) or b""
    begin -= len(before) - len(before.rstrip(b"\0"))
    end += len(behind) - len(behind.lstrip(b"\0"))
    return Span(begin - place.begin, end - place.begin)


def _is_meant(tensor: Subject, part: Span) -> bool:
    """Whether the zeros are the whole tensor or whole rows of it, as pruning makes them."""
    size, row = tensor.place.size, tensor.place.size // tensor.shape[0]
    return part == (0, size) or (part.begin % row == 0 and part.end % row == 0)
