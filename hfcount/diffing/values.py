"""Compares tensor values: all of local files, or samples by byte ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hfcount.checkpoints.data.difference import Difference
from hfcount.checkpoints.data.locations import TensorLocation, places
from hfcount.checkpoints.inspection import Options
from hfcount.diffing.byte_ranges import Run, paired, runs
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.matching import Matches, grouped
from hfcount.diffing.pieces import ValueRow, Values
from hfcount.diffing.rounding import others
from hfcount.diffing.tensors import Logical
from hfcount.errors import FetchError
from hfcount.fetcher.data_files import data_folder
from hfcount.formats.gguf.types import BLOCKS
from hfcount.formats.samples import Piece
from hfcount.spec.tree.leaves import split
from hfcount.text import printable
from hfcount.verifier.folded_names import fold
from hfcount.verifier.values import index_of
from hfcount.version import missing

if TYPE_CHECKING:
    from hfcount.checkpoints.data.compare import Span
    from hfcount.checkpoints.data.tally import Tally
    from hfcount.diffing.comparison import Comparison

PAGE = 65_536
"""Bytes compared at either end of a sampled tensor."""

_MOST = 2_000  # tensors that are sampled
_ROWS = 500


@dataclass
class Gap:
    """How the values of one tensor compare.

    Args:
        by: the difference; None if only samples were compared.
        other: whether the difference exceeds the rounding of the second dtype.
    """

    same: bool = True
    by: Difference | None = None
    other: bool = False


@dataclass
class Gaps:
    """The Gap of each compared tensor, by key.

    Args:
        uncompared: the number of tensors of one shape that were not compared.
        reason: why no tensor could be compared.
        broken: whether a file was changed or lost during the read.
        unread: GGML types whose values cannot be decoded.
        through: an intermediate dtype that all values were rounded to; "" if none.
        introduced: how many values are NaN or infinite in B alone, by the key or the stored name of the tensor; those
            of buffers, which may be masks, are left out.
    """

    by_key: dict[str, Gap] = field(default_factory=dict)
    sampled: bool = False
    uncompared: int = 0
    reason: str = ""
    broken: bool = False
    unread: tuple[str, ...] = ()
    through: str = ""
    introduced: dict[str, int] = field(default_factory=dict)


_Where = tuple[Mapping[str, TensorLocation], Mapping[str, TensorLocation]]  # the tensors of A and of B


class _Pair(NamedTuple):
    """The byte runs of a tensor on both sides, in order."""

    key: str
    parts: Sequence[tuple[Run, Run]]


def all_values(a: LoadedSide, b: LoadedSide, matched: Matches, options: Options) -> Gaps:
    """Compares every value of local files."""
    if find_spec("numpy") is None:
        return Gaps(reason=missing("--depth data", "numpy").rstrip("."))
    try:
        sides = local(a), local(b)
    except FetchError as error:
        return Gaps(reason=str(error))
    from hfcount.checkpoints.data.compare import comparable, compare_all  # which imports numpy

    matching, left = _pairs((sides[0][1], sides[1][1]), matched)
    pairs = [pair for pair in matching if all(comparable(run.dtype, other.dtype) for run, other in pair.parts)]
    left += len(matching) - len(pairs)
    read = {pair.key for pair in pairs}
    unread = {run.dtype for pair in matching if pair.key not in read for both in pair.parts for run in both}
    spans = _spans(pairs, [folder for folder, _ in sides])
    size = sum(span.size + other.size for span, other in spans.values())
    try:
        parts = compare_all(spans, options.reading(size))
    except FetchError as error:
        return Gaps(reason=str(error), broken=True, uncompared=left + len(pairs))
    differences = {pair.key: Difference() for pair in pairs}
    for name, part in parts.items():  # of a tensor in their order
        total_ = differences[name.partition(" ")[2]]
        total_.add(part, total_.elements)
    dtypes = {key: (matched.both[key][0].dtype, matched.both[key][1].dtype) for key in differences}
    other, through = others({key: (difference, dtypes[key]) for key, difference in differences.items()})
    gaps = {key: Gap(difference.identical, difference, key in other) for key, difference in differences.items()}
    introduced = _introduced(differences, matched)
    types = tuple(sorted(unread & BLOCKS.keys()))
    return Gaps(gaps, uncompared=left, unread=types, through=through, introduced=introduced)


def _introduced(differences: Mapping[str, Difference], matched: Matches) -> dict[str, int]:
    """How many values are NaN or infinite in B alone, by the tensors that were compared; buffers are left out."""
    return {
        key: difference.introduced
        for key, difference in differences.items()
        if difference.introduced and not _is_buffer(matched.both[key][1])
    }


def _buffers(loaded: LoadedSide) -> set[str]:
    """The stored names of buffers."""
    stored = loaded.inventory(raw=True)
    return {tensor.stored for tensor in stored.tensors.values() if _is_buffer(tensor)} if stored else set()


def introduced_apart(c: "Comparison", matched: Matches, gaps: Gaps, options: Options) -> dict[str, int]:
    """How many values are NaN or infinite in B's tensors that were not compared with A's, by their stored names.

    Scales of packed weights are among these, rows of a larger embedding, and whatever A does not have.
    """
    if find_spec("numpy") is None or gaps.broken:
        return {}
    from hfcount.checkpoints.data.file_source import FileSource  # which imports numpy

    try:
        (folder_a, places_a), (folder, places_b) = local(c.a), local(c.b)
        compared = {piece.stored for key in gaps.by_key for piece in matched.both[key][1].bytes or ()}
        left_out = compared | _buffers(c.b)
        rest = {name: place for name, place in places_b.items() if name not in left_out}
        size = sum(place.size for place in rest.values())
        tallies = FileSource(folder).read(rest, (), options.reading(size)).tallies
        broken = {name: many for name, tally in tallies.items() if (many := tally.nan + tally.infinite)}
        before = {name: places_a[name] for name in broken if name in places_a}
        tallies = FileSource(folder_a).read(before, (), options.reading(0)).tallies if before else {}
    except FetchError:
        return {}  # which the notes say
    return {name: many for name, many in broken.items() if name not in tallies or not _is_broken(tallies[name])}


def _is_broken(tally: "Tally") -> bool:
    return tally.nan + tally.infinite > 0


def _is_buffer(tensor: Logical) -> bool:
    return tensor.leaf is not None and tensor.leaf.kind == "buffer"


def _spans(pairs: Sequence[_Pair], folders: Sequence[Path]) -> "dict[str, tuple[Span, Span]]":
    """The local byte spans of each run, by "number key"."""
    from hfcount.checkpoints.data.compare import Span

    spans: dict[str, tuple[Span, Span]] = {}
    for pair in pairs:
        for number, both in enumerate(pair.parts):
            first, second = (
                Span(folder / run.file, run.begin, run.end - run.begin, run.dtype, (run.elements,), run.head)
                for folder, run in zip(folders, both, strict=True)
            )
            spans[f"{number} {pair.key}"] = first, second
    return spans


def samples(a: LoadedSide, b: LoadedSide, matched: Matches) -> Gaps:
    """Compares the first and last bytes of each tensor."""
    pairs, left = _pairs((_places(a), _places(b)), matched, one_dtype=True)
    chosen = pairs[:: len(pairs) // _MOST + 1]
    ends = {pair.key: [*_ends(pair.parts)] for pair in chosen}
    sides: list[Mapping[Piece, str]] = []
    for place, side in enumerate((a, b)):
        wanted = dict.fromkeys(both[place] for several in ends.values() for both in several)
        try:
            sides.append(side.documents.shards.sample(list(wanted)) if side.documents else {})
        except FetchError as error:
            return Gaps(sampled=True, reason=str(error))
    gaps = Gaps(sampled=True, uncompared=left + len(pairs) - len(chosen))
    for key, several in ends.items():
        digests = [(sides[0].get(piece), sides[1].get(other)) for piece, other in several]
        if any(None in both for both in digests):
            gaps.uncompared += 1
        else:
            same = all(digest == other for digest, other in digests)
            gaps.by_key[key] = Gap(same, other=not same)
    return gaps


def _ends(parts: Sequence[tuple[Run, Run]]) -> Iterator[tuple[Piece, Piece]]:
    """The first bytes of the first part, and the last bytes of the last."""
    first, last = parts[0], parts[-1]
    size = min(first[0].end - first[0].begin, PAGE)
    yield _piece(first, 0, size)
    size_ = last[0].end - last[0].begin
    begin = max(size_ - PAGE, size if len(parts) == 1 else 0)
    if begin < size_:
        yield _piece(last, begin, size_)


def _piece(both: tuple[Run, Run], begin: int, end: int) -> tuple[Piece, Piece]:
    piece, other = (Piece(run.file, run.begin + begin, run.begin + end) for run in both)
    return piece, other


def local(side: LoadedSide) -> tuple[Path, Mapping[str, TensorLocation]]:
    """The local folder of weight files and the places of their tensors; raises FetchError if not local."""
    plain = not (side.container == "pickle" or side.modules or side.parts or _is_pickled_adapter(side))
    if side.request is None or side.inspection is None or plain:
        return _folder(side), _places(side)
    from hfcount.checkpoints.data.stored_values import (  # which is for other containers, and modules
        of_gguf,
        stored_values,
    )

    if side.parts:
        held = of_gguf(side.request, side.inspection, side.parts)
        return (held.folder, held.places) if held else (_folder(side), {})
    weights = stored_values(side.request, side.inspection)
    if weights is None or side.view is None:
        raise FetchError("NoSuchFile", f"{printable(side.model)} has no weight files to read")
    shapes = {name: entry.shape for name, entry in side.view.entries.items()}
    same_shape = {
        name: place
        for name, place in weights.places.items()
        if place.entry.shape == shapes.get(name, place.entry.shape)
    }
    return weights.folder, same_shape  # without those of pickles that lie in another order


def _is_pickled_adapter(side: LoadedSide) -> bool:
    return side.adapter is not None and not any(name.endswith(".safetensors") for name in side.shards or ())


def _folder(side: LoadedSide) -> Path:
    """The local folder of a side's weight files; raises FetchError if not local."""
    if side.documents is None or side.request is None or not side.shards:
        raise FetchError("NoSuchFile", f"{printable(side.model)} has no weight files of safetensors to read")
    return data_folder(side.request, side.documents, list(side.shards))


