"""K-EXAONE: EXAONE 4 with balanced experts beside shared ones (arXiv:2601.01739)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import correction_bias, decoder, gqa, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("exaone_moe",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qk_norm=True)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)

    def sparse() -> Layer:
        return Layer(mixer=mixer, ffn=keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",)))

    layers = keys.split(c, (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c))), (rest, sparse))
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, lambda: keys.patterned(c), 4096))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return Block({**shared_moe(d, m).children, "e_score_correction_bias": correction_bias(m)})

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=moe(ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
