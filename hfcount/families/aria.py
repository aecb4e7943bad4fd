"""Aria: a tower of patches, queries that attend to them, a language model with experts (arXiv:2410.05993)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("aria",)  # transformers 5.23: modeling_aria.py
SPELLINGS = LLAVA


class Aria(Sizes):
    """What this architecture alone has."""

    queries: int


def spec(c: Config) -> Spec[Aria]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    queries = c.object("projector_patch_to_query_dict") or {"1225": 128, "4900": 256}
    counts = [count for count in queries.values() if type(count) is int and count > 0]
    if not counts:
        raise c.error("projector_patch_to_query_dict names no number of queries.", "projector_patch_to_query_dict")
    own = Aria.read(c, queries=keys.dim("n_q", max(counts)))
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).having(own)


def blueprint(s: Spec[Aria]) -> Block:
    d, seen = s.hidden, s.parts["vision"].hidden
    square, norm = Linear(seen, seen), layer_norm(seen)
    out = Linear(seen, seen, True)
    attention = block(in_proj_weight=Tensor((3 * seen, seen)), in_proj_bias=Tensor((3 * seen,)), out_proj=out)
    crossed = block(
        q_proj=square,
        k_proj=square,
        v_proj=square,
        multihead_attn=attention,
        linear=out,
        layer_norm=norm,
        layer_norm_kv=norm,
    )
    projector = block(
        "projector",
        query=Tensor((s.own.queries, seen)),
        cross_attn=crossed,
        layer_norm=norm,
        feed_forward=block(linear_in=Linear(seen, d), linear_out=Linear(d, d)),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