def _pairs(where: _Where, matched: Matches, one_dtype: bool = False) -> tuple[list[_Pair], int]:
    """Tensors of one shape with known bytes on both sides, and the number of others."""
    pairs: list[_Pair] = []
    left = 0
    for key, (tensor, other) in matched.both.items():
        if tensor.shape != other.shape:
            continue
        parts = _parts(tensor, other, where)
        if parts is None or (one_dtype and any((x.dtype, x.head) != (y.dtype, y.head) for x, y in parts)):
            left += 1
        elif parts:
            pairs.append(_Pair(key, parts))
    return pairs, left


def _places(side: LoadedSide) -> Mapping[str, TensorLocation]:
    """The places of tensors, without those past the end of a truncated file."""
    if side.container not in (None, "adapter"):
        return {}
    located: dict[str, TensorLocation] = {}
    for name, shard in sorted((*(side.shards or {}).items(), *side.modules.items())):
        if name.endswith(".safetensors"):
            start = f"{PurePosixPath(name).parent.as_posix()}/" if name in side.modules else ""
            end = inf if shard.size is None else shard.size
            in_file = places({name: shard})
            located |= {start + tensor: place for tensor, place in in_file.items() if place.begin + place.size <= end}
    return located


def _parts(tensor: Logical, other: Logical, where: _Where) -> Sequence[tuple[Run, Run]] | None:
    a = runs(tensor.bytes, where[0]) if tensor.bytes is not None else None
    b = runs(other.bytes, where[1]) if other.bytes is not None else None
    if a is None or b is None:
        return None
    parts = list(paired(a, b))
    return parts if parts or not any(run.elements for run in (*a, *b)) else None


