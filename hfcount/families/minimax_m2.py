"""MiniMax-M2: routed experts in every layer, queries and keys normalised over all heads (MiniMax-M2 model card)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import correction_bias, decoder, gqa, moe, pre_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("minimax_m2",)


def spec(c: Config) -> Spec:
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, head_dim=width).but(qk_norm="width")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.moe(c, "intermediate_size")))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        m, width = one.moe, one.moe.width
        expert = block("experts", w1=Linear(d, width), w2=Linear(width, d), w3=Linear(d, width))
        return pre_norm(
            d,
            self_attn=gqa(d, one.attention),
            block_sparse_moe=Block({**moe(d, m, expert).children, "e_score_correction_bias": correction_bias(m)}),
        )

    return decoder(s, layer)
