"""DeepSeekMoE, the first of its kind: fine-grained experts beside shared ones (arXiv:2401.06066)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import decoder, gqa, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("deepseek",)


def spec(c: Config) -> Spec:
    bias, every = c.bool("attention_bias", default=False), Indices.below(keys.layer_count(c))
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias)
    first = c.int("first_k_dense_replace", minimum=0, maximum=MAX_LAYERS)
    step = c.int("moe_layer_freq", default=1, maximum=MAX_LAYERS)
    routed = Indices.of(range(-(-first // step) * step, int(every.count), step))

    def sparse() -> Layer:
        experts = ("n_routed_experts",)
        ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn)

    dense = (every.difference(routed), lambda: Layer(mixer=mixer, ffn=keys.dense(c)))
    return keys.decoder_spec(c, keys.split(c, dense, (routed, sparse)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
