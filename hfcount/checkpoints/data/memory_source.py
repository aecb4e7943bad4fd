"""A source of values for tensors in memory: torch tensors on any device, and numpy arrays."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hfcount.checkpoints.data.count import CHUNK
from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.data.pool import Done, Worker, run
from hfcount.checkpoints.data.runs import Bytes
from hfcount.checkpoints.data.source import Values
from hfcount.checkpoints.data.tally import Tally


class MemorySource:
    """Tensors in memory by name; those on a device are copied one by one.

    Args:
        places: the tensors' locations, as if they were in a file.
    """

    def __init__(self, tensors: Mapping[str, Any], places: Mapping[str, TensorLocation]) -> None:
        self._tensors = {place: tensors[name] for name, place in places.items()}

    def read(self, places: Mapping[str, TensorLocation], summed: Collection[str], done: Done) -> Values:
        """As Source has it; there are no files."""
        del summed
        works: list[Callable[[Worker], Tally]] = [partial(self._counted, place) for place in places.values()]
        return Values(dict(zip(places, run(works, done), strict=True)), {})

    def parts(self, place: TensorLocation, begins: Sequence[int], size: int) -> list[bytes]:
        """As Source has it."""
        raw = _bytes(self._tensors[place])
        return [raw[begin : begin + size].tobytes() for begin in begins]

    def chunks(self, place: TensorLocation) -> Iterator[Bytes]:
        """As Source has it."""
        raw = _bytes(self._tensors[place])
        return (raw[begin : begin + CHUNK] for begin in range(0, raw.size, CHUNK))

    def _counted(self, place: TensorLocation, worker: Worker) -> Tally:
        chunks = self.chunks(place)
        return worker.count(place.entry.dtype, place.size, lambda raw: np.copyto(raw, next(chunks)), 0, place.row)


def _bytes(tensor: Any) -> Bytes:
    if isinstance(tensor, np.ndarray):
        return np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)
    torch = sys.modules["torch"]  # it is one of its tensors
    raw: Bytes = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return raw
