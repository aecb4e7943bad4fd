"""The blueprint's leaves as mlx-lm and mlx-vlm store them: their names, stacks of experts, and latent attention."""

from collections.abc import Collection, Iterable, Sequence

from hfcount.quantization.packing.split import Segments
from hfcount.quantization.packing.stacks import together
from hfcount.quantization.scheme import TOWERS, Renames
from hfcount.spec.tree.leaves import Leaf

_STACKS = {
    ".switch_mlp.": ("switch_mlp",),
    ".experts.switch_glu.": ("experts", "switch_glu"),
    ".experts.down_proj.": ("experts",),
}
"""Segments of the stack of experts, by a text in its names."""

_UNGATED = {"up_proj": "fc1", "down_proj": "fc2"}  # of experts with two matrices
_CONVOLUTION = 3  # axes at the least


def forms(leaves: Sequence[Leaf], names: Collection[str], tables: Iterable[Renames]) -> list[Leaf]:
    """The leaves under the names and in the layouts that `names` show, with channels last.

    Args:
        tables: beginnings of the blueprint's names and those in their place; the first table is taken whose first
            row is one of the blueprint's beginnings that `names` replace.
    """
    stored = _in_place(leaves, names, tables)
    stack = next((prefix for text, prefix in _STACKS.items() if any(text in name for name in names)), None)
    if stack:
        stored = together(stored, stack)
    if any(".switch_mlp.fc1." in name for name in names):
        stored = [_ungated(leaf) for leaf in stored]
    if any(".embed_q." in name for name in names):
        stored = _latent(stored)
    return [_channels_last(leaf) for leaf in stored]


def _in_place(leaves: Sequence[Leaf], names: Collection[str], tables: Iterable[Renames]) -> Sequence[Leaf]:
    for table in tables:
        old, new = table[0]
        ours = any(leaf.name.startswith(old) for leaf in leaves)
        if ours and any(name.startswith(new) for name in names) and not any(name.startswith(old) for name in names):
            return [_renamed(leaf, table) for leaf in leaves]
    return leaves


def towers_left_out(leaves: Iterable[Leaf], names: Collection[str]) -> list[Leaf]:
    """The leaves of towers and their projectors, if none of them is among `names`."""
    towers = [leaf for leaf in leaves if leaf.component in TOWERS]
    return [] if any(leaf.first in names for leaf in towers) else towers


def _renamed(leaf: Leaf, table: Renames) -> Leaf:
    """The leaf with the first of the beginnings that it has replaced."""
    text = ".".join(segment for segment in leaf.segments[:3] if isinstance(segment, str)) + "."
    for old, new in table:
        if text.startswith(old):
            rest = leaf.segments[old.count(".") :]
            return leaf.replace(segments=(*filter(None, new.split(".")), *rest))
    return leaf


def _ungated(leaf: Leaf) -> Leaf:
    if len(leaf.segments) < _CONVOLUTION or leaf.segments[-3] != "switch_mlp":
        return leaf
    name = str(leaf.segments[-2])
    return leaf.replace(segments=(*leaf.segments[:-2], _UNGATED.get(name, name), leaf.segments[-1]))


def _latent(leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves with what unfolds a latent as two maps a head: one for queries, and one for outputs."""
    by_block: dict[Segments, dict[str, Leaf]] = {}
    for leaf in leaves:
        if leaf.segments[-1] == "weight":
            by_block.setdefault(leaf.segments[:-2], {})[str(leaf.segments[-2])] = leaf
    result: list[Leaf] = []
    for leaf in leaves:
        weights = by_block.get(leaf.segments[:-2], {})
        down, out = weights.get("kv_a_proj_with_mqa"), weights.get("o_proj")
        query = weights.get("q_b_proj") or weights.get("q_proj")
        if leaf.segments[-2:] != ("kv_b_proj", "weight") or not (down and out and query):
            result.append(leaf)
            continue
        (rows, latent), values = map(int, leaf.shape), int(out.shape[1])
        keys, rotary = rows - values, int(down.shape[0]) - latent
        heads = (int(query.shape[0]) - keys) // rotary if rotary > 0 else 0
        if heads <= 0:
            return list(leaves)
        shapes = {"embed_q": (heads, latent, keys // heads), "unembed_out": (heads, values // heads, latent)}
        base = leaf.segments[:-2]
        result += [leaf.replace(segments=(*base, name, "weight"), shape=shape) for name, shape in shapes.items()]
    return result


def _channels_last(leaf: Leaf) -> Leaf:
    if leaf.segments[-1] != "weight" or len(leaf.shape) < _CONVOLUTION or leaf.component == "experts" or leaf.linear:
        return leaf
    return leaf.replace(shape=(leaf.shape[0], *leaf.shape[2:], leaf.shape[1]))
