"""Patterns in the bytes of a chunk that no sum shows: runs of zeros, rows and blocks that repeat, text.

What is dense is passed over in a few microseconds: runs are looked for only where two words in a row of a coarse sample
are zero, rows are compared in full in the first chunk of each piece of a tensor and by their first words in the others,
blocks by words of the same sample, and text is looked for where values are huge or have no sign.
"""

import re
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfcount.checkpoints.data.byte_span import Span

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

PAGE = 4096
"""Bytes of a page of memory or of a disk, of which holes are multiples."""

_WORD = 8
_SPARSE = PAGE // 2 // _WORD  # words between two that are sampled, so that no zero page is missed
_SMALL = 16 * PAGE  # bytes up to which everything is looked at
_SHORTEST = 64  # bytes of a run in a small tensor
_MOST = 1000  # runs that are kept of a piece
_ROWS, _HEAD = 64, 256  # rows of a piece that are compared, and their first bytes, by which most differ
_FEW = 8  # elements that a row has besides zeros, at least
_BLOCK = 256  # bytes between two words that are looked at for text, of a chunk that is not small
_SHORT = 64  # bytes of text that are looked for in a small one
_HIGH = np.uint64(0x8080808080808080)
_TEXT = re.compile(rb"[\t\n\r -~]{96,}")
_WORDS_LEAST = 4  # with space between them
_LETTERS = 12  # different characters of a text, at least
_WORDS = re.compile(rb"[A-Za-z]{3,}")
_CLOSE = 256 // _WORD  # words between two that are sampled of a small tensor
_PASSED = 8  # chunks, of which rows are compared in the first
_APART = 512  # bytes between two rows whose first words are compared, at least
_CHANCE = 40.0  # bits that a row has to hold, so that no chance makes another one like it
_PAIRS = 4  # of blocks that may be the same, of a piece


class RowSample(NamedTuple):
    """How some rows of a matrix compare with those before them.

    Args:
        pairs: how many rows were compared with the one before.
        repeated: how many of them are the same, and not zero.
        rows: how many rows have some value that is not zero.
        constant: in how many of these all values are the same.
        twins: in how many of these each value is there twice, in columns side by side.
        first: the number of the first row that is any of these; None if none is.
    """

    pairs: int = 0
    repeated: int = 0
    rows: int = 0
    constant: int = 0
    twins: int = 0
    first: int | None = None

    def added(self, other: "RowSample") -> "RowSample":
        """The sample of both; the first rows are numbered alike."""
        firsts = [sample.first for sample in (self, other) if sample.first is not None]
        return RowSample(
            self.pairs + other.pairs,
            self.repeated + other.repeated,
            self.rows + other.rows,
            self.constant + other.constant,
            self.twins + other.twins,
            min(firsts, default=None),
        )


class Blocks(NamedTuple):
    """Two places of a tensor that may lie in the same block of bytes, and how many bytes before or behind are alike."""

    first: int
    second: int
    size: int


