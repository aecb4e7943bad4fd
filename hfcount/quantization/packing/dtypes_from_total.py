"""Infers the dtypes of quantised weights from metadata.total_size, where no header was read."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from hfcount.formats.dtypes import BITS, width
from hfcount.quantization.packing.split import Segments
from hfcount.spec.tree.leaves import Leaf

_WIDTHS = (2, 4)  # bytes of a dense element; 8-bit ones would be packed
_BIASES = "biases of packed modules"
_BIAS_DTYPES = ("F32", "F16", "BF16")  # some packers give them the dtype of their scales
_KEPT = ((), (_BIASES,), ("router",), (_BIASES, "router"))  # roles that packers keep in F32
_WHOLE = ("I64", "BOOL")
_ONLY = {1: None, 2: None, 4: "F32", 8: "F64"}


@dataclass(frozen=True, slots=True)
class PackedReading:
    """Dtypes of the tensors that make total_size come out exactly.

    Args:
        elements: by dtype; None if a dtype is unknown.
        text: the sum.
        window: by how many bytes it may be less; 0 for an exact sum.
        without: what was left out to make it exact; empty for nothing.
        dense, buffer: bytes of an element of dense tensors and of buffers.
        wide: the roles whose dense tensors are F32.
        modules: the names of packed modules.
        picked: the dtype of tensors that may be of several.
    """

    elements: dict[str, int] | None
    text: str
    window: int = 0
    without: str = ""
    dense: int = 0
    buffer: int = 0
    wide: tuple[str, ...] = ()
    modules: Collection[Segments] = ()
    picked: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    def bits(self, leaf: Leaf) -> int:
        """Bits of one element of a leaf's tensors."""
        if leaf.dtypes and len(leaf.dtypes) == 1:
            return BITS[leaf.dtypes[0]]
        if leaf.dtypes or leaf.whole:
            return BITS[self.picked[leaf.dtypes or _WHOLE]]
        if leaf.kind == "buffer":
            return 8 * self.buffer
        return 32 if role(leaf, self.modules) in self.wide else 8 * self.dense


def role(leaf: Leaf, modules: Collection[Segments]) -> str:
    """The role of a dense tensor: bias of one of the packed `modules`, or its component."""
    return _BIASES if leaf.segments[-1] == "bias" and leaf.segments[:-1] in modules else str(leaf.component)


def keeps(leaf: Leaf, dtype: str, modules: Collection[Segments]) -> bool:
    """Whether packers keep a dense tensor in a dtype whatever the rest is stored as: it is small, and added exactly."""
    kind = role(leaf, modules)
    return dtype in _BIAS_DTYPES if kind == _BIASES else dtype == "F32" and kind == "router"


def exact(total_size: int, listed: Sequence[tuple[Leaf, int]], declared: str | None) -> PackedReading | None:
    """The dtypes that give `total_size`, trying the declared ones first; None if none do.

    Args:
        total_size: bytes that the index claims.
        listed: the leaves as they are stored, with the number of tensors of each.
        declared: the config's dtype by the format's name; None if it declares none.
    """
    stored = [(leaf, count) for leaf, count in listed if count]
    reading = _exact(total_size, stored, declared)
    if reading is None and any(leaf.part == "prediction" for leaf, _ in stored):
        reading = _exact(total_size, [(leaf, count) for leaf, count in stored if leaf.part == "model"], declared)
        if reading:
            return PackedReading(None, reading.text, reading.window, "the prediction layers, which were added later")
    return reading


