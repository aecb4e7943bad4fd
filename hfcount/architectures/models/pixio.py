"""Pixio: ViT with several first tokens (arXiv:2512.15715)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("pixio",)  # transformers 5.23: modeling_pixio.py
IGNORED = ("out_indices", "apply_layernorm", "reshape_hidden_states")
SPELLINGS = {**VIT, r"\.norm1\.": ".layernorm_before.", r"\.norm2\.": ".layernorm_after.", r"^encoder\.": "pixio."}

_HEADS = keys.named(("Model",), Backbone="backbone")


class Pixio(Sizes):
    n_cls_tokens: int


def spec(c: Config) -> Spec[Pixio]:
    d, heads, bias = c.int("hidden_size"), c.int("num_attention_heads"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    tokens = keys.dim("n_c", c.int("n_cls_tokens"))
    return keys.imaging(
        c,
        keys.uniform(layer, keys.layer_count(c)),
        _HEADS,
        hidden=d,
        positions=keys.squares(c) + tokens,
        patches=keys.patches(c),
    ).having(Pixio.read(c, n_cls_tokens=tokens))


def blueprint(s: Spec[Pixio]) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden)
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, s.own.n_cls_tokens, d)),
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )

    def layer_block(layer: Layer) -> Block:
        return altered(vit_layer(d, layer), layernorm_before=None, layernorm_after=None, norm1=norm, norm2=norm)

    body = block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)), layernorm=norm)
    return block(encoder=body, layernorm=norm) if s.head == "backbone" else body
