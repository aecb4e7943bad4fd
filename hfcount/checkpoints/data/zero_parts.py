"""Finds parts of weight matrices that are zero because nothing was written there.

Pruning zeroes values here and there, whole rows or columns. A hole begins and ends where pages of a disk do, reaches
to the end of the tensor, or is longer than a row and begins or ends within one; lost parts are halves. No chance makes
runs as long among values that are not zero.
"""

from collections.abc import Iterator, Sequence
from math import inf, log, prod

from hfcount.checkpoints.data.byte_patterns import PAGE
from hfcount.checkpoints.data.byte_span import Span
from hfcount.checkpoints.data.findings import ranged
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.source import Source
from hfcount.checkpoints.data.subjects import Subject
from hfcount.formats.dtypes import BITS
from hfcount.spec.tree.leaves import split
from hfcount.verifier.rules.hf908_zeros_in_part import ZerosInPart

_UNLIKELY = 30.0  # natural logarithm of how unlikely a run has to be
_LOST = 0.4  # the smallest share of a matrix that is taken for a lost part, where it is whole rows
_FEW = 16  # elements of a run, at least
_AT_EDGE = 3  # elements of it in a row that is not zero as a whole, at least
_CODES = ("qweight", "weight_packed", "weight")
_PRUNED = 0.05  # share of zeros around a run of rows, above which it is pruning
_WORD = 8  # bytes that are looked at together, so that a run lacks fewer than these at either end
_SLACK = 8  # bytes by which a run may be shorter than a hole, or longer
_ROWS = 8  # rows that are looked at beside a run, to see whether pruning zeroed the same columns


def zeros_in_part(loaded: Sequence[Subject], source: Source) -> Iterator[ZerosInPart]:
    """The matrices of which a part was never written.

    Raises:
        FetchError: a file cannot be read again.
    """
    broken = {tensor.name: run for tensor in loaded if _may_lack(tensor) if (run := _lost(tensor, source)) is not None}
    alike: dict[tuple[str, ...], list[Subject]] = {}
    for tensor in loaded:
        if tensor.weights or tensor.name in broken:
            alike.setdefault(split(tensor.name)[0], []).append(tensor)
    for group in alike.values():
        lost = [tensor for tensor in group if tensor.name in broken]
        by_design = len(group) > 1 and len(lost) == len(group) and all(_is_rows(one, broken[one.name]) for one in lost)
        if lost and not by_design:
            yield from ranged(ZerosInPart, lost, broken[lost[0].name])


def _may_lack(tensor: Subject) -> bool:
    runs = tensor.tally.zero_runs
    return bool(runs) and (tensor.varied or tensor.varied_table) and not tensor.blocks and _is_plain(tensor)


def _is_plain(tensor: Subject) -> bool:
    """Whether its zeros are weights of zero, or codes that stand for none of the usual ones."""
    return tensor.place.entry.dtype in FLOATS or tensor.name.rpartition(".")[2] in _CODES


def _lost(tensor: Subject, source: Source) -> Span | None:
    """The longest run that was never written, if there is one; rows of a table may be zero for many reasons."""
    runs = [run for run in tensor.tally.zero_runs if tensor.weights and _is_long(tensor, run)]
    holes = [run for run in runs if _is_hole(tensor, run)]
    if 2 * len(holes) > len(runs):
        return max(holes, key=lambda run: run.end - run.begin)
    if broken := [run for run in tensor.tally.zero_runs if _breaks_rows(tensor, run, source)]:
        return max(broken, key=lambda run: run.end - run.begin)
    halves = [run for run in runs if run.end - run.begin >= _LOST * tensor.place.size and not _is_row(tensor, run)]
    return halves[0] if halves and _zeros_around(tensor, halves[0]) < _PRUNED else None


def _is_long(tensor: Subject, run: Span) -> bool:
    """Whether chance does not make it of as many zeros as there are around it."""
    elements, around = _elements(tensor, run), _zeros_around(tensor, run)
    size = run.end - run.begin
    if elements < _FEW or (size < PAGE - 2 * _SLACK and size < _LOST * tensor.place.size):
        return False
    each = -log(around) if around else inf
    return elements * each > log(max(tensor.tally.count, 2)) + _UNLIKELY


