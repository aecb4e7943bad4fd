"""MiniCPM-V 4.6's vision tower: SigLIP's layers, and windows of patches merged between two of them (MiniCPM-V 4.6)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import clip_layer, patch_convolution, square_attention
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_minicpmv4_6.py, modeling_minicpmv4_7.py, modeling_minicpm_ocr.py
MODEL_TYPES = ("minicpmv4_6_vision", "minicpmv4_7_vision", "minicpm_ocr_vision")
IGNORED = ("insert_layer_id",)


class Minicpmv46Vision(Sizes):
    """What this architecture alone has."""

    window_kernel_size: int


def spec(c: Config) -> Spec[Minicpmv46Vision]:
    sides = c.ints("window_kernel_size")
    if len(sides) < 2:
        raise c.error("window_kernel_size must have 2 entries, height and width.", "window_kernel_size")
    window = keys.dim("m_h", sides[0]) * keys.dim("m_w", sides[1])
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c)).having(
        Minicpmv46Vision.read(c, window_kernel_size=window)
    )


def blueprint(s: Spec[Minicpmv46Vision]) -> Block:
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
        encoder=block(layers=stack(s.layers, lambda one: clip_layer(d, one))),
        post_layernorm=norm,
        vit_merger=merger,
    )
