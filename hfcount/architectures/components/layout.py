"""Learned layout embeddings of document encoders (arXiv:2204.08387)."""

from hfcount.architectures.layers.model import embedding
from hfcount.mapper import Sizes, flag, size
from hfcount.spec.tree.nodes import Block, Linear, Presence, block


class OnPage(Sizes):
    """Embeddings of the corners and sizes of boxes, and attention biases by distance on the page."""

    max_2d_position_embeddings: int = size("n_2")
    coordinate_size: int = size("d_x")
    shape_size: int = size("d_s")
    rel_pos_bins: int = size("b")
    rel_2d_pos_bins: int = size("b_2")
    has_relative_attention_bias: bool = flag(absent=True)
    has_spatial_attention_bias: bool = flag(absent=True)

    def corners(self) -> Block:
        """Tables for corners and sizes. Tensors: {x,y}_position_embeddings and {h,w}_position_embeddings."""
        rows = self.max_2d_position_embeddings
        sizes = {"x": self.coordinate_size, "y": self.coordinate_size, "h": self.shape_size, "w": self.shape_size}
        return Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})

    def distances(self, heads: int, spatial: Presence = "required") -> Block:
        """The attention biases, by bins of distances.

        Tensors: rel_pos_bias (h, b), rel_pos_x_bias, rel_pos_y_bias (h, b_2). `spatial` is whether a checkpoint holds
        the last two.
        """
        table = Linear(self.rel_pos_bins, heads, component="attention")
        two = Linear(self.rel_2d_pos_bins, heads, component="attention", presence=spatial)
        return block(
            rel_pos_bias=table if self.has_relative_attention_bias else None,
            rel_pos_x_bias=two if self.has_spatial_attention_bias else None,
            rel_pos_y_bias=two if self.has_spatial_attention_bias else None,
        )
