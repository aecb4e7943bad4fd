"""Places on a page, which encoders of documents learn (arXiv:2204.08387)."""

from hfcount.keys.sizes import sized
from hfcount.mapper import Config

_SIZES = {
    "max_2d_position_embeddings": "n_2",
    "coordinate_size": "d_x",
    "shape_size": "d_s",
    "rel_pos_bins": "b",
    "rel_2d_pos_bins": "b_2",
}


def on_page(c: Config) -> dict[str, int]:
    """The traits of embedded corners and sizes, and of what a distance on the page adds to attention."""
    switches = ("has_relative_attention_bias", "has_spatial_attention_bias")
    traits = {key: sized(symbol, c.int(key)) for key, symbol in _SIZES.items()}
    return traits | {key: c.bool(key, default=True) for key in switches}
