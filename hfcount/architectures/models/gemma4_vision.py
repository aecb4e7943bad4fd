"""Gemma 4's vision tower: positions of rows and of columns, Gemma's layers (model card of google/gemma-4-31B-it)."""

from hfcount.architectures import keys
from hfcount.architectures.components.gemma import clippable
from hfcount.architectures.layers import rms_norm, stack
from hfcount.architectures.layers.sandwich import sandwich_norm
from hfcount.architectures.layers.vision import patch_projection
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("gemma4_vision",)  # transformers 5.23: modeling_gemma4.py
# global_head_dim is the text model's (transformers 5.24: configuration_gemma4.py:208)
IGNORED = ("default_output_length", "global_head_dim", "pooling_kernel_size")


class Gemma4Vision(Sizes):
    use_clipped_linears: bool = flag(absent=False)
    standardize: bool = flag(absent=False)


def spec(c: Config) -> Spec[Gemma4Vision]:
    layer = Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.dense(c))
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    sizes = Gemma4Vision.read(c)
    hidden, rows = c.int("hidden_size"), c.int("position_embedding_size")
    return keys.encoding(c, layers, hidden=hidden, patches=keys.patches(c), positions=rows).having(sizes)


def blueprint(s: Spec[Gemma4Vision]) -> Block:
    d, clipped = s.hidden, s.own.use_clipped_linears

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        query, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        attention = block(
            "attention",
            q_proj=clippable(d, query, clipped),
            k_proj=clippable(d, keys_, clipped),
            v_proj=clippable(d, keys_, clipped),
            o_proj=clippable(query, d, clipped),
            q_norm=rms_norm(a.head_dim),
            k_norm=rms_norm(a.head_dim),
        )
        wide = clippable(d, width, clipped)
        network = block("mlp", gate_proj=wide, up_proj=wide, down_proj=clippable(width, d, clipped))
        return sandwich_norm(d, attention, network)

    table = block(
        "embedding", input_proj=patch_projection(s), position_embedding_table=Tensor((2, s.positions or 0, d))
    )
    scale = buffer(d) if s.own.standardize else None
    layers = block(layers=stack(s.layers, layer_block))
    return block(patch_embedder=table, encoder=layers, std_bias=scale, std_scale=scale)
