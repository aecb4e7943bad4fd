"""AIMv2's vision tower as first released, with fused projections (arXiv:2411.14402)."""

from hfcount.architectures.layers import rms_norm, stack
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


class FusedAimv2(Sizes):
    """Whether its projections have biases."""

    qkv_bias: bool = flag()
    use_bias: bool


def fused_aimv2(s: Spec[FusedAimv2]) -> Block:
    """The tower: patches with their positions, and layers."""
    d, of = s.hidden, s.own
    bias = of.use_bias

    def layer_block(layer: Layer) -> Block:
        wide, narrow = Linear(d, layer.dense.width, bias), Linear(layer.dense.width, d, bias)
        attention = fused_square_attention(d, of.qkv_bias, bias)
        network = block("mlp", fc1=wide, fc2=narrow, fc3=wide)
        return block(attn=attention, norm_1=rms_norm(d), mlp=network, norm_2=rms_norm(d))

    patches = block(proj=patch_convolution(s), norm=rms_norm(d))
    places = None if s.positions is None else Tensor((1, s.positions, d), component="embedding")
    trunk = block(blocks=stack(s.layers, layer_block), post_trunk_norm=rms_norm(d))
    return block(preprocessor=block(patchifier=patches, pos_embed=places), trunk=trunk)
