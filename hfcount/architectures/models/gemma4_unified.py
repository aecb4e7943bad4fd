"""Gemma 4 without towers: patches and frames of sound are projected into the model at once (card of gemma-4-12B-it)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("gemma4_unified",)  # transformers 5.23: modeling_gemma4_unified.py


class Seen(Record):
    """How patches are projected: the numbers that one has, the width within, places along a side, the width without."""

    pixels: int
    width: int
    places: int
    out: int


def _seen(c: Config) -> Seen | None:
    vision = c.sub("vision_config")
    if not vision:
        return None
    side = vision.int("model_patch_size", default=None) or vision.int("patch_size") * vision.int("pooling_kernel_size")
    return Seen(
        pixels=3 * side * side,
        width=keys.dim("d_e", vision.int("mm_embed_dim")),
        places=keys.dim("n_e", vision.int("mm_posemb_size")),
        out=keys.dim("d_s", vision.int("output_proj_dims")),
    )


def _heard(c: Config) -> int | None:
    heard = c.sub("audio_config")
    return keys.dim("d_a", heard.int("audio_embed_dim")) if heard else None


class Gemma4Unified(Sizes):
    """What it sees, if it does, and how wide frames of sound are, if it hears."""

    seen: Seen | None = derived(_seen)
    heard: int | None = derived(_heard)


def spec(c: Config) -> Spec[Gemma4Unified]:
    text, sizes = families.part(c, "text_config"), Gemma4Unified.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, {}, tied=True, heads=heads).having(sizes)


def blueprint(s: Spec[Gemma4Unified]) -> Block:
    vision, heard, senses = s.own.seen, s.own.heard, dict[str, Node]()

    def projected(width: int) -> Block:
        return block(embedding_projection=Linear(width, s.hidden))

    if vision is not None:
        wide = vision.width
        senses["embed_vision"] = block(
            "vision",
            patch_ln1=layer_norm(vision.pixels),
            patch_dense=Linear(vision.pixels, wide, True),
            patch_ln2=layer_norm(wide),
            pos_embedding=Tensor((vision.places, 2, wide)),
            pos_norm=layer_norm(wide),
            multimodal_embedder=projected(vision.out),
        )
    if heard is not None:
        senses["embed_audio"] = Block(projected(heard).children, "audio")
    return towers_in_model(s, families.base(s), **senses)
