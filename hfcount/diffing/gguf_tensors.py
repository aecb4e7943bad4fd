"""Maps the tensors of a GGUF file to the source model's names, with bytes if the conversion kept the values."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.gguf.names import Conversion, conversions
from hfcount.checkpoints.gguf.summary import architecture
from hfcount.checkpoints.gguf.table import folded
from hfcount.checkpoints.gguf.values import Changes, changes
from hfcount.diffing.fused_tensors import Bytes
from hfcount.diffing.tensors import Inventory, Logical, keyed
from hfcount.formats.gguf.header import GgufHeader, GgufTensor
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf

_HEADS = {"heads": "", "kv": "_kv"}


class _GgufFile(NamedTuple):
    """A GGUF file with its architecture and conversion."""

    header: GgufHeader
    name: str
    values: Changes | None

    def change(self, name: str) -> str:
        """The change that the conversion makes to a tensor's values."""
        return "other" if self.values is None else self.values.get(folded(name)[0], "")

    def head(self, name: str) -> int | None:
        """The heads of a tensor with alternating rows: 0 if rows are in order, None if unknown."""
        end = _HEADS.get(self.change(name))
        return 0 if end is None else self.header.number(f"{self.name}.attention.head_count{end}")


def converted(header: GgufHeader, blueprint: Blueprint, model_type: str) -> Inventory:
    """The inventory of a file by the model's keys; `bytes` is None for changed or unknown values."""
    name = architecture(header)
    known = _GgufFile(header, name, changes(model_type, name))
    key = keyed(blueprint)
    return Inventory({key(tensor.name): tensor for tensor in _tensors(known, blueprint)})


def _tensors(known: _GgufFile, blueprint: Blueprint) -> Iterator[Logical]:
    layers = known.header.number(f"{known.name}.block_count") or 0
    layers -= known.header.number(f"{known.name}.nextn_predict_layers") or 0
    for leaf in blueprint.leaves:
        if leaf.count and (leaf.stored or leaf.tied_to or leaf.part == "prediction"):
            for conversion in conversions(leaf, known.name, layers, known.header.tensors):
                yield from _of(known, leaf, conversion)


def _of(known: _GgufFile, leaf: Leaf, conversion: Conversion) -> Iterator[Logical]:
    """The tensors of a leaf under one conversion."""
    there = {name: known.header.tensors[name] for name, _ in conversion.results if name in known.header.tensors}
    if not there or len(there) < len(conversion.results):
        return
    stacked = len(conversion.numbers) < len(leaf.indices)
    numbers = (
        [(*conversion.numbers[:1], expert, *conversion.numbers[1:]) for expert in leaf.indices[1]]
        if stacked
        else [conversion.numbers]
    )
    shape = tuple(map(int, leaf.shape))
    first, dtype = next(iter(there)), next(iter(there.values())).type
    for place, these in enumerate(numbers):
        pieces = _pieces(known, there, leaf.size, place, len(numbers))
        if len(there) > 1:
            pieces = _joined(known, there, shape)
        yield Logical(_named(leaf, these), shape, dtype, leaf, first, pieces)


def _pieces(
    known: _GgufFile, there: Mapping[str, GgufTensor], size: int, place: int, count: int
) -> tuple[Bytes, ...] | None:
    """The bytes of one tensor of `size` elements, at `place` among `count` in a stack; None if values were changed."""
    ((name, tensor),) = list(there.items())[:1]
    heads = known.head(name)
    if known.change(name) not in ("", *_HEADS) or heads is None or tensor.elements != size * count:
        return None
    bytes_ = tensor.bytes // count
    if not heads:
        return (Bytes(name, place * bytes_, (place + 1) * bytes_),)
    rows = tensor.shape[0] // heads
    if count > 1 or rows * heads != tensor.shape[0] or rows % 2:
        return None
    return (Bytes(name, 0, bytes_, (rows, prod(tensor.shape[1:]))),)


def _joined(known: _GgufFile, there: Mapping[str, GgufTensor], shape: Sequence[int]) -> tuple[Bytes, ...] | None:
    """The bytes of a tensor that was split into equal parts, in its order."""
    parts = sorted(there, key=known.change)
    if [known.change(name) for name in parts] != [f"part{place}" for place in range(len(parts))]:
        return None
    if len({there[name].type for name in parts}) > 1 or len({there[name].shape for name in parts}) > 1:
        return None
    part = there[parts[0]]
    axes = [axis for axis, extents in enumerate(zip(part.shape, shape, strict=False)) if len({*extents}) > 1]
    if len(axes) != 1 or len(shape) != len(part.shape):
        return None
    outer = prod(shape[: axes[0]])
    size = part.bytes // outer
    return tuple(Bytes(name, row * size, (row + 1) * size) for row in range(outer) for name in parts)


def _named(leaf: Leaf, numbers: Sequence[int]) -> str:
    given = iter(numbers)
    return ".".join(str(next(given)) if isinstance(part, Indices) else part for part in leaf.segments)
