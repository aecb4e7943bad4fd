"""Lara 4 Mini: Gated DeltaNet, sliding and full attention in periods of five, experts beside shared ones (its card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, rms_norm, router, stacked, swiglu
from hfcount.architectures.layers.mixers import gated_delta_net
from hfcount.mapper import Config
from hfcount.spec import DeltaNet, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lara_mini",)  # transformers 5.24: modeling_lara_mini.py
SPELLINGS = {r"\blinear_attn\.out_norm\.": "linear_attn.norm."}
MERGED = {"linear_attn.in_proj.weight": tuple(f"linear_attn.in_proj_{part}.weight" for part in ("qkv", "z", "b", "a"))}
ALLOTTED = tuple(MERGED.values())


def spec(c: Config) -> Spec:
    full = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    ffn, linear = keys.gated_moe(c), keys.delta_net(c)
    of_kind = {
        "linear_attention": Layer(mixer=linear, ffn=ffn),
        "sliding_attention": Layer(mixer=full, ffn=ffn),
        "full_attention": Layer(mixer=full, ffn=ffn),
    }
    count = keys.layer_count(c)
    if given := keys.kinds(c):
        layers = keys.by_kind(c, of_kind, given)
    else:
        recurrent = [Indices.span(first, count, 5) for first in (0, 2)]
        layers = [part.replace(layer=part.layer.replace(ffn=ffn)) for part in keys.by_place(c, recurrent, linear, full)]
    windows = keys.sliding(c, lambda: keys.other_than(c, *(range(first, count, 5) for first in (0, 2, 3))), default=512)
    return keys.decoder_spec(c, layers, tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mlp = _experts(d, layer.moe)
        if isinstance(layer.mixer, DeltaNet):
            return pre_norm(d, linear_attn=_fused(d, layer.mixer), mlp=mlp)
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=mlp)

    return decoder(s, layer_block)


def _experts(d: int, m: MoE) -> Block:
    """Routed experts in one tensor a projection, and a shared one without a gate."""
    routed = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
    return block(gate=router(d, m), experts=routed, shared_expert=swiglu(d, m.shared or 0))


def _fused(d: int, a: DeltaNet) -> Block:
    """Gated DeltaNet whose projections are stored in one. Tensors: in_proj (2·q + 2·v + 2·l_v, d), else as that has."""
    key_width, value_width = a.key_heads * a.key_dim, a.value_heads * a.value_dim
    apart = dict.fromkeys(("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "norm"))
    joined = Linear(d, 2 * key_width + 2 * value_width + 2 * a.value_heads)
    return altered(gated_delta_net(d, a), **apart, in_proj=joined, out_norm=rms_norm(a.value_dim))