def _breaks_rows(tensor: Subject, run: Span, source: Source) -> bool:
    """Whether a run of more than a row begins or ends within one, and not where columns are zero in other rows, too."""
    row = tensor.place.size // prod(tensor.shape[:-1])
    if run.end - run.begin <= row or row <= 2 * _SLACK or tensor.tally.constant is not None:
        return False
    size = tensor.place.size
    head = 0 if _begins_row(run, row) else -run.begin % row
    tail = 0 if _ends_row(run, row, size) else run.end % row
    parts = [(row - head, row)] if head else []
    parts += [(0, tail)] if tail else []
    return any(
        _is_unlikely(tensor, run, end - begin) and not _is_zero_beside(tensor, run, (begin, end), source)
        for begin, end in parts
    )


def _is_unlikely(tensor: Subject, run: Span, size: int) -> bool:
    """Whether chance does not make so many bytes zero beside a row of zeros, with as many zeros as are around."""
    share = _zeros_around(tensor, run)
    elements = size * 8 // BITS[tensor.place.entry.dtype]
    return elements >= _AT_EDGE and (not share or elements * -log(share) > _UNLIKELY)


def _is_zero_beside(tensor: Subject, run: Span, part: tuple[int, int], source: Source) -> bool:
    """Whether the same columns are zero in some of the rows that are looked at."""
    row = tensor.place.size // prod(tensor.shape[:-1])
    rows = tensor.place.size // row
    beside = [
        number for number in range(0, rows, max(rows // _ROWS, 1)) if not run.begin - row < number * row < run.end
    ]
    begin, end = part
    return any(
        not any(raw) for raw in source.parts(tensor.place, [number * row + begin for number in beside], end - begin)
    )


def _elements(tensor: Subject, run: Span) -> int:
    return (run.end - run.begin) * 8 // BITS[tensor.place.entry.dtype]


def _zeros_around(tensor: Subject, run: Span) -> float:
    """The share of zeros among the other values, from 0 to 1."""
    elements = _elements(tensor, run)
    rest = tensor.tally.count - elements
    return max(tensor.tally.zeros - elements, 0) / rest if rest > 0 else 0.0


def _is_hole(tensor: Subject, run: Span) -> bool:
    """Whether it begins and ends with pages of the file, or the tensor, and not with rows."""
    begin, end, size = tensor.place.begin + run.begin, tensor.place.begin + run.end, tensor.place.size
    if run.end - run.begin < PAGE - 2 * _SLACK:
        return False
    starts = _at_page(begin) or run.begin < _SLACK
    ends = _at_page(end) or run.end > size - _SLACK
    return starts and ends and not (_is_rows(tensor, run) and (run.begin < _SLACK or run.end > size - _SLACK))


def _at_page(place: int) -> bool:
    """Whether a byte is at the border of a page, as far as words that do not lie there tell."""
    return place % PAGE <= _SLACK or place % PAGE >= PAGE - _SLACK


def _is_rows(tensor: Subject, run: Span) -> bool:
    """Whether it is whole rows."""
    row = tensor.place.size // tensor.shape[0] if tensor.shape else 0
    return row > 0 and _begins_row(run, row) and _ends_row(run, row, tensor.place.size)


def _is_row(tensor: Subject, run: Span) -> bool:
    """Whether it is one row alone, as that of a class of two which nothing was trained for."""
    return _is_rows(tensor, run) and (run.end - run.begin) * tensor.shape[0] < 2 * tensor.place.size


def _begins_row(run: Span, row: int) -> bool:
    """Whether it begins with a row of so many bytes, as far as words that do not begin there tell."""
    return run.begin % row < _WORD


def _ends_row(run: Span, row: int, size: int) -> bool:
    """Whether it ends with a row of so many bytes, or with the tensor, as far as words that do not end there tell."""
    return -run.end % row < _WORD or run.end > size - _WORD
