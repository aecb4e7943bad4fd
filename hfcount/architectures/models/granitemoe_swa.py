"""Granite with experts and sliding windows: attention with sinks, experts stacked in one tensor per matrix."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, router, stacked
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("granitemoe_swa",)  # transformers 5.23: modeling_granitemoe_swa.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), sinks=True)
    shared = c.int("shared_intermediate_size", default=0, minimum=0)
    layer = Layer(mixer=mixer, ffn=keys.moe(c, "intermediate_size").replace(shared=shared or None))
    return keys.decoder_spec(
        c, layer, windows=keys.sliding(c, lambda: keys.all_but_every_nth(c, 4, first=0), default=128)
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m, shared = layer.moe, layer.moe.shared
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            block_sparse_moe=block(
                router=router(d, m),
                experts=block("experts", gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            ),
            shared_mlp=block("mlp", input_linear=Linear(d, 2 * shared), output_linear=Linear(shared, d))
            if shared
            else None,
        )

    return decoder(s, layer_block)
