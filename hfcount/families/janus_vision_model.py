"""Janus's vision tower: SigLIP's layers, with norms of queries and keys if it has them (arXiv:2410.13848)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Dense, Layer, Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("janus_vision_model",)  # transformers 5.23: modeling_janus.py
IGNORED = ("num_image_tokens",)


class JanusVisionModel(Sizes):
    """What this architecture alone has."""

    attention_bias: bool = flag(absent=True)
    use_qk_norm: bool = flag(absent=False)
    depth: int = size()


def spec(c: Config) -> Spec[JanusVisionModel]:
    d = c.int("hidden_size")
    own = JanusVisionModel.read(c)
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        patches=keys.patches(c),
        positions=keys.squares(c),
        out=c.int("projection_dim"),
    ).having(own)


def blueprint(s: Spec[JanusVisionModel]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, s.own.attention_bias)
    norm = layer_norm(d) if s.own.use_qk_norm else None
    out = Linear(d, d, True)
    attention = block(
        "attention", q_proj=square, k_proj=square, v_proj=square, projection_layer=out, q_norm=norm, k_norm=norm
    )

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width)
        return block(layer_norm1=layer_norm(d), self_attn=attention, layer_norm2=layer_norm(d), mlp=network)

    return block(
        embeddings=block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
        encoder=block(layers=stack(s.layers, layer)),
        post_layernorm=layer_norm(d),
    )
