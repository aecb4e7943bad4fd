"""BLIP-2 and InstructBLIP: a vision tower, a Q-Former, and any language model (arXiv:2301.12597, arXiv:2305.06500)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.models.blip_2_qformer import Blip2Qformer
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_blip_2.py, modeling_instructblip.py, modeling_instructblipvideo.py
MODEL_TYPES = ("blip-2", "instructblip", "instructblipvideo")
IGNORED = ("use_decoder_only_language_model",)

_HEADS = keys.named(("ForConditionalGeneration", "Model"))
# Classes without a language model.
_WITHOUT = keys.named(
    ForImageTextRetrieval="retrieval", VisionModelWithProjection="projection", TextModelWithProjection="encoder"
)


def _joint(c: Config) -> int | None:
    return keys.dim("d_t", c.int("image_text_hidden_size")) if c.family == "blip-2" else None


class Blip2(Sizes):
    """Sizes specific to BLIP-2; InstructBLIP does not compare images with texts."""

    num_query_tokens: int = size("n_q")
    image_text_hidden_size: int | None = derived(_joint)


def spec(c: Config) -> Spec[Blip2]:
    vision, text = families.part(c, "vision_config"), families.part(c, "text_config")
    former = keys.attending(families.part(c, "qformer_config"), vision.hidden)
    first = c.family == "blip-2"
    sizes = Blip2.read(c)
    parts, heads = {"vision": vision, "qformer": former}, {**_HEADS, **(_WITHOUT if first else {})}
    model = keys.composite(c, text, parts, heads=heads).replace(tied=text.tied).having(sizes)
    return model.replace(causal=False, uncounted="") if model.head in _WITHOUT.values() else model


def blueprint(s: Spec[Blip2]) -> Block:
    former, text = s.part("qformer"), s.part("text")
    d, sees = former.hidden, s.head != "encoder"
    parts = block(
        query_tokens=Tensor((1, s.own.num_query_tokens, d), component="projector"),
        vision_model=families.tower(s, "vision") if sees else None,
        qformer=Block(families.tree(former).children, "projector", repeats=0),
    ).children
    if s.head in _WITHOUT.values() and s.own.image_text_hidden_size is not None:
        out = Linear(d, s.own.image_text_hidden_size, True, "projector")
        words = block(
            word_embeddings=embedding(former.sizes(Blip2Qformer).vocab_size, d), position_embeddings=positions(former)
        )
        more = block(
            embeddings=None if s.head == "projection" else words,
            vision_projection=out if sees else None,
            text_projection=None if s.head == "projection" else out,
            itm_head=Linear(d, 2, True, "other") if s.head == "retrieval" else None,
        )
        return Block({**parts, **more.children})
    # BLIP-2's base model holds the language model with its head, too.
    headless = s.head == "base" and s.family != "blip-2"
    generating = text.replace(head="causal_lm" if "causal_lm" in text.heads else "conditional_generation")
    inner = families.base(s) if headless else families.tree(generating)
    into = Linear(d, s.hidden, True, "projector")
    return Block({**parts, "language_projection": into, "language_model": rebased(inner, "language_model")})
