"""DiffusionGemma: an encoder that reads, and a decoder of the same weights that denoises (https://huggingface.co/google).

Source of the ties: transformers 5.23, modeling_diffusion_gemma.py, DiffusionGemmaModel.
"""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head, rms_norm, swiglu
from hfcount.parts.composite import shared_copy
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("diffusion_gemma",)  # transformers 5.23: modeling_diffusion_gemma.py
IGNORED = ("canvas_length",)


class DiffusionGemma(Sizes):
    """What this architecture alone has."""

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
    d, text, seen = s.hidden, families.base(s), s.parts["vision"]
    network = swiglu(d, s.own.intermediate_size)
    decoder = Block({**text.children, "self_conditioning": Block({"pre_norm": rms_norm(d), **network.children}, "mlp")})
    encoder = block(
        language_model=shared_copy(text) if s.tied else text,
        vision_tower=families.tower(s, "vision"),
        embed_vision=Block({"embedding_projection": Linear(seen.output, d)}, "projector", 0),
    )
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.decoder.embed_tokens.weight"))
