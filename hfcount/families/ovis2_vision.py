"""Ovis 2's vision tower, AIMv2's layers, and a head over visual words (arXiv:2405.20797, arXiv:2411.14402)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, rms_norm, stack, swiglu
from hfcount.parts.classic import positions
from hfcount.parts.vision import patch_convolution, square_attention
from hfcount.spec import Dense, Layer, Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ovis2_vision",)  # transformers 5.23: modeling_ovis2.py


class Ovis2Vision(Sizes):
    """What this architecture alone has."""

    vocab_size: int = size("|V_v|")
    num_visual_indicator_tokens: int = size("n_i", minimum=0)
    hidden_stride: int = size("m")
    qkv_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[Ovis2Vision]:
    own = Ovis2Vision.read(c)
    ffn = Dense(width=c.int("intermediate_size"), bias=c.bool("mlp_bias", default=False))
    return keys.tower(c, ffn=ffn, patches=keys.patches(c), positions=keys.squares(c)).having(own)


def blueprint(s: Spec[Ovis2Vision]) -> Block:
    d, of = s.hidden, s.own
    words = of.vocab_size - of.num_visual_indicator_tokens

    def layer(one: Layer) -> Block:
        return block(
            attention=square_attention(d, of.qkv_bias, out="out_proj"),
            ffn=swiglu(d, one.dense.width, one.dense.bias),
            rms_norm1=rms_norm(d),
            rms_norm2=rms_norm(d),
        )

    table = block(patch_embedding=patch_convolution(s), position_embedding=positions(s), rms_norm=rms_norm(d))
    body = block(embeddings=table, encoder=block(layers=stack(s.layers, layer)), rms_norm=rms_norm(d))
    seen = of.hidden_stride * of.hidden_stride * d
    return block(
        transformer=body,
        head_linear=Linear(seen, words, component="projector"),
        head_norm=layer_norm(words),
    )
