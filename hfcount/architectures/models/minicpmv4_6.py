"""MiniCPM-V 4.6 and 4.7 and MiniCPM-OCR: patches merged some times before any language model (MiniCPM-V 4.6)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import clip_layer, patch_convolution, square_attention
from hfcount.mapper import Config, Sizes, count
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_minicpmv4_6.py, modeling_minicpmv4_7.py, modeling_minicpm_ocr.py
MODEL_TYPES = ("minicpmv4_6", "minicpmv4_7", "minicpm_ocr")
IGNORED = ("image_size", "insert_layer_id", "merge_kernel_size", "patch_size", "drop_vision_last_layer")

_MERGED = 4  # patches


class Minicpmv46(Sizes):
    merger_times: int = count(absent=1, minimum=0)


def spec(c: Config) -> Spec[Minicpmv46]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    tied = c.bool("tie_word_embeddings", default=c.family == "minicpm_ocr")
    sizes = Minicpmv46.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[Minicpmv46]) -> Block:
    vision_width = s.part("vision").hidden
    wide, before = _MERGED * vision_width, max(s.own.merger_times - 1, 0)

    def merged(out: int) -> Block:
        return block(
            "projector",
            pre_norm=layer_norm(wide),
            linear_1=Linear(wide, wide, True),
            linear_2=Linear(wide, out, True),
        )

    few, last = Repeat(Indices.below(before), merged(vision_width)), Repeat(Indices.of((before,)), merged(s.hidden))
    merger = block(mlp=(few, last) if before else (last,))
    return towers_in_model(s, families.base(s), vision_tower=families.tower(s, "vision"), merger=merger)


class Minicpmv46Vision(Sizes):
    window_kernel_size: int


def vision_spec(c: Config) -> Spec[Minicpmv46Vision]:
    """MiniCPM-V 4.6's vision tower: SigLIP's layers, and windows of patches merged between two of them (MiniCPM-V
    4.6).
    """
    sides = c.ints("window_kernel_size")
    if len(sides) < 2:
        raise c.error("list-length", "window_kernel_size must have 2 entries, height and width.", "window_kernel_size")
    window = keys.dim("m_h", sides[0]) * keys.dim("m_w", sides[1])
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c)).having(
        Minicpmv46Vision.read(c, window_kernel_size=window)
    )


def vision_blueprint(s: Spec[Minicpmv46Vision]) -> Block:
    d, window, norm = s.hidden, s.own.window_kernel_size, layer_norm(s.hidden)
    wide, width = window * d, window * s.layers[0].layer.dense.width
    merger = block(
        "projector",
        self_attn=square_attention(d, out="out_proj"),
        layer_norm1=norm,
        pre_norm=layer_norm(wide),
        linear_1=Linear(wide, width, True),
        linear_2=Linear(width, d, True),
    )
    return block(
        embeddings=block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
        encoder=block(layers=stack(s.layers, lambda layer: clip_layer(d, layer))),
        post_layernorm=norm,
        vit_merger=merger,
    )


PARTS = (
    families.Family(
        ("minicpmv4_6_vision", "minicpmv4_7_vision", "minicpm_ocr_vision"),
        vision_spec,
        vision_blueprint,
        ignored=("insert_layer_id",),
    ),
)