def shown(gaps: Gaps, matched: Matches) -> Values | None:
    """Summarizes gaps for the report; None if nothing was compared."""
    if not (gaps.by_key or gaps.introduced):
        return None
    rows = []
    gaps = _of_one_original(gaps, matched)
    differing = {key: gap for key, gap in gaps.by_key.items() if not gap.same}
    for name, keys in grouped(
        differing, lambda key: (matched.both[key][0].component, gaps.by_key[key].other, split(key)[0])
    ):
        names = fold(dict.fromkeys(matched.both[key][0].name for key in keys))
        rows.append(_row(names[0] if len(names) == 1 else name, keys, gaps, matched))
    components: dict[str, list[str]] = {}
    for key in gaps.by_key:
        components.setdefault(matched.both[key][0].component or "other", []).append(key)
    return Values(
        sampled=gaps.sampled,
        tensors=len(gaps.by_key),
        identical=sum(gap.same for gap in gaps.by_key.values()),
        uncompared=gaps.uncompared,
        through=gaps.through or None,
        introduced=sum(gaps.introduced.values()),
        introduced_in=_names(gaps, matched),
        components=tuple(_row(name, keys, gaps, matched) for name, keys in components.items()),
        rows=tuple(sorted(rows, key=lambda row: -(row.relative or 0))[:_ROWS]),
    )


