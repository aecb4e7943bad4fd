"""Keys of ModernBERT, as an encoder and as a decoder (arXiv:2412.13663)."""

from collections.abc import Sequence

from hfcount.keys.attention import multi_head
from hfcount.keys.ffn import dense
from hfcount.keys.layers import split
from hfcount.keys.sizes import layer_count
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers
from hfcount.tree.indices import Indices


def modernbert(c: Config) -> tuple[Sequence[Layers], dict[str, bool]]:
    """The layers, of which the first has no norm before its attention, and which norms and heads have biases."""
    count = layer_count(c)
    mixer = multi_head(
        c, c.int("hidden_size"), c.int("num_attention_heads"), bias=c.bool("attention_bias", default=False)
    )
    ffn, first = dense(c, bias=c.bool("mlp_bias", default=False)), Indices.below(1)

    def layer(normed: bool) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, traits={"attn_norm": normed})

    later = Indices.span(1, count)
    switches = {name: c.bool(name, default=False) for name in ("norm_bias", "classifier_bias")}
    traits = {**switches, "decoder_bias": c.bool("decoder_bias", default=True)}
    return split(c, (first, lambda: layer(False)), (later, lambda: layer(True))), traits
