"""SAM's vision tower, of which several models have one."""

from hfcount.keys.attention import multi_head
from hfcount.keys.layers import split
from hfcount.keys.listed import numbered
from hfcount.keys.sizes import divides, layer_count, sized
from hfcount.keys.towers import encoding, patches
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.components import Traits
from hfcount.tree.indices import Indices

SAM_B = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "output_channels": 256,
    "num_channels": 3,
    "image_size": 1024,
    "patch_size": 16,
    "window_size": 14,
    "global_attn_indexes": [2, 5, 8, 11],
    "qkv_bias": True,
    "use_abs_pos": True,
    "use_rel_pos": True,
    "downsample_channels": [512, 1024],
}
"""The tower of SAM ViT-B with two convolutions behind it, which code for OCR builds whatever a config says."""


def sam(c: Config, traits: Traits) -> Spec:
    """A tower with attention within windows, and everywhere in the layers of global_attn_indexes (arXiv:2304.02643).

    `traits` are further ones than `across`, the sides of an image in patches, and the switches of positions.
    """
    d, bias = c.int("hidden_size"), c.bool("qkv_bias")
    width = c.int("mlp_dim", default=None) or c.times("mlp_ratio", d, default=4)
    image, side = c.int("image_size"), c.int("patch_size")
    across = sized("n_w", divides(c, "patch_size", side, "image_size", image))
    mixer = multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, uneven="built")
    one = Layer(mixer=mixer, ffn=Dense(width=width, bias=True))
    near = one.but(traits={"across": sized("w", c.int("window_size"))})
    everywhere = numbered(c, "global_attn_indexes")
    rest = Indices.below(layer_count(c)).difference(everywhere)
    layers = split(c, (rest, lambda: near), (everywhere, lambda: one.but(traits={"across": across})))
    switches = {name: c.bool(name) for name in ("use_abs_pos", "use_rel_pos")}
    own = {"across": across, **switches, **traits}
    return encoding(c, layers, hidden=d, patches=patches(c), out=c.int("output_channels"), traits=own)
