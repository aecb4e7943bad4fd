"""EmbeddingGemma 2: a text encoder, and Gemma 4's towers for images and sound if there are any (transformers)."""

from typing import Literal

from hfcount.architectures import families, keys
from hfcount.architectures.components import gemma
from hfcount.architectures.components.gemma import attention_by_place, local_and_global
from hfcount.architectures.layers import altered, base, rms_norm, swiglu
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.sandwich import sandwich_norm
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block, buffer

MODEL_TYPES = ("embedding_gemma2",)  # transformers 5.23: modeling_embedding_gemma2.py

_SENSES: tuple[Literal["vision", "audio"], ...] = ("vision", "audio")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers: dict[str, Spec] = {
        sense: families.part(c, f"{sense}_config") for sense in _SENSES if c.sub(f"{sense}_config")
    }
    return keys.composite(c, text, towers, heads=("Model",))


def blueprint(s: Spec) -> Block:
    senses = dict[str, Node]()
    for sense in [sense for sense in _SENSES if sense in s.parts]:
        senses[f"{sense}_tower"] = families.tower(s, sense)
        projection = Linear(s.parts[sense].output, s.hidden)
        senses[f"embed_{sense}"] = block("projector", embedding_projection=projection)
    return towers_in_model(s, families.base(s), **senses)


class EmbeddingGemma2Text(Sizes):
    per_layer: int = size("d_l", "hidden_size_per_layer_input", absent=512)
    embedding_dim: int = size("d_o", absent=768)


def text_spec(c: Config) -> Spec[EmbeddingGemma2Text]:
    """EmbeddingGemma 2's text encoder: Gemma 4's layers, seeing both ways, and inputs of their own (transformers)."""
    bias, ffn = c.bool("attention_bias", default=False), keys.dense(c)
    period = c.int("sliding_window_pattern", default=6, minimum=1, maximum=MAX_LAYERS)
    placed = local_and_global(c, period=period)
    layers = [
        Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn))
        for indices, _, mixer in attention_by_place(c, placed, bias, False, kv_heads=1)
    ]
    size = keys.extent(c, "sliding_window", default=512)
    windows = [window for indices, local in placed if local and size for window in keys.within(indices, size)]
    sizes = EmbeddingGemma2Text.read(c)
    model = keys.decoder_spec(c, layers, heads=("Model",), windows=tuple(windows))
    return keys.seeing_both_ways(model).having(sizes)


def text_blueprint(s: Spec[EmbeddingGemma2Text]) -> Block:
    d, per_layer = s.hidden, s.own.per_layer

    def layer_block(layer: Layer) -> Block:
        body = sandwich_norm(d, gemma.lending_attention(d, layer.attention), swiglu(d, layer.dense.width))
        return altered(body, ple_block=Block(gemma.per_layer_input(d, per_layer)), layer_scalar=buffer(1))

    projection = Linear(d, s.depth * per_layer, component="embedding")
    children = block(per_layer_model_projection=projection, per_layer_projection_norm=rms_norm(per_layer))
    out = Linear(d, s.own.embedding_dim, component="projector")
    return Block({**base(s, layer_block).children, "ple": children, "embedding_projection": out})


PARTS = (families.Family(("embedding_gemma2_text",), text_spec, text_blueprint),)
