"""Ovis 2's vision tower, AIMv2's layers, and a head over visual words (arXiv:2405.20797, arXiv:2411.14402)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, rms_norm, stack, swiglu
from hfcount.parts.classic import positions
from hfcount.parts.vision import patch_convolution, square_attention
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ovis2_vision",)  # transformers 5.23: modeling_ovis2.py


def spec(c: Config) -> Spec:
    traits = {
        "vocab_size": keys.sized("|V_v|", c.int("vocab_size")),
        "num_visual_indicator_tokens": keys.sized("n_i", c.int("num_visual_indicator_tokens", minimum=0)),
        "hidden_stride": keys.sized("m", c.int("hidden_stride")),
        "qkv_bias": c.bool("qkv_bias", default=False),
    }
    ffn = Dense(width=c.int("intermediate_size"), bias=c.bool("mlp_bias", default=False))
    return keys.tower(c, ffn=ffn, patches=keys.patches(c), positions=keys.squares(c), traits=traits)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    words = of["vocab_size"] - of["num_visual_indicator_tokens"]

    def layer(one: Layer) -> Block:
        return block(
            attention=square_attention(d, bool(of["qkv_bias"]), out="out_proj"),
            ffn=swiglu(d, one.dense.width, one.dense.bias),
            rms_norm1=rms_norm(d),
            rms_norm2=rms_norm(d),
        )

    table = block(patch_embedding=patch_convolution(s), position_embedding=positions(s), rms_norm=rms_norm(d))
    body = block(embeddings=table, encoder=block(layers=stack(s.layers, layer)), rms_norm=rms_norm(d))
    seen = of["hidden_stride"] * of["hidden_stride"] * d
    return block(
        transformer=body,
        head_linear=Linear(seen, words, component="projector"),
        head_norm=layer_norm(words),
    )
