"""SAM, and HQ-SAM: segments what points, boxes or masks prompt it to (arXiv:2304.02643, arXiv:2306.01567)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.sam import frequencies
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tied, block

MODEL_TYPES = ("sam", "sam_hq")  # transformers 5.23: modeling_sam.py, modeling_sam_hq.py


class Sam(Sizes):
    num_pos_feats: int


def spec(c: Config) -> Spec[Sam]:
    vision, prompt = families.part(c, "vision_config"), families.part(c, "prompt_encoder_config")
    decoder = families.part(c, "mask_decoder_config")
    sizes = Sam.read(c, num_pos_feats=keys.dim("n_f", c.part("vision_config").int("num_pos_feats")))
    parts = {"vision": vision, "prompt": prompt, "mask": decoder}
    tied = c.bool("tie_word_embeddings", default=True)  # which says here whether frequencies are shared
    return keys.encoding(c, (), hidden=decoder.hidden, parts=parts).replace(tied=tied).having(sizes)


def blueprint(s: Spec[Sam]) -> Block:
    count = s.own.num_pos_feats
    prompts, position = families.tree(s.part("prompt")), frequencies(count, trained=True)
    shared = _shared_frequencies(count) if s.tied else position
    return block(
        shared_image_embedding=position,
        vision_encoder=families.tower(s, "vision"),
        prompt_encoder=Block({"shared_embedding": shared, **prompts.children}, "embedding"),
        mask_decoder=families.tree(s.part("mask")),
    )


def _shared_frequencies(count: int) -> Tied:
    """The image's frequencies under the prompt encoder's name."""
    return Tied("shared_image_embedding.positional_embedding", (2, count), "embedding", name="positional_embedding")
