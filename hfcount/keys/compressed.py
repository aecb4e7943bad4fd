"""Kinds of layers in DeepSeek-V4: attention to compressed tokens, and experts chosen by hash."""

from hfcount.keys.layers import listing
from hfcount.keys.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Layer, Layers, MoE
from hfcount.tree.indices import Indices


def hashed(c: Config, ffn: MoE) -> list[Layers]:
    """Layers with experts; trait `hash` is 1 in the first num_hash_layers, where a token's id chooses them."""
    count = layer_count(c, "num_hidden_layers")
    kinds = c.strs("mlp_layer_types")[:count]
    first = min(c.int("num_hash_layers", default=3, minimum=0, maximum=MAX_LAYERS), count)
    parts = [Indices.below(first), Indices.span(first, count)]
    if kinds:
        parts = listing(c, "mlp_layer_types", kinds, "hash_moe", "moe")
    return [
        Layers(indices=part, layer=Layer(ffn=ffn, traits={"hash": by})) for part, by in zip(parts, (1, 0), strict=True)
    ]


def compressing(c: Config, mixer: GQA) -> list[Layers]:
    """Layers by traits `rate` (tokens compressed into one, 0 for none) and `overlap` (whether groups overlap)."""
    count, rates = layer_count(c, "num_hidden_layers"), c.part("compress_rates")
    sparse = c.int("compress_rate_csa", default=rates.int("compressed_sparse_attention", default=4))
    heavy = c.int("compress_rate_hca", default=rates.int("heavily_compressed_attention", default=128))
    names = ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")
    if given := c.strs("layer_types")[:count]:
        parts = listing(c, "layer_types", given, *names)
    elif ratios := c.ints("compress_ratios")[:count]:
        parts = listing(c, "compress_ratios", ratios, 0, 4, 128)
    else:
        late = Indices.span(3, count, 2)
        parts = [Indices.below(0), late, Indices.below(count).difference(late)]
    return [
        Layers(indices=part, layer=Layer(mixer=mixer, traits={"rate": rate, "overlap": overlap}))
        for part, rate, overlap in zip(parts, (0, sparse, heavy), (0, 1, 0), strict=True)
    ]
