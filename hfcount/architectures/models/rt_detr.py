"""RT-DETR, versions 1 and 2: a hybrid encoder and a decoder that refines boxes (arXiv:2304.08069, arXiv:2407.17140)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import UNSHAPED, second_names
from hfcount.architectures.components.rt_detr import Hybrid, denoising, hybrid, predictions, refining
from hfcount.architectures.layers.conversions import HYBRID
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, block, buffer

MODEL_TYPES = ("rt_detr", "rt_detr_v2")  # transformers 5.23: modeling_rt_detr.py, modeling_rt_detr_v2.py
IGNORED = (*UNSHAPED, "feat_strides", "decoder_offset_scale")
SPELLINGS = HYBRID

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class RtDetr(Record):
    """Sizes specific to RT-DETR; the second version samples so many levels."""

    hybrid: Hybrid
    learned: bool
    denoised: bool
    decoder_n_levels: int | None


def spec(c: Config) -> Spec[RtDetr]:
    learned, noisy = c.bool("learn_initial_query", default=False), denoising(c)
    levels = keys.dim("n_v", c.int("decoder_n_levels")) if c.family == "rt_detr_v2" else None
    model = hybrid(c, _HEADS, families.backbone(c))
    if levels is not None:  # version 2 ties its predictions
        model = model.replace(tied=c.bool("tie_word_embeddings", default=True))
    return model.having(RtDetr(hybrid=model.own, learned=learned, denoised=noisy, decoder_n_levels=levels))


def blueprint(s: Spec[RtDetr]) -> Block:
    d, sizes, labels, levels = s.hidden, s.own, s.labels, s.own.decoder_n_levels
    points = sizes.hybrid.points if levels is None else levels * sizes.hybrid.decoder_n_points
    scale = block(n_points_scale=None if levels is None else buffer(points))
    decoder = refining(s, points, s.head != "base", beside=scale)
    tower, labelled = families.tree(s.part("backbone")), labels + 1 if sizes.denoised else None
    body = sizes.hybrid.tensors(s, tower, decoder, labelled=labelled, learned=sizes.learned)
    if s.head == "base":
        return body
    if levels is None:
        return block(model=body)
    return block(model=body, **(second_names(s.depth, labels, d, d, d, 4) if s.tied else predictions(s)))
