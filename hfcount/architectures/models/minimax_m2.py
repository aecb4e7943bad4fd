"""MiniMax-M2: routed experts in every layer, queries and keys normalised over all heads (MiniMax-M2 model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, correction_bias, decoder, gqa, moe, numbered_swiglu, pre_norm
from hfcount.architectures.layers.conversions import BLOCK_SPARSE, W_EXPERTS
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("minimax_m2",)  # transformers 5.23: modeling_minimax_m2.py
SPELLINGS, MERGED = BLOCK_SPARSE, W_EXPERTS
IGNORED = ("rotary_dim",)  # vLLM 0.33.0: minimax_m2.py:198, of rotary positions


def spec(c: Config) -> Spec:
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, head_dim=width, qk_norm="width")
    # vLLM 0.33.0: minimax_m2.py:85, config/model.py:1769; SGLang 0.5.23: minimax_m2.py:678
    attending = c.value("attn_type_list")
    whole = isinstance(attending, list) and len(attending) == keys.layer_count(c)
    every = [1] * len(attending) if whole else None
    c.confirms(use_qk_norm=True, use_routing_bias=True, attn_type_list=every)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.moe(c, "intermediate_size")))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m = layer.moe
        routed = moe(d, m, numbered_swiglu(d, m.width, "experts"))
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            block_sparse_moe=altered(routed, e_score_correction_bias=correction_bias(m)),
        )

    return decoder(s, layer_block)