@dataclass(slots=True)
class _Elements:
    """Elements of the listed tensors.

    Args:
        fixed: by dtype, where there is one alone.
        chosen: by what they may be stored as.
        roles: of dense tensors, by what they are.
        buffers: of buffers.
        window: by how many bytes there may be fewer.
    """

    fixed: dict[str, int] = field(default_factory=dict)
    chosen: dict[tuple[str, ...], int] = field(default_factory=dict)
    roles: dict[str, int] = field(default_factory=dict)
    buffers: int = 0
    window: int = 0

    @classmethod
    def of(cls, listed: Sequence[tuple[Leaf, int]], modules: Collection[Segments]) -> "_Elements":
        """The elements of leaves with so many tensors each."""
        sums = cls()
        for leaf, count in listed:
            elements = count * leaf.size
            sums.window += count * leaf.slack
            if leaf.dtypes and len(leaf.dtypes) == 1:
                sums.fixed[leaf.dtypes[0]] = sums.fixed.get(leaf.dtypes[0], 0) + elements
            elif leaf.dtypes or leaf.whole:
                dtypes = leaf.dtypes or _WHOLE
                sums.chosen[dtypes] = sums.chosen.get(dtypes, 0) + elements
            elif leaf.kind == "buffer":
                sums.buffers += elements
            else:
                name = role(leaf, modules)
                sums.roles[name] = sums.roles.get(name, 0) + elements
        return sums


class _Widths(NamedTuple):
    """Bytes of an element of dense tensors and of buffers, roles that are F32, and dtypes of what has several."""

    dense: int
    buffer: int
    wide: tuple[str, ...]
    picked: dict[tuple[str, ...], str]


def _exact(total_size: int, listed: Sequence[tuple[Leaf, int]], declared: str | None) -> PackedReading | None:
    modules = frozenset(leaf.segments[:-1] for leaf, _ in listed if leaf.dtypes)
    by_kind = _Elements.of(listed, modules)
    base = sum(elements * BITS[dtype] // 8 for dtype, elements in by_kind.fixed.items())
    for widths in _candidates(by_kind, declared):
        dense = sum(elements * (4 if kind in widths.wide else widths.dense) for kind, elements in by_kind.roles.items())
        scales = sum(by_kind.chosen[dtypes] * width(dtype) for dtypes, dtype in widths.picked.items())
        claim = base + dense + scales + by_kind.buffers * widths.buffer
        if claim - by_kind.window <= total_size <= claim:
            return _reading(by_kind, widths, declared, modules)
    return None


def _candidates(elements: _Elements, declared: str | None) -> Iterator[_Widths]:
    declared_width = width(declared) if declared else None
    widths = dict.fromkeys([declared_width, *_WIDTHS] if declared_width else _WIDTHS)
    several = [{width(dtype): (some, dtype) for dtype in reversed(some)} for some in elements.chosen]
    options = [list(reversed(choices.values())) for choices in several]
    kept = [tuple(kind for kind in some if kind in elements.roles) for some in _KEPT]
    for wide in dict.fromkeys((*kept, *((kind,) for kind in elements.roles))):
        for dense in widths:
            if wide and dense == 4:
                continue
            for buffer in dict.fromkeys((4, dense)) if elements.buffers else (dense,):
                for picked in product(*options):
                    yield _Widths(dense, buffer, wide, dict(picked))


def _reading(by_kind: _Elements, widths: _Widths, declared: str | None, modules: Collection[Segments]) -> PackedReading:
    def name(bytes_: int) -> str | None:
        return declared if declared and width(declared) == bytes_ else _ONLY[bytes_]

    dense = sum(elements for kind, elements in by_kind.roles.items() if kind not in widths.wide)
    rows: list[tuple[int, int, str | None, str]] = [
        *((elements, BITS[dtype] // 8, dtype, "") for dtype, elements in by_kind.fixed.items()),
        *((by_kind.chosen[some], width(dtype), dtype, "of scales") for some, dtype in widths.picked.items()),
        (dense, widths.dense, name(widths.dense), "dense"),
        *((by_kind.roles[kind], 4, "F32", f"of {kind}") for kind in widths.wide),
        (by_kind.buffers, widths.buffer, name(widths.buffer), "of buffers"),
    ]
    rows = [row for row in rows if row[0]]
    text = " + ".join(
        f"{elements:,} × {size}" + (f" ({dtype})" if dtype else "") + (f" {what}" if what else "")
        for elements, size, dtype, what in rows
    )
    sums: Counter[str] = Counter()
    for elements, _, dtype, _ in rows:
        sums[dtype or ""] += elements
    known = dict(sums.most_common()) if "" not in sums and not by_kind.window else None
    return PackedReading(
        known, text, by_kind.window, "", widths.dense, widths.buffer, widths.wide, modules, widths.picked
    )
