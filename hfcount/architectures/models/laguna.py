"""Laguna: gated attention with its own number of heads in each layer, balanced experts (Laguna model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    decoder,
    experts,
    gqa,
    network,
    pre_norm,
    shared_moe,
    swiglu,
)
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("laguna",)  # transformers 5.23: modeling_laguna.py
SPELLINGS = {
    r"mlp\.experts\.e_score_correction_bias$": "mlp.gate.e_score_correction_bias",
    r"mlp\.shared_expert.": "mlp.shared_experts.",
}
MERGED = packed()


class Laguna(Sizes):
    gate_per_head: int


def spec(c: Config) -> Spec[Laguna]:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    listed = c.given("num_attention_heads_per_layer")
    mixers = keys.own_heads(c, keys.attention(c, bias=bias, qk_norm=True, head_dim=width, sharing=not listed))
    networks = keys.networks(c, keys.dense_and_sparse(c, default=1), lambda: keys.gated_moe(c))
    layers = keys.combined(networks, mixers)
    sizes = Laguna.read(c, gate_per_head=keys.gate_per_head(c))
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, default=512)).having(sizes)


def blueprint(s: Spec[Laguna]) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        balance = block("router", e_score_correction_bias=Tensor((m.experts,)))
        routed = experts(m, swiglu(d, m.width, component="experts"))
        return altered(shared_moe(d, m, "shared_expert"), experts=(routed, balance))

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        gate = Linear(d, a.heads if s.own.gate_per_head else a.heads * a.head_dim)
        return pre_norm(d, self_attn=altered(gqa(d, a), g_proj=gate), mlp=network(d, layer, sparse))

    return decoder(s, layer_block)
