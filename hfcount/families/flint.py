"""Flint: routed experts behind two dense layers, one expert for all tokens, attention sinks."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, shared_moe, swiglu
from hfcount.parts.variants import altered
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("flint",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, sinks=True, head_dim=128)

    def sparse() -> MoE:
        m = keys.moe(c, "moe_intermediate_size")
        shared = c.int("shared_expert_intermediate_size")
        return MoE(experts=m.experts, active=m.active, width=m.width, shared=shared)

    def near() -> Indices:
        count = keys.layer_count(c)
        return keys.other_than(c, range(min(1, count)), range(1, count, 4), range(count - 1, count))

    layers = keys.sparse_steps(c, mixer, keys.dense(c), sparse, only_dense=(0, 1))
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, near, 513))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), sinks=None, softmax_offset=Tensor((a.heads,))),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, "shared_expert") if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