def _names(gaps: Gaps, matched: Matches) -> tuple[str, ...]:
    """The stored names of tensors with values that are NaN or infinite in B alone, folded."""
    both = matched.both
    names = dict.fromkeys(both[key][1].stored if key in both else key for key in gaps.introduced)
    return tuple(map(printable, fold(names)[:_ROWS]))


def _of_one_original(gaps: Gaps, matched: Matches) -> Gaps:
    """Clears `other` where both sides round one original to different dtypes.

    Then all matrices differ slightly, or only values below the range of one dtype differ.
    """
    cast = {key: pair for key, pair in matched.dtypes.items() if key in gaps.by_key and len(pair[0].shape) > 1}
    every = not any(gaps.by_key[key].same for key in cast)

    def rounded(by: Difference | None) -> bool:
        return by is not None and not (by.far or by.beyond) and (every or not by.normal)

    by_key = {key: replace(gap, other=gap.other and not rounded(gap.by)) for key, gap in gaps.by_key.items()}
    return replace(gaps, by_key=by_key)


def _row(name: str, keys: Sequence[str], gaps: Gaps, matched: Matches) -> ValueRow:
    differing = [gaps.by_key[key] for key in keys if not gaps.by_key[key].same]
    component = matched.both[keys[0]][0].component
    other = sum(gap.other for gap in differing)
    row = ValueRow(name=printable(name), component=component, tensors=len(keys), differing=len(differing), other=other)
    difference = total(differing)
    if difference is None:
        return row
    names = "share", "largest", "rms", "relative", "cosine", "beyond"
    elements = difference.differing if all(gap.by and gap.by.first is not None for gap in differing) else None
    first = (
        None
        if len(keys) > 1 or difference.first is None
        else index_of(difference.first, matched.both[keys[0]][0].shape)
    )
    return row.replace(elements=elements, first=first, **{name: getattr(difference, name) for name in names})


def total(gaps: Sequence[Gap]) -> Difference | None:
    """The total difference of several tensors; None if there are none, or one was only sampled."""
    total_ = Difference()
    for gap in gaps:
        if gap.by is None:
            return None
        total_.add(gap.by)
    return total_ if gaps else None
