"""LFM3: gated short convolutions, and attention with a gate per head in every other layer."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    embedding,
    gqa,
    numbered_swiglu,
    rms_norm,
    stack,
    with_head,
)
from hfcount.architectures.layers.mixers import short_conv
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, ShortConv, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lfm3",)  # transformers 5.23: modeling_lfm3.py
SPELLINGS = {r"\.self_attn\.gate_proj\.": ".self_attn.g_proj."}


class Lfm3(Sizes):
    use_attention_gate: int
    use_sandwich_norm: int


def spec(c: Config) -> Spec[Lfm3]:
    bias, count = c.bool("attention_bias", default=False), keys.layer_count(c)
    full = Layer(mixer=keys.attention(c, bias=bias, qk_norm=True, head_dim=128), ffn=keys.dense(c))
    conv = ShortConv(kernel=c.int("conv_L_cache"), bias=c.bool("conv_bias", default=False))
    fast = Layer(mixer=conv, ffn=keys.dense(c))
    if given := keys.kinds(c):
        layers = keys.by_kind(
            c, {"full_attention": full, "sliding_attention": full, "conv": fast}, given, otherwise="full_attention"
        )
    else:
        attending = Indices.span(2, max(2, count), 2)
        rest = Indices.below(count).difference(attending)
        layers = keys.split((attending, lambda: full), (rest, lambda: fast))
    sizes = Lfm3.read(
        c,
        use_attention_gate=int(c.bool("use_attention_gate", default=True)),
        use_sandwich_norm=int(c.bool("use_sandwich_norm", default=True)),
    )
    windows = keys.sliding(c, lambda: Indices.span(4, max(4, count), 4), default=256)
    return keys.decoder_spec(c, layers, tied=True, heads=("ForCausalLM", "Model"), windows=windows).having(sizes)


def blueprint(s: Spec[Lfm3]) -> Block:
    d, gated, sandwiched = s.hidden, s.own.use_attention_gate, s.own.use_sandwich_norm

    def attention(layer: Layer) -> Block:
        return altered(gqa(d, layer.attention), gate_proj=Linear(d, layer.attention.heads) if gated else None)

    def layer_block(layer: Layer) -> Block:
        conv = short_conv(d, layer.mixer) if isinstance(layer.mixer, ShortConv) else None
        return block(
            operator_norm=rms_norm(d),
            conv=conv,
            self_attn=None if conv else attention(layer),
            post_operator_norm=rms_norm(d) if sandwiched else None,
            ffn_norm=rms_norm(d),
            feed_forward=numbered_swiglu(d, layer.dense.width),
            post_ffn_norm=rms_norm(d) if sandwiched else None,
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), embedding_norm=rms_norm(d))
    return with_head(s, body)
