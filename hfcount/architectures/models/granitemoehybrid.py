"""Granite 4.0: Mamba-2, attention in a few layers, with experts or without (ibm-granite/granite-4.0-h-small)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, router, stacked
from hfcount.architectures.layers.conversions import GRANITE_EXPERTS
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import Config
from hfcount.spec import SSM, Dense, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("granitemoehybrid",)  # transformers 5.23: modeling_granitemoehybrid.py
SPELLINGS = GRANITE_EXPERTS


def spec(c: Config) -> Spec:
    full = keys.attention(c, bias=c.bool("attention_bias", default=False))
    mixers = keys.mixed(c, full, keys.mamba2(c), keys.kinds(c), Indices.below(0), "full_attention")
    shared = c.int("shared_intermediate_size")
    ffn: Dense | MoE = Dense(width=shared)
    if c.int("num_local_experts", minimum=0):
        ffn = keys.moe(c, "intermediate_size").replace(shared=shared)
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=ffn), keys.layer_count(c)))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        return block(
            router=block(layer=router(d, m)),
            input_linear=block(weight=stacked(m, 2 * m.width, d)),
            output_linear=block(weight=stacked(m, d, m.width)),
        )

    def layer_block(layer: Layer) -> Block:
        ffn = layer.ffn
        ssm = mamba2(d, layer.mixer) if isinstance(layer.mixer, SSM) else None
        shared = (layer.moe.shared or 0) if isinstance(ffn, MoE) else layer.dense.width
        return block(
            input_layernorm=rms_norm(d),
            mamba=ssm,
            self_attn=None if ssm else gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            block_sparse_moe=sparse(ffn) if isinstance(ffn, MoE) else None,
            shared_mlp=block("mlp", input_linear=Linear(d, 2 * shared), output_linear=Linear(shared, d)),
        )

    return decoder(s, layer_block)
