"""A source of values for local files, which counts values while it reads."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hfcount.checkpoints.data.count import CHUNK, step
from hfcount.checkpoints.data.locations import TensorLocation, elements
from hfcount.checkpoints.data.open_files import changed, filled, opened, state
from hfcount.checkpoints.data.pool import Done, Worker
from hfcount.checkpoints.data.processes import run_apart
from hfcount.checkpoints.data.runs import Bytes
from hfcount.checkpoints.data.source import Values
from hfcount.checkpoints.data.tally import Tally

_CHUNKS = 64  # that a core takes at once
_TASK = _CHUNKS * CHUNK  # bytes of these


class TensorPiece(NamedTuple):
    """A part of a tensor: where it begins in the tensor and in the file, its bytes, and those of a row of a matrix."""

    tensor: str
    dtype: str
    begin: int
    first: int
    size: int
    row: int


class FileSource:
    """The files of a folder as a source of values."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, places: Mapping[str, TensorLocation], summed: Collection[str], done: Done) -> Values:
        """As Source has it; each file of `summed` is read by one core, from its first byte on."""
        tasks = list(_tasks(self._folder, places, summed))
        before = {path: state(path) for path in {task.path for task in tasks}}
        tallies, sums = {name: Tally() for name in places}, {}
        size = sum(piece.size for task in tasks for piece in task.pieces)
        size += sum(os.stat(task.path).st_size for task in tasks if task.summed)
        for task, (counted, digest) in zip(tasks, run_apart([task.run for task in tasks], done, size), strict=True):
            for piece, tally in zip(task.pieces, counted, strict=True):
                tallies[piece.tensor].add(tally, elements(piece.dtype, piece.begin))
            if digest is not None:
                sums[task.path.relative_to(self._folder).as_posix()] = digest
        for path, earlier in before.items():
            if state(path) != earlier:
                raise changed(path)
        return Values(tallies, sums)

    def parts(self, place: TensorLocation, begins: Sequence[int], size: int) -> list[bytes]:
        """As Source has it."""
        with opened(self._folder / place.file) as file:
            parts = []
            for begin in begins:
                file.seek(place.begin + begin)
                parts.append(file.read(min(size, place.size - begin)))
            return parts

    def chunks(self, place: TensorLocation) -> Iterator[Bytes]:
        """As Source has it."""
        raw = np.empty(CHUNK, np.uint8)
        with opened(self._folder / place.file) as file:
            file.seek(place.begin)
            for begin in range(0, place.size, CHUNK):
                yield filled(file, raw[: min(CHUNK, place.size - begin)], self._folder / place.file)


@dataclass(frozen=True, slots=True)
class _Task:
    """A core's unit of work: pieces of a file, in order; with `summed`, all of the file and its sha256."""

    path: Path
    pieces: Sequence[TensorPiece]
    summed: bool = False

    def run(self, worker: Worker) -> tuple[list[Tally], str | None]:
        """The figures of each piece, and the file's sum."""
        digest = sha256() if self.summed else None
        with opened(self.path) as file:
            tallies = [self._piece(file, worker, piece, digest) for piece in self.pieces]
            if digest:
                self._rest(file, worker, os.fstat(file.fileno()).st_size, digest)
        return tallies, digest.hexdigest() if digest else None

    def _piece(self, file: BufferedReader, worker: Worker, piece: TensorPiece, digest: Any) -> Tally:
        if digest:
            self._rest(file, worker, piece.first, digest)
        file.seek(piece.first)
        return worker.count(piece.dtype, piece.size, self._filling(file, digest), piece.begin, piece.row)

    def _rest(self, file: BufferedReader, worker: Worker, end: int, digest: Any) -> None:
        """Adds the bytes up to a place in the file to its sum: its header, and what may lie behind the tensors."""
        worker.pass_by(end - file.tell(), self._filling(file, digest))

    def _filling(self, file: BufferedReader, digest: Any) -> Callable[[Bytes], None]:
        """What reads the next bytes of the file."""

        def fill(raw: Bytes) -> None:
            filled(file, raw, self.path)
            if digest:
                digest.update(raw)

        return fill


def _tasks(folder: Path, where: Mapping[str, TensorLocation], summed: Collection[str]) -> Iterator[_Task]:
    """The work in parts that are about as long, but for files that are read as a whole."""
    by_file: dict[str, list[TensorPiece]] = {}
    for name, place in sorted(where.items(), key=lambda item: (item[1].file, item[1].begin)):
        dtype, pieces = place.entry.dtype, by_file.setdefault(place.file, [])
        task = _CHUNKS * step(dtype)
        for begin in range(0, place.size, task):
            size = min(task, place.size - begin)
            pieces.append(TensorPiece(name, dtype, begin, place.begin + begin, size, place.row))
    for file in sorted(summed):
        in_order, by_file[file] = _in_order(by_file.get(file, ()))
        yield _Task(folder / file, in_order, True)
    for file, pieces in by_file.items():
        yield from (_Task(folder / file, batch) for batch in _batches(pieces))


def _in_order(pieces: Sequence[TensorPiece]) -> tuple[list[TensorPiece], list[TensorPiece]]:
    """Those that do not begin before another one has ended, and the others: tensors of pickles share their bytes."""
    first: list[TensorPiece] = []
    again: list[TensorPiece] = []
    end = 0
    for piece in pieces:
        target = again if piece.first < end else first
        target.append(piece)
        end = max(end, piece.first + piece.size)
    return first, again


def _batches(pieces: Sequence[TensorPiece]) -> Iterator[list[TensorPiece]]:
    batch: list[TensorPiece] = []
    for piece in pieces:
        if batch and piece.first + piece.size - batch[0].first > _TASK:
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
