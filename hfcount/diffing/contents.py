"""Relations of contents: equal, partly different, or unrelated values."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median

from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.pieces import FileSums, Kind, Relation, ValueRow, Values
from hfcount.text import plural

_STRUCTURE = ("spelling", "container", "order")
"""Kinds of relations under which the structure is the same in another form."""

_CONTENTS = ("same-structure", "same-values", "same-files", "finetune")
_UNRELATED = 0.1  # cosine of values that have nothing to do with one another, which is about 0
_LEAST = 1024  # elements of tensors whose cosine tells something: that of so many random ones is below 0.1
_ALL = 1e-3  # how far from 1 the share of all values may be, as zeros in A do not differ from those in B
_WORTH = 0.001  # relative difference above which rounding is reported
_FEW = 4  # components that a line names
_APART = frozenset(("norm",))  # whose values are about 1 in every model
_RENUMBERED: Mapping[Kind, Sequence[str]] = {
    "experts": ("experts", "router"),
    "layers": ("attention", "mlp", "experts", "router", "ssm", "convolution", "other"),
}
"""Components numbered by layer or expert, by the kind of relation that renumbers them."""


def is_same_structure(structure: Sequence[Relation]) -> bool:
    """Whether only the form of storage differs."""
    return not {relation.kind for relation in structure} - {*_STRUCTURE, *_CONTENTS}


def of_values(values: Values, structure: Sequence[Relation]) -> Iterator[Relation]:
    """Relations that follow from compared values, given those of the structure."""
    same, kinds = is_same_structure(structure), {relation.kind for relation in structure}
    how = " in samples" if values.sampled else ""
    differing = values.tensors - values.identical
    if "another-model" in kinds:
        return
    if not differing:
        which = "" if same else " that both have"
        many = f"{plural(values.tensors, 'tensor')}{' that could be compared' if values.uncompared else which}"
        yield Relation(kind="same-values", text=f"has the same values as A: {many}, identical{how}")
    elif is_rounded(values):
        part = f" in {plural(values.tensors, 'tensor')} that could be compared" if values.uncompared else ""
        yield Relation(kind="same-values", text=f"has A's values, rounded{part}{_through(values)}{_by(values)}")
    elif _unrelated(values, kinds):
        start = "has A's structure, but" if same else "has"
        many = f"{differing:,} of {plural(values.tensors, 'tensor')} differ"
        yield Relation(kind="another-model", text=f"{start} unrelated values: {many}")
    else:
        start = "has A's structure, but" if same else "has"
        many = f"{_others(values):,} of {plural(values.tensors, 'tensor')}"
        numbers = ", compared by layer number" if not _RENUMBERED.keys().isdisjoint(kinds) else ""
        apart = ", and those of its layers are unrelated to A's" if has_unrelated_layers(values) else ""
        text = f"{start} different values in {many}{how} ({_components(values)}){numbers}{apart}"
        beyond = _beyond(values)
        yield Relation(kind="finetune", text=f"{text}, {plural(beyond, 'value')} NaN or infinite" if beyond else text)


def is_rounded(values: Values) -> bool:
    """Whether values are equal, or differ only by rounding to another dtype."""
    return not (values.sampled or has_others(values))


def has_others(values: Values) -> bool:
    """Whether the values of some tensor differ by more than rounding to another dtype."""
    return _others(values) + _beyond(values) > 0


def _others(values: Values) -> int:
    """The number of tensors that differ by more than rounding."""
    return sum(row.other for row in values.components)


def _beyond(values: Values) -> int:
    """The number of differing values that are NaN or infinite on either side, such as after a cast to F16."""
    return sum(row.beyond for row in values.components)


def _through(values: Values) -> str:
    return f" through {values.through}" if values.through else ""


def _by(values: Values) -> str:
    """The largest relative difference, if worth reporting."""
    largest = max((row.relative or 0.0 for row in values.components if row.differing), default=0.0)
    return f" (root mean square {largest:.2%} at most)" if largest > _WORTH else ""


def _unrelated(values: Values, kinds: Collection[Kind]) -> bool:
    """Whether matrices are as different as those of unrelated models, with a cosine near 0.

    If layers or experts were removed, numbered components are ignored, since the rest may be renumbered.
    """
    apart = _APART | {name for kind, names in _RENUMBERED.items() if kind in kinds for name in names}
    rows = [row for row in values.rows if row.component not in apart]
    cosines = _cosines(rows)
    tensors = sum(row.tensors for row in values.components if row.component not in apart)
    return bool(cosines) and 2 * sum(row.differing for row in rows) > tensors and median(cosines) < _UNRELATED


def has_unrelated_layers(values: Values) -> bool:
    """Whether the weights of layers that differ have nothing to do with A's: copies of others, or begun anew."""
    rows = [row for row in values.rows if row.component in _RENUMBERED["layers"] and (row.elements or 0) >= _LEAST]
    cosines = _cosines(rows)
    return bool(cosines) and median(cosines) < _UNRELATED


def _cosines(rows: Iterable[ValueRow]) -> list[float]:
    """How far values go along with A's: not at all where all of B's are zeros, which have no angle."""
    return [
        abs(row.cosine or 0.0)
        for row in rows
        if row.cosine is not None or (_is_gone(row.share) and _is_gone(row.relative))
    ]


def _is_gone(part: float | None) -> bool:
    """Whether all of A's values differ, or by their own size."""
    return part is not None and abs(part - 1) < _ALL


def _components(values: Values) -> str:
    rows = [row for row in values.components if row.other]
    counts = [f"{row.other:,} in {row.component or 'other'}" for row in rows[:_FEW]]
    return ", ".join(counts) + (f" and {plural(len(rows) - _FEW, 'more component')}" if len(rows) > _FEW else "")


def of_files(files: FileSums | None, a: LoadedSide, b: LoadedSide) -> Iterator[Relation]:
    """The relation `finetune`, if files with equal headers and sizes have different checksums."""
    if files is None or not (a.shards and b.shards):
        return
    differing = [name for name in files.differing if _same_header(name, a, b)]
    if differing:
        files_differ = f"{plural(len(differing), 'file')} with other checksums"
        text = f"has A's structure, but {files_differ} (--depth data or --sample shows which values differ)"
        kind: Kind = "finetune"
        yield Relation(kind=kind, text=text)


def _same_header(name: str, a: LoadedSide, b: LoadedSide) -> bool:
    shard, other = ({**(side.shards or {}), **side.modules}.get(name) for side in (a, b))
    if shard is None or other is None or shard.header is None or other.header is None:
        return False
    return shard.header.raw == other.header.raw and shard.size == other.size == shard.header.file_bytes
