"""Command A with experts: attention and feed-forward side by side behind one norm (Cohere model card)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, MoE, Spec
from hfcount.tree.block import Block, block
from hfcount.tree.parts import decoder, gqa, rms_norm, shared_moe, swiglu

MODEL_TYPES = ("cohere2_moe",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", default=0)

    def dense() -> Layer:
        width = c.int("prefix_dense_intermediate_size", default=None) or c.int("intermediate_size")
        return Layer(mixer=mixer, ffn=Dense(width=width))

    def sparse() -> Layer:
        ffn = keys.moe(c, "intermediate_size", shared=("num_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn.but(shared=ffn.shared or None))

    return keys.frame(c, keys.split(c, (first, dense), (rest, sparse)), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            mlp=shared_moe(d, ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
