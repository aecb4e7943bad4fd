"""Falcon-H1: Mamba-2 and attention side by side in every layer (arXiv:2507.22448)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("falcon_h1",)  # transformers 5.23: modeling_falcon_h1.py


class FalconH1(Sizes):
    mamba_rms_norm: int
    projectors_bias: int


def spec(c: Config) -> Spec[FalconH1]:
    full = keys.attention(c, bias=c.bool("attention_bias", default=False))
    ssm = keys.mamba2(c, inner="mamba_d_ssm")
    layer = Layer(mixer=full, parallel_mixer=ssm, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    sizes = FalconH1.read(
        c,
        mamba_rms_norm=int(c.bool("mamba_rms_norm", default=False)),
        projectors_bias=int(c.bool("projectors_bias", default=False)),
    )
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model")).having(sizes)


def blueprint(s: Spec[FalconH1]) -> Block:
    d, norm, bias = s.hidden, bool(s.own.mamba_rms_norm), bool(s.own.projectors_bias)

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            mamba=mamba2(d, layer.ssm, norm=norm, out_bias=bias),
            self_attn=gqa(d, layer.attention),
            pre_ff_layernorm=rms_norm(d),
            feed_forward=swiglu(d, layer.dense.width, layer.dense.bias),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=rms_norm(d))
    return with_head(s, body)