class Patterns:
    """Looks at the chunks of a piece of a tensor, before they are counted.

    Args:
        begin: the first byte of the piece in the tensor.
        row: bytes of a row of a matrix; 0 where rows are not compared.
        width: bytes of an element.
        plain: whether text is told by bytes that have no sign, as in narrow floats and whole numbers, rather than by
            values that are huge.
    """

    def __init__(self, begin: int, row: int, width: int, plain: bool) -> None:
        self._begin, self._row, self._width, self._plain = begin, row, width, plain
        self.zero_runs: list[Span] = []
        self.rows: RowSample | None = None
        self.text: Span | None = None
        self._sample: list[Words] = []
        self._step = 2 * _SPARSE

    def look(self, raw: Bytes, start: int) -> None:
        """Looks at a chunk.

        Args:
            start: its first byte in the piece.
        """
        begin = self._begin + start
        words = raw[: raw.size // _WORD * _WORD].view(np.uint64)
        sample = words[::_SPARSE]
        if raw.size <= _SMALL or np.count_nonzero(sample) < sample.size - 1:
            self._zeros(words, begin)
        if self._row:
            self._look_at_rows(raw, words, start)
            if not start and raw.size <= _SMALL:
                self._step = _CLOSE
            self._sample.append(words[:: self._step].copy())
        if self._plain and self.text is None and _signless(words):
            self.read_text(raw, start)

    def read_text(self, raw: Bytes, start: int) -> None:
        """Looks for text in a chunk whose values are not like those of weights."""
        for match in _TEXT.finditer(raw.tobytes()):
            letters = sum(len(word) for word in _WORDS.findall(match[0]))
            if 2 * letters > len(match[0]) and len(match[0].split()) >= _WORDS_LEAST and len({*match[0]}) >= _LETTERS:
                self.text = Span(self._begin + start + match.start(), self._begin + start + match.end())
                return

    def repeated_blocks(self) -> list[Blocks]:
        """Places that may hold the same bytes, by sampled words that are there twice: each page has one."""
        if not self._sample:
            return []
        sample = np.concatenate(self._sample)
        ordered = np.sort(sample)
        if not ((ordered[1:] == ordered[:-1]) & (ordered[1:] != 0)).any():
            return []
        order = np.argsort(sample, kind="stable")
        same = (sample[order][1:] == sample[order][:-1]) & (sample[order[1:]] != 0)
        step = self._step * _WORD
        return [
            Blocks(self._begin + int(order[place]) * step, self._begin + int(order[place + 1]) * step, step // 2)
            for place in np.flatnonzero(same)[:_PAIRS]
        ]

    def _look_at_rows(self, raw: Bytes, words: Words, start: int) -> None:
        """Compares the first rows of a piece, and in some of its chunks those whose first words are the same."""
        begin, row = self._begin + start, self._row
        if not start:
            self.rows = sampled(raw, row, self._width, begin)
        elif start // raw.size % _PASSED:
            return
        if row % _WORD or begin % _WORD or (self.rows and self.rows.repeated):
            return
        offset, step = -begin % row, -(-_APART // row) * row
        heads = words[offset // _WORD :: step // _WORD]
        same = heads[1:] == heads[:-1]
        if same.any() and (places := np.flatnonzero(same & (heads[1:] != 0))).size:
            begins = offset + int(places[0]) * step
            rows = sampled(raw[begins:], row, self._width, begin + begins)
            if rows and rows.repeated:
                self.rows = self.rows.added(rows) if self.rows else rows

    def _zeros(self, words: Words, begin: int) -> None:
        """Adds the runs of zero words that are long, or may go on in the next chunk."""
        zero = np.zeros(words.size + 2, np.int8)
        zero[1:-1] = words == 0
        edges = np.flatnonzero(np.diff(zero))
        starts, ends = edges[::2], edges[1::2]
        shortest = (PAGE if words.size * _WORD > _SMALL else _SHORTEST) // _WORD
        kept = (ends - starts >= shortest) | (starts == 0) | (ends == words.size)
        for first, last in zip(starts[kept].tolist(), ends[kept].tolist(), strict=True):
            run = Span(begin + first * _WORD, begin + last * _WORD)
            if self.zero_runs and self.zero_runs[-1].end == run.begin:
                self.zero_runs[-1] = Span(self.zero_runs[-1].begin, run.end)
            elif len(self.zero_runs) < _MOST:
                self.zero_runs.append(run)


def _signless(words: Words) -> bool:
    """Whether somewhere no byte has its highest bit set, as in text: in a short block, or in two sampled words."""
    if words.size * _WORD > _SMALL:
        signless = (words[:: _BLOCK // _WORD] & _HIGH) == 0
        return bool((signless[1:] & signless[:-1]).any())
    width = _SHORT // _WORD
    blocks = words[: words.size // width * width].reshape(-1, width)
    return bool((np.bitwise_or.reduce(blocks, axis=1) & _HIGH == 0).any())


def sampled(raw: Bytes, row: int, width: int, begin: int) -> RowSample | None:
    """Compares the first rows of a chunk; None if there are not two.

    Args:
        begin: its first byte in the tensor.
    """
    offset = -begin % row
    count = min((raw.size - offset) // row, _ROWS)
    if count < 2 or row // width < _FEW:
        return None
    rows = raw[offset : offset + count * row].reshape(count, row)
    heads = np.ascontiguousarray(rows[:, : min(row, _HEAD) // (2 * width) * 2 * width]).view(f"u{width}")
    filled = np.count_nonzero(heads, axis=1) >= _FEW
    constant = (heads == heads[:, :1]).all(axis=1) & filled
    repeated = (heads[1:] == heads[:-1]).all(axis=1) & filled[1:] & ~constant[1:]
    twins = (heads[:, ::2] == heads[:, 1::2]).all(axis=1) & filled & ~constant
    for number in np.flatnonzero(repeated):
        repeated[number] = (rows[number + 1] == rows[number]).all()
    if repeated.any() and _bits(rows[1:][repeated].view(f"u{width}")) < _CHANCE:
        repeated[:] = False
    for flags, whole in ((constant, _is_constant), (twins, _has_twins)):
        for number in np.flatnonzero(flags):
            flags[number] = whole(rows[number].view(f"u{width}"))
    some = [int(flags.argmax()) + shift for flags, shift in ((repeated, 1), (constant, 0), (twins, 0)) if flags.any()]
    first = (begin + offset) // row + min(some) if some else None
    return RowSample(count - 1, int(repeated.sum()), int(filled.sum()), int(constant.sum()), int(twins.sum()), first)


def _bits(rows: NDArray[np.unsignedinteger]) -> float:
    """How many bits each of some rows holds, at most: of ternary weights few."""
    return np.count_nonzero(rows) / len(rows) * log2(np.unique(rows).size)


def _is_constant(row: NDArray[np.unsignedinteger]) -> bool:
    return bool((row == row[0]).all())


def _has_twins(row: NDArray[np.unsignedinteger]) -> bool:
    even = row.size // 2 * 2
    return bool((row[:even:2] == row[1:even:2]).all())
