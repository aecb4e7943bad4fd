"""RT-DETR, versions 1 and 2: a hybrid encoder and a decoder that refines boxes (arXiv:2304.08069, arXiv:2407.17140)."""

from hfcount import families, keys
from hfcount.keys.detection import UNSHAPED, hybrid
from hfcount.mapper import Config
from hfcount.parts.conversions import HYBRID
from hfcount.parts.detection import second_names
from hfcount.parts.hybrid import predictions, querying, refining
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block, buffer

MODEL_TYPES = ("rt_detr", "rt_detr_v2")  # transformers 5.23: modeling_rt_detr.py, modeling_rt_detr_v2.py
IGNORED = (*UNSHAPED, "feat_strides", "decoder_offset_scale")
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


def spec(c: Config) -> Spec:
    traits: dict[str, int] = {
        "learned": c.bool("learn_initial_query", default=False),
        "denoised": c.int("num_denoising", minimum=0) > 0,
    }
    if c.family == "rt_detr_v2":
        traits["decoder_n_levels"] = keys.sized("n_v", c.int("decoder_n_levels"))
    whole = hybrid(c, _HEADS, families.backbone(c), traits=traits)
    if c.family == "rt_detr":
        return whole
    return whole.but(tied=c.bool("tie_word_embeddings", default=True))  # version 2 ties its predictions


def blueprint(s: Spec) -> Block:
    d, of, labels, second = s.hidden, s.traits, s.labels, s.family == "rt_detr_v2"
    scale = block(n_points_scale=buffer(of["decoder_n_levels"] * of["decoder_n_points"]) if second else None)
    decoder = refining(s, s.head != "base", beside=scale)
    denoised = labels + 1 if of["denoised"] else None
    body = querying(s, families.tree(s.parts["backbone"]), decoder, denoised)
    if s.head == "base":
        return body
    if not second:
        return block(model=body)
    return block(model=body, **(second_names(s.depth, labels, d, d, d, 4) if s.tied else predictions(s)))
