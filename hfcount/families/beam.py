"""Beam: gated attention over windows, and balanced experts after a few dense layers, with norms on both sides."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.parts.sparse import shared_moe
from hfcount.parts.variants import altered
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("beam",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True)
    first, rest = keys.dense_and_sparse(c, default=3)
    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c)))
    sparse = (rest, lambda: Layer(mixer=mixer, ffn=keys.moe(c, "moe_intermediate_size")))
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6, last=True), 512)
    return keys.decoder_spec(c, keys.split(c, dense, sparse), heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim), gate_bias=Tensor((a.heads,))),
            post_attention_layernorm=rms_norm(d),
            pre_feedforward_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, balanced=True) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer)
