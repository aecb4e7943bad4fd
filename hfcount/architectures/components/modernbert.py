"""ModernBERT's layers, as an encoder and as a decoder (arXiv:2412.13663)."""

from collections.abc import Sequence

from hfcount.architectures import keys
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Layers, Record
from hfcount.spec.tree.indices import Indices


class ModernBert(Sizes):
    """Which norms and heads have biases."""

    norm_bias: bool = flag(absent=False)
    classifier_bias: bool = flag(absent=False)
    decoder_bias: bool = flag(absent=True)


class ModernBertLayer(Record):
    """Whether there is a norm before the attention."""

    attn_norm: bool


def modernbert_layers(c: Config) -> Sequence[Layers]:
    """The layers, of which the first has no norm before its attention."""
    count = keys.layer_count(c)
    mixer = keys.multi_head(
        c, c.int("hidden_size"), c.int("num_attention_heads"), bias=c.bool("attention_bias", default=False)
    )
    ffn, first = keys.dense(c, bias=c.bool("mlp_bias", default=False)), Indices.below(1)

    def layer(normed: bool) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, own=ModernBertLayer(attn_norm=normed))

    return keys.split((first, lambda: layer(False)), (Indices.span(1, count), lambda: layer(True)))
