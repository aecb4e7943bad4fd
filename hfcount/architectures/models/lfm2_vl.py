"""LFM2-VL: LFM2 with SigLIP 2's tower, whose patches are merged and projected (arXiv:2511.23404)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.conversions import CLIP
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# The second is what 4.57 saves.
MODEL_TYPES = ("lfm2_vl", "lfm2-vl")  # transformers 5.23: modeling_lfm2_vl.py
SPELLINGS = CLIP


class Lfm2Vl(Sizes):
    downsample_factor: int = size("m", absent=2)
    projector_hidden_size: int = size("d_p", absent=2560)
    projector_bias: bool = flag(absent=True)
    projector_use_layernorm: bool = flag(absent=True)


def spec(c: Config) -> Spec[Lfm2Vl]:
    c.kind = "lfm2_vl"  # whose class says what absent keys mean
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    sizes = Lfm2Vl.read(c)
    tied = c.bool("tie_embedding", "tie_word_embeddings", default=True)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[Lfm2Vl]) -> Block:
    merge, wide, bias = (
        s.own.downsample_factor,
        s.own.projector_hidden_size,
        s.own.projector_bias,
    )
    merged = merge * merge * s.part("vision").hidden
    projector = block(
        "projector",
        layer_norm=layer_norm(merged) if s.own.projector_use_layernorm else None,
        linear_1=Linear(merged, wide, bias),
        linear_2=Linear(wide, s.hidden, bias),
    )
    tower = families.tower(s, "vision")
    return towers_in_model(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
