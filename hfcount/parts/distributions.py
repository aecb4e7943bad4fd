"""Attention of D-FINE and DEIMv2 (arXiv:2410.13842, arXiv:2509.20787)."""

from hfcount.tree.nodes import Block, Linear, block, buffer


def weighing(d: int, heads: int, points: int) -> Block:
    """Deformable attention that only weighs values. Tensors: sampling_offsets, attention_weights, num_points_scale."""
    return block(
        "attention",
        sampling_offsets=Linear(d, 2 * heads * points, True),
        attention_weights=Linear(d, heads * points, True),
        num_points_scale=buffer(points),
    )
