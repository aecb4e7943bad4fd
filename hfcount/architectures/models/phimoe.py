"""Phi-3.5-MoE: routed experts, and norms with biases (arXiv:2404.14219)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    base,
    experts,
    gqa,
    layer_norm,
    numbered_swiglu,
    pre_norm,
    with_head,
)
from hfcount.architectures.layers.conversions import BLOCK_SPARSE, W_EXPERTS
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("phimoe",)  # transformers 5.23: modeling_phimoe.py
SPELLINGS = BLOCK_SPARSE | {r"\.mlp\.gate\.weight$": ".mlp.router.weight"}
MERGED = W_EXPERTS


class Phimoe(Sizes):
    lm_head_bias: int


def spec(c: Config) -> Spec[Phimoe]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    head_bias = int(c.bool("lm_head_bias", default=False))
    ffn = keys.moe(c, "intermediate_size")
    windows = keys.sliding_everywhere(c)
    sizes = Phimoe.read(c, lm_head_bias=head_bias)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), windows=windows).having(sizes)


def blueprint(s: Spec[Phimoe]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        # Its router is an nn.Linear, unlike most.
        gate = Linear(d, layer.moe.experts, component="router")
        sparse = block(gate=gate, experts=experts(layer.moe, numbered_swiglu(d, layer.moe.width, "experts")))
        return pre_norm(d, layer_norm, self_attn=gqa(d, layer.attention), block_sparse_moe=sparse)

    return with_head(s, base(s, layer_block, layer_norm(d)), bias=bool(s.own.lm_head_bias))
