"""Layers of T5 and of models like it, the first of which has the table of biases that all use (arXiv:1910.10683)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config
from hfcount.mapper.accepted_values import shared
from hfcount.spec import FeedForward, Layer, Layers, Mixer, Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete
from hfcount.text import shown


class T5Layer(Record):
    """How many kinds of distances the layer's own table of biases tells apart; None if it has no table."""

    buckets: int | None


def t5_layers(count: int, mixer: Mixer, ffn: FeedForward, buckets: int, tables: int = 1) -> tuple[Layers, ...]:
    """The `count` layers of a side, of which the first `tables` have a table of their own."""

    def kind(rows: int | None) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, own=T5Layer(buckets=rows))

    first = Indices.below(min(tables, count))
    later = Indices.below(count).difference(first)
    return tuple(keys.split((first, lambda: kind(buckets)), (later, lambda: kind(None))))


def t5_gated(c: Config, usual: str) -> bool:
    """Whether the networks are gated: feed_forward_proj is an activation, `usual` if absent, after `gated-` or alone.

    Raises:
        ConfigError: it, or dense_act_fn in its place, is none.
    """
    word = c.str("feed_forward_proj", default=usual)
    *before, last = word.split("-")
    named = c.str("dense_act_fn", default=None)
    for key, given, right in (
        ("feed_forward_proj", word, before in ([], ["gated"]) and (named or last in shared("activations"))),
        ("dense_act_fn", named, named is None or named in shared("activations")),
    ):
        if not right:
            text = f"{key} is {shown(given)}, but must be an activation" + (
                ", alone or after gated-." if not named else "."
            )
            raise c.error("unknown-kind", text, key, observed=given)
    return c.bool("is_gated_act", default=bool(before))


def t5_layer(
    d: int, layer: Layer, gated: bool, crossed: bool, name: str = "SelfAttention", more: Block | None = None
) -> Block:
    """The tensors of a layer.

    layer.0.SelfAttention and layer.0.layer_norm (d), with `crossed` layer.1.EncDecAttention and its norm, last
    DenseReluDense and its norm: wi (d_ff, d), or gated wi_0 and wi_1, and wo (d, d_ff). An attention has q, k and v
    (h·h_d, d), o (d, h·h_d) and in a layer with a table relative_attention_bias (buckets, h).

    Args:
        name: the name of SelfAttention, if it has another.
        more: further parts of it.
    """
    a, width, buckets = layer.attention, layer.dense.width, layer.sizes(T5Layer).buckets
    into, norm = Linear(d, a.heads * a.head_dim), rms_norm(d)
    parts = block("attention", q=into, k=into, v=into, o=Linear(a.heads * a.head_dim, d)).children
    bias, unread = Block({}), Block({})
    if buckets:
        bias = block(relative_attention_bias=block(weight=Tensor((buckets, a.heads))))
        # The first versions had such a table, unread, in cross attention too.
        unread = block(relative_attention_bias=block(weight=obsolete(buckets, a.heads)))
    wide = {"wi_0": Linear(d, width), "wi_1": Linear(d, width)} if gated else {"wi": Linear(d, width)}
    attention = {**parts, **bias.children, **(more.children if more else {})}
    sublayers = [
        Block({name: Block(attention, "attention"), "layer_norm": norm}),
        block(EncDecAttention=Block({**parts, **unread.children}, "attention"), layer_norm=norm) if crossed else None,
        block(DenseReluDense=Block({**wide, "wo": Linear(width, d)}, "mlp"), layer_norm=norm),
    ]
    present = [sublayer for sublayer in sublayers if sublayer is not None]
    return block(layer=Block({str(number): sublayer for number, sublayer in enumerate(present)}))
