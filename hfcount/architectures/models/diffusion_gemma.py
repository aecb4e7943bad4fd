"""DiffusionGemma: an encoder that reads, and a decoder of the same weights that denoises (https://huggingface.co/google).

Source of the ties: transformers 5.23, modeling_diffusion_gemma.py, DiffusionGemmaModel.
"""

from hfcount.architectures import families, keys
from hfcount.architectures.components.gemma import (
    attention_by_place,
    experts_beside,
    lending_attention,
    local_and_global,
)
from hfcount.architectures.layers import altered, base, lm_head, rms_norm, swiglu
from hfcount.architectures.layers.composite import shared_copy
from hfcount.architectures.layers.sandwich import sandwich_norm
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("diffusion_gemma",)  # transformers 5.23: modeling_diffusion_gemma.py
IGNORED = ("canvas_length",)


class DiffusionGemma(Sizes):
    intermediate_size: int


def spec(c: Config) -> Spec[DiffusionGemma]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    width = keys.dim("d_ff", c.part("text_config").int("intermediate_size"))
    tied, heads = c.bool("tie_word_embeddings", default=True), keys.named(ForBlockDiffusion="causal_lm", Model="base")
    return (
        keys.composite(c, text, towers, heads=heads)
        .replace(tied=tied)
        .having(DiffusionGemma.read(c, intermediate_size=width))
    )


def blueprint(s: Spec[DiffusionGemma]) -> Block:
    d, text, vision = s.hidden, families.base(s), s.part("vision")
    network = swiglu(d, s.own.intermediate_size)
    decoder = Block({**text.children, "self_conditioning": Block({"pre_norm": rms_norm(d), **network.children}, "mlp")})
    encoder = block(
        language_model=shared_copy(text) if s.tied else text,
        vision_tower=families.tower(s, "vision"),
        embed_vision=Block({"embedding_projection": Linear(vision.output, d)}, "projector", 0),
    )
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.decoder.embed_tokens.weight"))


class DiffusionGemmaTextLayer(Record):
    values: int


def text_spec(c: Config) -> Spec:
    """DiffusionGemma's encoder of text: Gemma 4's layers with experts (https://huggingface.co/google)."""
    bias, placed = c.bool("attention_bias", default=False), local_and_global(c, period=6)
    ffn = keys.moe(c, "moe_intermediate_size", active=("top_k_experts",)).replace(shared=c.int("intermediate_size"))
    layers = [
        Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn, own=DiffusionGemmaTextLayer(values=local)))
        for indices, local, mixer in attention_by_place(c, placed, bias, same=True)
    ]
    size = keys.extent(c, "sliding_window", default=512)
    windows = [window for indices, local in placed if local and size for window in keys.within(indices, size)]
    model = keys.decoder_spec(c, layers, heads=("Model",), windows=tuple(windows))
    return keys.seeing_both_ways(model) if c.str("use_bidirectional_attention", default="") == "all" else model


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        body = sandwich_norm(
            d,
            self_attn=lending_attention(d, layer.attention, bool(layer.sizes(DiffusionGemmaTextLayer).values)),
            mlp=swiglu(d, layer.moe.shared or 0),
        )
        return altered(body, layer_scalar=buffer(1), **experts_beside(d, layer.moe))

    return base(s, layer_block)


PARTS = (families.Family(("diffusion_gemma_text",), text_spec, text_blueprint),)
