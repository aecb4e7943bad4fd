"""Hunyuan 4's language model: gated latent attention with sinks, an indexer, and residual streams."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    correction_bias,
    indexer,
    mla,
    pre_norm,
    rms_norm,
    stack,
    stacked,
)
from hfcount.architectures.layers.ffn import router
from hfcount.architectures.layers.model import embedding
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

RELEASED = {
    r"\.hc_pre\.hc_": ".hc_",
    r"\.learnable_sink_param$": ".sinks",
    r"\.linear_gate\.": ".gate_proj.",
    r"\.hc_attn_layer\.hc_": ".attn_hc.",
    r"\.hc_mlp_layer\.hc_": ".ffn_hc.",
    r"\.hc_head_(fn|base|scale)$": r".hc_\1",
}
"""Its names in its release."""


class HyV4(Sizes):
    """Its own sizes: the number of residual streams."""

    hc_mult: int = size("m")


def hy_v4_spec(c: Config) -> Spec[HyV4]:
    """The spec of the language model."""
    mixer, follower = keys.indexed(c, keys.mla(c))
    count = keys.layer_count(c)
    given = c.strs("indexer_types")[:count]
    usual = [Indices.below(1), Indices.span(1, count, 4)]
    first = keys.listing(c, "indexer_types", given, "full", "shared")[:1] if given else usual
    networks = keys.networks(c, keys.dense_and_sparse(c, default=1), lambda: keys.deepseek_moe(c))
    layers = keys.combined(networks, keys.by_place(c, first, mixer, follower))
    sizes = HyV4.read(c)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)


def mixing(prefix: str, rows: int, width: int, scales: int) -> dict[str, Tensor]:
    """What mixes residual streams. Tensors: fn (rows, width), base (rows), scale (scales), with a prefix."""
    shapes = {"fn": (rows, width), "base": (rows,), "scale": (scales,)}
    return {f"{prefix}{name}": Tensor(shape) for name, shape in shapes.items()}


def last_mixing(s: Spec[HyV4]) -> Block:
    """What joins the residual streams behind the layers."""
    several = s.own.hc_mult
    return block("other", **mixing("hc_head_", several, several * s.hidden, 1))


def body(s: Spec[HyV4]) -> Block:
    """The base model, but for what joins its residual streams behind the layers."""
    d, several = s.hidden, s.own.hc_mult
    mix = block("other", **mixing("hc_", 2 * several, several * d, 2))

    def network(width: int) -> Block:
        up = Linear(d, width)
        return block("mlp", linear_gate=up, up_proj=up, down_proj=Linear(width, d))

    def experts(m: MoE) -> Block:
        return block(
            gate=altered(router(d, m), e_score_correction_bias=correction_bias(m)),
            experts=block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            shared_experts=network(m.shared or 0),
        )

    def layer_block(layer: Layer) -> Block:
        a, ffn = layer.latent, layer.ffn
        more = block(
            linear_gate=Linear(d, a.heads * a.value_dim),
            learnable_sink_param=Tensor((a.heads,)),
            indexer=indexer(d, a) if a.index_heads else None,
        ).children
        mlp = experts(ffn) if isinstance(ffn, MoE) else network(layer.dense.width)
        mixed = block(hc_attn_layer=mix, hc_mlp_layer=mix)
        return altered(pre_norm(d, self_attn=altered(mla(d, a), **more), mlp=mlp), hc_pre=mixed)

    return block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
