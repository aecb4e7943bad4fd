"""FLAVA: encoders of images, of texts, and of both together (arXiv:2112.04482)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.families.flava_image_model import FlavaImageModel
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.spec import Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, Tensor, block, obsolete

MODEL_TYPES = ("flava",)  # transformers 5.23: modeling_flava.py
IGNORED = (
    "global_backprop_contrastive",
    "skip_unmasked_multimodal_encoder",
    "return_loss",
    "ce_ignore_index",
)


class Flava(Sizes):
    """What FLAVA alone has; `hidden_size` is the width of what matches texts and images, whatever the encoders' is."""

    hidden_size: int = size("d_i")
    init_codebook: bool = flag(absent=True)


def spec(c: Config) -> Spec[Flava]:
    text, image = families.part(c, "text_config"), families.part(c, "image_config")
    parts = {"vision": image, "multimodal": families.part(c, "multimodal_config")}
    own, heads = Flava.read(c), ("ForPreTraining", "Model")
    whole = keys.composite(c, text, parts, heads=heads, tied=True, out=c.int("projection_dim"))
    if whole.head != "base" and own.init_codebook:
        whole = whole.replace(parts={**whole.parts, "codebook": families.part(c, "image_codebook_config")})
    return whole.having(own)


def blueprint(s: Spec[Flava]) -> Block:
    out, vision, both = s.out or s.hidden, s.parts["vision"], s.parts["multimodal"]

    def into(inputs: int, width: int) -> Linear:
        return Linear(inputs, width, True, "projector")

    body = block(
        text_model=families.base(s),
        image_model=families.tower(s, "vision"),
        multimodal_model=families.tree(both),
        image_projection=into(vision.hidden, out),
        text_projection=into(s.hidden, out),
        logit_scale=Tensor((), component="other"),
        image_to_mm_projection=into(vision.hidden, both.hidden),
        text_to_mm_projection=into(s.hidden, both.hidden),
    )
    if s.head == "base":
        return body

    def masked(d: int, vocab: int) -> Block:
        transform = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d))
        bias = obsolete(vocab) if s.tied else Tensor((vocab,))  # the decoder's, if tied
        return block("lm_head", transform=transform, decoder=Linear(d, vocab, True), bias=bias)

    images, words = masked(vision.hidden, vision.sizes(FlavaImageModel).codes), masked(s.hidden, s.vocab)
    codebook = s.parts.get("codebook")
    matching = s.own.hidden_size
    pair = block(dense=Linear(matching, matching, True))
    return block(
        flava=body,
        image_codebook=replace(families.tree(codebook), component="vision", repeats=0) if codebook else None,
        mim_head=images,
        mlm_head=words,
        itm_head=block("other", pooler=pair, seq_relationship=Linear(matching, 2, True)),
        mmm_image_head=images,
        mmm_text_head=words,
    )
