"""Mistral 4: latent attention, and experts stored in one tensor each for all, beside a shared one (transformers)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, mla, network, pre_norm, router, stacked, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mistral4",)  # transformers 5.23: modeling_mistral4.py


def spec(c: Config) -> Spec:
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=0, listed=None)
    return keys.decoder_spec(c, keys.networks(c, places, lambda: keys.deepseek_moe(c), keys.mla(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def experts(m: MoE) -> Block:
        return block(
            gate=router(d, m),
            experts=block("experts", gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            shared_experts=None if m.shared is None else swiglu(d, m.shared),
        )

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=mla(d, layer.latent), mlp=network(d, layer, experts))

    return decoder(s, layer_block)
