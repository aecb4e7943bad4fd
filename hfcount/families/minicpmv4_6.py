"""MiniCPM-V 4.6 and 4.7 and MiniCPM-OCR: patches merged some times before any language model (MiniCPM-V 4.6)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Sizes, Spec, count
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_minicpmv4_6.py, modeling_minicpmv4_7.py, modeling_minicpm_ocr.py
MODEL_TYPES = ("minicpmv4_6", "minicpmv4_7", "minicpm_ocr")
IGNORED = ("image_size", "insert_layer_id", "merge_kernel_size", "patch_size", "drop_vision_last_layer")
_MERGED = 4  # patches


class Minicpmv46(Sizes):
    """What this architecture alone has."""

    merger_times: int = count(absent=1, minimum=0)


def spec(c: Config) -> Spec[Minicpmv46]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    tied = c.bool("tie_word_embeddings", default=c.family == "minicpm_ocr")
    own = Minicpmv46.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(own)


def blueprint(s: Spec[Minicpmv46]) -> Block:
    seen = s.parts["vision"].hidden
    wide, before = _MERGED * seen, max(s.own.merger_times - 1, 0)

    def merged(out: int) -> Block:
        return block(
            "projector",
            pre_norm=layer_norm(wide),
            linear_1=Linear(wide, wide, True),
            linear_2=Linear(wide, out, True),
        )

    few, last = Repeat(Indices.below(before), merged(seen)), Repeat(Indices.of((before,)), merged(s.hidden))
    merger = block(mlp=(few, last) if before else (last,))
    return towers_in_model(s, families.base(s), vision_tower=families.tower(s, "vision"), merger=merger)
