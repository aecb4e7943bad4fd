"""Pixtral's vision tower: rotary positions, gated networks, no biases (arXiv:2410.07073)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import rms_norm, stack, swiglu
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("pixtral",)  # transformers 5.23: modeling_pixtral.py


def spec(c: Config) -> Spec:
    return keys.tower(c, patches=keys.patches(c), indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            attention_norm=rms_norm(d),
            attention=square_attention(d, bias=False),
            ffn_norm=rms_norm(d),
            feed_forward=swiglu(d, layer.dense.width),
        )

    return block(
        patch_conv=patch_convolution(s, bias=False),
        ln_pre=rms_norm(d),
        transformer=block(layers=stack(s.layers, layer_block)),
    )
