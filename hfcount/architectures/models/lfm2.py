"""LFM2, dense or with routed experts: gated short convolutions and some attention (arXiv:2511.23404)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    embedding,
    gqa,
    moe,
    numbered_swiglu,
    rms_norm,
    stack,
    with_head,
)
from hfcount.architectures.layers.conversions import W_EXPERTS
from hfcount.architectures.layers.mixers import short_conv
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, MoE, ShortConv, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, block, buffer

# transformers 5.23: modeling_lfm2.py, modeling_lfm2_moe.py
# and, for what sees both ways, lfm2.py of vllm-project/vllm 0.33
MODEL_TYPES = ("lfm2", "lfm2_moe")
CLASSES = ("Lfm2BidirectionalModel",)
MERGED = W_EXPERTS


class Lfm2(Sizes):
    use_expert_bias: int


def spec(c: Config) -> Spec[Lfm2]:
    routed, count = c.family == "lfm2_moe", keys.layer_count(c)
    conv = Layer(mixer=ShortConv(kernel=c.int("conv_L_cache"), bias=c.bool("conv_bias", default=False)))
    full = Layer(mixer=keys.attention(c))

    def attending() -> Indices:
        given = c.length("full_attn_idxs") is not None
        return keys.numbered(c, "full_attn_idxs") if given else Indices.below(count)

    mixers = keys.of_two(c, {"full_attention": full, "conv": conv}, attending)
    if routed:
        places = keys.dense_and_sparse(c, "num_dense_layers", listed=None)
        networks = keys.networks(c, places, lambda: keys.moe(c, "moe_intermediate_size"))
    else:
        networks = keys.uniform(Layer(ffn=_adjusted(c)), count)
    sizes = Lfm2.read(c, use_expert_bias=int(routed and c.bool("use_expert_bias", default=True)))
    model = keys.decoder_spec(c, keys.combined(mixers, networks), tied=True, heads=("ForCausalLM", "Model"))
    return model.replace(tied=c.bool("tie_embedding", default=model.tied)).having(sizes)


def blueprint(s: Spec[Lfm2]) -> Block:
    d = s.hidden

    def attention(a: GQA) -> Block:
        return altered(gqa(d, a, "out_proj"), q_layernorm=rms_norm(a.head_dim), k_layernorm=rms_norm(a.head_dim))

    def sparse(m: MoE) -> Block:
        bias = buffer(m.experts, component="router") if s.own.use_expert_bias else None
        return altered(moe(d, m, numbered_swiglu(d, m.width, "experts")), expert_bias=bias)

    def layer_block(layer: Layer) -> Block:
        mixer, ffn = layer.mixer, layer.ffn
        conv = short_conv(d, mixer) if isinstance(mixer, ShortConv) else None
        return block(
            operator_norm=rms_norm(d),
            conv=conv,
            self_attn=None if conv else attention(layer.attention),
            ffn_norm=rms_norm(d),
            feed_forward=sparse(ffn) if isinstance(ffn, MoE) else numbered_swiglu(d, layer.dense.width),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), embedding_norm=rms_norm(d))
    return with_head(s, body)


def _adjusted(c: Config) -> Dense:
    """One network for all tokens; block_auto_adjust_ff_dim takes two thirds of the width, scaled and rounded up.

    Source: arXiv:2302.13971; transformers 5.23, modeling_lfm2.py, Lfm2MLP.
    """
    width = c.int("block_ff_dim", default=None) or c.int("intermediate_size")
    if not c.bool("block_auto_adjust_ff_dim", default=True):
        return Dense(width=width)
    width = c.times("block_ffn_dim_multiplier", 2 * width // 3, default=1)
    return Dense(width=round_up(width, c.int("block_multiple_of", default=256)))
