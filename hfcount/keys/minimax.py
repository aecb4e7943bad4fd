"""Kinds of layers in MiniMax-M3: full attention or that to chosen blocks of tokens, one network or experts."""

from hfcount.keys.attention import attention
from hfcount.keys.ffn import moe
from hfcount.keys.layers import alike, by_kind, crossed
from hfcount.keys.sizes import layer_count, sized
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Layers


def minimax_layers(c: Config) -> list[Layers]:
    """The layers; traits `index_heads` and `index_dim` are of an indexer, if a layer has one.

    Source: transformers 5.23, configuration_minimax_m3_vl.py, MiniMaxM3VLTextConfig.
    """
    mixer, earlier, count = attention(c, qk_norm=True), c.sub("sparse_attention_config") or c.as_part(), layer_count(c)
    kinds, flags = c.strs("layer_types"), earlier.ints("sparse_attention_freq")
    networks, steps = c.strs("mlp_layer_types"), c.ints("moe_layer_freq")

    def sparse() -> Layer:
        heads = earlier.int("sparse_num_index_heads", default=None) or c.int("index_n_heads")
        width = earlier.int("sparse_index_dim", default=None) or c.int("index_head_dim")
        return Layer(mixer=mixer, traits={"index_heads": sized("h_i", heads), "index_dim": sized("h_di", width)})

    def experts() -> Layer:
        return Layer(ffn=moe(c, "intermediate_size").but(shared=c.int("shared_intermediate_size")))

    def dense() -> Layer:
        return Layer(ffn=Dense(width=c.int("dense_intermediate_size")))

    some = alike(Layer(mixer=mixer), count)
    if kinds or flags:
        given = kinds or [("full_attention", "minimax_m3_sparse")[flag > 0] for flag in flags]
        some = by_kind(
            c, {"full_attention": some[0].layer, "minimax_m3_sparse": sparse}, given, otherwise="full_attention"
        )
    if networks or steps:
        given = networks or [("dense", "sparse")[step > 0] for step in steps]
        return crossed(some, by_kind(c, {"dense": dense, "sparse": experts}, given, "mlp_layer_types"))
    return crossed(some, alike(experts(), count))
