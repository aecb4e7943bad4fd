"""FP8 as engines take it: its settings, and blocks that do not divide the rows of matrices which they put into one."""

from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any, NamedTuple

from hfcount.text import shown
from hfcount.verifier.loaders.engines.reading import FUSED, Difference
from hfcount.verifier.loaders.loader import Checkpoint

_SCHEMES = ("static", "dynamic")
_LEAST = 32
"""The smallest blocks that vLLM makes of larger ones (model_executor/layers/fused_moe/oracle/fp8.py)."""


class Merged(NamedTuple):
    """Matrices that an engine puts into one, in their order.

    Args:
        path: of the module that they are parts of.
        rows: of each part, by its name.
        columns: of all of them.
    """

    path: str
    rows: dict[str, int]
    columns: int

    @property
    def is_expert(self) -> bool:
        """Whether it belongs to an expert."""
        return ".experts." in f"{self.path}."


def refines(rows: int, columns: int, width: int, hidden: int) -> bool:
    """Whether vLLM makes smaller blocks of those of experts, which divide a width, each with a copy of its scale.

    vLLM 0.33: model_executor/layers/quantization/fp8.py, Fp8MoEMethod, of the method fp8 alone.

    Args:
        rows, columns: of a block.
        width: channels of an expert, those of one rank.
        hidden: inputs of an expert.
    """
    return gcd(rows, columns, width, hidden) >= _LEAST


def of_settings(values: Mapping[str, Any]) -> Iterator[Difference]:
    """What both engines refuse of the settings, in __init__ of Fp8Config."""
    scheme = values.get("activation_scheme")
    if "activation_scheme" not in values:
        yield Difference("refuses", "needs activation_scheme in the settings of FP8", "fp8_scheme")
    elif scheme not in _SCHEMES:
        yield Difference("refuses", f"refuses activation_scheme {shown(scheme)}", "fp8_schemes")
    elif scheme != "dynamic" and values.get("weight_block_size") is not None:
        yield Difference("refuses", f"refuses weight_block_size with activation_scheme {scheme}", "fp8_static_blocks")


def of_vllm(checkpoint: Checkpoint, block: object, method: str) -> Iterator[Difference]:
    """What vLLM makes of parts that blocks do not divide: it puts scales together as it does rows."""
    rows, columns = _sizes(block)
    for merged in _merged(checkpoint) if rows else ():
        part, size = next(((part, size) for part, size in merged.rows.items() if size % rows), ("", 0))
        if part and merged.is_expert:
            if method != "fp8" or not refines(rows, columns, size, merged.columns):
                yield _undivided(merged, part, rows, "fp8_expert_blocks")
        elif part:
            yield from _misplaced(merged, rows)


def of_sglang(checkpoint: Checkpoint, block: object) -> Iterator[Difference]:
    """SGLang refuses every part that blocks do not divide."""
    rows, _ = _sizes(block)
    for merged in _merged(checkpoint) if rows else ():
        if part := next((part for part, size in merged.rows.items() if size % rows), None):
            yield _undivided(merged, part, rows, "fp8_expert_blocks" if merged.is_expert else "fp8_blocks")


def _misplaced(merged: Merged, rows: int) -> Iterator[Difference]:
    """A part that begins within a block: its scales have no room, or are taken for other rows."""
    total, start = _blocks(sum(merged.rows.values()), rows), 0
    for part, size in merged.rows.items():
        place = f"{merged.path}.{part} at row {start:,} of one matrix, within a block of {rows} rows"
        if _blocks(start, rows) + _blocks(size, rows) > total:
            yield Difference("refuses", f"puts {place}, and has no room for its scales", "fp8_room")
        elif start % rows:
            yield Difference("differs", f"puts {place}, so that its scales are taken for other rows", "fp8_allowed")
        start += size


def _undivided(merged: Merged, part: str, rows: int, rule: str) -> Difference:
    says = f"refuses {merged.path}.{part} of {merged.rows[part]:,} rows, which blocks of {rows} rows do not divide"
    return Difference("refuses", says, rule)


def _blocks(count: int, rows: int) -> int:
    return -(-count // rows)


def _sizes(block: object) -> tuple[int, int]:
    """Rows and columns of a block, as settings give them; zeros if they give none."""
    if isinstance(block, list) and len(block) == 2 and all(type(size) is int and size > 0 for size in block):
        return block[0], block[1]
    return 0, 0


def _merged(checkpoint: Checkpoint) -> Iterator[Merged]:
    leaves = checkpoint.blueprint.leaves if checkpoint.blueprint else ()
    shapes = {leaf.first.removesuffix(".weight"): leaf.shape for leaf in leaves if len(leaf.shape) == 2}
    for name, shape in shapes.items():
        path, _, first = name.rpartition(".")
        for parts in FUSED.values():
            if first == parts[0] and all(f"{path}.{part}" in shapes for part in parts):
                yield Merged(path, {part: int(shapes[f"{path}.{part}"][0]) for part in parts}, int(shape[1]))
