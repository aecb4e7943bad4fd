"""AIMv2's vision tower as it was released, and as Ovis 2 has it (arXiv:2411.14402)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Sizes, Spec, flag
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("ovis_aimv2",)  # modeling_aimv2.py of AIDC-AI/Ovis2-1B

# configuration_aimv2.py of AIDC-AI/Ovis2-1B.
_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 24,
    "num_attention_heads": 8,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 14,
    "qkv_bias": False,
    "use_bias": False,
}


class OvisAimv2(Sizes):
    """What this architecture alone has."""

    qkv_bias: bool = flag()
    use_bias: bool


def spec(c: Config) -> Spec[OvisAimv2]:
    c = c.assuming(_ABSENT)
    bias, seen = c.bool("use_bias"), keys.patches(c)
    own = OvisAimv2.read(c, use_bias=bias)
    ffn = Dense(width=c.int("intermediate_size"), bias=bias)
    return keys.tower(c, ffn=ffn, indivisible="built", patches=seen, positions=keys.squares(c)).having(own)


def blueprint(s: Spec[OvisAimv2]) -> Block:
    d, of = s.hidden, s.own
    bias = of.use_bias

    def layer(one: Layer) -> Block:
        wide, narrow = Linear(d, one.dense.width, bias), Linear(one.dense.width, d, bias)
        attention = fused_square_attention(d, of.qkv_bias, bias)
        network = block("mlp", fc1=wide, fc2=narrow, fc3=wide)
        return block(attn=attention, norm_1=rms_norm(d), mlp=network, norm_2=rms_norm(d))

    patches = block(proj=patch_convolution(s), norm=rms_norm(d))
    places = Tensor((1, s.positions or 0, d), component="embedding")
    trunk = block(blocks=stack(s.layers, layer), post_trunk_norm=rms_norm(d))
    return block(preprocessor=block(patchifier=patches, pos_embed=places), trunk=trunk)
