"""Finds weight matrices whose rows, columns, parts or blocks repeat to the bit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.checkpoints.data.byte_patterns import Blocks, RowSample
from hfcount.checkpoints.data.findings import reported
from hfcount.checkpoints.data.source import Source, counts_up
from hfcount.checkpoints.data.subjects import Subject
from hfcount.verifier.rules.hf909_repeated_rows import Repeated, RepeatedRows

_HEAD = 4096  # bytes of parts that are compared first
_PARTS = (2, 3, 4)
_MANY = 0.5  # of rows, whose columns are equal
_FEW = 4  # different bytes of a head that is no constant
_LOOKS = 64  # places of a part that are compared with the same places of the others
_LEAST = 64  # elements of a matrix in which a part that repeats means something
_SHARED = ("k_proj", "v_proj", "key", "value", "k", "v", "attn_k", "attn_v", "wk", "wv")
"""Matrices with a part for each head of keys or values, which may stand in several places for as many heads."""

_JOINED = ("qkv", "query_key_value", "c_attn", "in_proj", "kv")
"""Parts of the names of matrices that have such parts among others."""

_VARIED = 16  # different bytes of a block, and values that are not zero, at least


def repeated_rows(loaded: Sequence[Subject], source: Source) -> Iterator[RepeatedRows]:
    """The matrices in which something repeats."""
    matrices = [tensor for tensor in loaded if tensor.varied and not (tensor.blocks or counts_up(tensor.place, source))]
    by_kind: dict[Repeated, list[Subject]] = {}
    parts: dict[str, int] = {}
    blocks: dict[str, Blocks] = {}
    for tensor in matrices:
        kind = _kind(tensor.tally.rows) if tensor.tally.rows else None
        if kind is None and (count := _equal_parts(tensor, source)):
            kind, parts[tensor.name] = "parts", count
        if kind is None and (block := _equal_blocks(tensor, source)):
            kind, blocks[tensor.name] = "blocks", block
        if kind:
            by_kind.setdefault(kind, []).append(tensor)
    for kind, tensors in by_kind.items():
        if kind == "blocks":
            first, second, size = blocks[tensors[0].name]
            facts: Mapping[str, Any] = {"kind": kind, "observed": size, "among": second - first}
        else:
            facts = _facts(kind, tensors[0], parts)
        yield from reported(RepeatedRows, tensors, facts)


def _kind(rows: RowSample) -> Repeated | None:
    if rows.repeated:
        return "rows"
    if rows.constant > 1 and rows.constant >= _MANY * rows.rows:
        return "columns"
    return "pairs of columns" if rows.twins > 1 and rows.twins >= _MANY * rows.rows else None


def _facts(kind: Repeated, tensor: Subject, parts: Mapping[str, int]) -> Mapping[str, Any]:
    if kind == "parts":
        return {"kind": kind, "observed": parts[tensor.name], "among": parts[tensor.name]}
    rows = tensor.tally.rows or RowSample()
    observed = {"rows": rows.repeated, "columns": rows.constant, "pairs of columns": rows.twins}[kind]
    index = (rows.first, 0) if rows.first is not None and kind == "rows" else None
    return {"kind": kind, "observed": observed, "among": rows.pairs if kind == "rows" else rows.rows, "index": index}


def _equal_blocks(tensor: Subject, source: Source) -> Blocks | None:
    """The first block that is there twice; None if there is none, or it is of heads that were repeated."""
    last, row = tensor.name.removesuffix(".weight").rpartition(".")[2], tensor.place.row
    heads = last in _SHARED or any(part in last.lower() for part in _JOINED)
    for block in tensor.tally.blocks:
        if heads and not (block.second - block.first) % row:
            continue
        for back in (0, min(block.first, block.size)):
            raw, again = source.parts(tensor.place, [block.first - back, block.second - back], block.size)
            if raw == again and len({*raw}) > _VARIED and len(raw) - raw.count(0) > _VARIED * 4:
                return block
    return None


def _equal_parts(tensor: Subject, source: Source) -> int:
    """How many times a matrix holds the same rows, one part after the other; 0 if it does not."""
    rows, size = tensor.shape[0], tensor.place.size
    if (
        len(tensor.shape) != 2
        or tensor.tally.count < _LEAST
        or tensor.name.removesuffix(".weight").rpartition(".")[2] in _SHARED
    ):
        return 0
    counts = [count for count in _PARTS if rows % count == 0 and rows // count > 1]
    head, *others = source.parts(tensor.place, [0, *(size // count for count in counts)], min(_HEAD, size // 4))
    for count, other in zip(counts, others, strict=True):
        if head == other and any(head) and len({*head}) > _FEW and _repeats(tensor, source, count):
            return count
    return 0


def _repeats(tensor: Subject, source: Source, count: int) -> bool:
    size = tensor.place.size // count
    step = max(size // _LOOKS, _HEAD)
    for begin in range(0, size, step):
        parts = source.parts(tensor.place, [part * size + begin for part in range(count)], min(_HEAD, size - begin))
        if len({*parts}) > 1:
            return False
    return True
