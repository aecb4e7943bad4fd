"""Jamba: Mamba with attention in one layer of each period, and experts in others (arXiv:2403.19887)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, experts, gqa, network, rms_norm, router, stack, swiglu, with_head
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.mixers import mamba
from hfcount.mapper import Config
from hfcount.spec import SSM, Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("jamba",)  # transformers 5.23: modeling_jamba.py
MERGED = packed()


def spec(c: Config) -> Spec:
    every = Indices.below(keys.layer_count(c))
    ssm = SSM(
        inner=keys.expanded(c, "mamba_expand"),
        state=c.int("mamba_d_state"),
        kernel=c.int("mamba_d_conv"),
        step_rank=keys.step_rank(c, "mamba_dt_rank"),
        conv_bias=c.bool("mamba_conv_bias", default=True),
        bias=c.bool("mamba_proj_bias", default=False),
    )
    attending = keys.every_nth(c, "attn_layer_period", offset="attn_layer_offset")
    routed = keys.every_nth(c, "expert_layer_period", offset="expert_layer_offset")
    if c.int("num_experts", "num_local_experts") == 1:
        routed = Indices.below(0)
    networks = keys.split(
        (routed, lambda: Layer(ffn=keys.moe(c, "intermediate_size"))),
        (every.difference(routed), lambda: Layer(ffn=keys.dense(c))),
    )
    layers = keys.combined(keys.mixed(c, keys.attention(c), ssm, [], attending), networks)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model", "ForSequenceClassification"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        expert = swiglu(d, m.width, component="experts")
        return block(router=router(d, m), experts=experts(m, expert))

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        ssm = mamba(d, mixer, norms=True) if isinstance(mixer, SSM) else None
        return block(
            input_layernorm=rms_norm(d),
            mamba=ssm,
            self_attn=None if ssm else gqa(d, layer.attention),
            pre_ff_layernorm=rms_norm(d),
            feed_forward=network(d, layer, sparse),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=rms_norm(d))
    return with_head(s, body)
