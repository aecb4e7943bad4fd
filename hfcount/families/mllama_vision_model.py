"""The vision tower of Llama 3.2: an image in tiles, and two stacks of layers (arXiv:2407.21783, section 7)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("mllama_vision_model",)  # transformers 5.23: modeling_mllama.py


class MllamaVisionModel(Sizes):
    """What this architecture alone has."""

    max_num_tiles: int = size("T")
    ratios: int


def spec(c: Config) -> Spec[MllamaVisionModel]:
    ratios, rows = c.length("supported_aspect_ratios"), keys.squares(c) + 1
    own = MllamaVisionModel.read(c, ratios=8 if ratios is None else ratios)
    heads, depth, deep = ("attention_heads",), ("num_global_layers",), c.int("num_global_layers", minimum=0)
    parts = {"global": keys.tower(c, heads=heads, depth=depth, indivisible="run", bias=False)} if deep else {}
    out = c.int("vision_output_dim")
    return keys.tower(
        c,
        heads=heads,
        indivisible="run",
        bias=False,
        patches=keys.patches(c),
        positions=rows,
        out=out,
        parts=parts,
    ).having(own)


def blueprint(s: Spec[MllamaVisionModel]) -> Block:
    d, gate, tiles, rows = s.hidden, Tensor((1,)), s.own.max_num_tiles, s.positions or 0
    arrangements = s.own.ratios + 1  # one of them is none

    def layer(one: Layer) -> Block:
        return block(
            self_attn=mha(d, one.attention, "o_proj"),
            mlp=mlp(d, one.dense.width),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    def gated(one: Layer) -> Block:
        return Block({**layer(one).children, "gate_attn": gate, "gate_ffn": gate})

    tiled = block("embedding", embedding=embedding(arrangements, tiles * d), gate=gate)
    places = block(
        "embedding",
        embedding=Tensor((rows, d)),
        gate=gate,
        tile_embedding=embedding(arrangements, tiles * rows * d),
    )
    return block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        gated_positional_embedding=places,
        pre_tile_positional_embedding=tiled,
        post_tile_positional_embedding=tiled,
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        transformer=block(layers=stack(s.layers, layer)),
        global_transformer=block(layers=stack(s.stack("global"), gated)) if "global" in s.parts else None,
    )
