"""Granite 3 with experts, each matrix of all experts in one tensor, and a network beside them (arXiv:2408.13359)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, router, stacked
from hfcount.architectures.layers.conversions import GRANITE_EXPERTS
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_granitemoe.py, modeling_granitemoeshared.py
MODEL_TYPES = ("granitemoe", "granitemoeshared")
SPELLINGS = GRANITE_EXPERTS


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    shared = c.int("shared_intermediate_size", default=0, minimum=0) if c.family == "granitemoeshared" else 0
    ffn = keys.moe(c, "intermediate_size")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn.replace(shared=shared or None)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m, shared = layer.moe, layer.moe.shared
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            block_sparse_moe=block(
                router=block(layer=router(d, m)),
                input_linear=block("experts", weight=stacked(m, 2 * m.width, d)),
                output_linear=block("experts", weight=stacked(m, d, m.width)),
            ),
            shared_mlp=block("mlp", input_linear=Linear(d, 2 * shared), output_linear=Linear(shared, d))
            if shared
            else None,
        )

    return decoder(s, layer_block)
