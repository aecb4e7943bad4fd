"""LFM2-VL: LFM2 with SigLIP 2's tower, whose patches are merged and projected (arXiv:2511.23404)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import joined
from hfcount.parts.conversions import CLIP
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lfm2_vl",)  # transformers 5.23: modeling_lfm2_vl.py
SPELLINGS = CLIP


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    traits = {
        "downsample_factor": keys.sized("m", c.int("downsample_factor", default=2)),
        "projector_hidden_size": keys.sized("d_p", c.int("projector_hidden_size", default=2560)),
        "projector_bias": c.bool("projector_bias", default=True),
        "projector_use_layernorm": c.bool("projector_use_layernorm", default=True),
    }
    tied = c.bool("tie_embedding", "tie_word_embeddings", default=True)
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, towers, heads=heads, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    merge, wide, bias = (
        s.traits["downsample_factor"],
        s.traits["projector_hidden_size"],
        bool(s.traits["projector_bias"]),
    )
    merged = merge * merge * s.parts["vision"].hidden
    projector = block(
        "projector",
        layer_norm=layer_norm(merged) if s.traits["projector_use_layernorm"] else None,
        linear_1=Linear(merged, wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = families.tower(s, "vision")
    return joined(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
