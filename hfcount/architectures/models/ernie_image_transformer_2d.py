"""ERNIE-Image: a transformer that denoises an image and a text as one sequence, all layers modulated alike."""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulated, normed_attention, patches
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("ErnieImageTransformer2DModel",)  # diffusers 0.42.1: transformer_ernie_image.py


class ErnieImage(Sizes):
    hidden_size: int = size("d")
    num_attention_heads: int = size("h", minimum=1)
    num_layers: int = count("L")
    ffn_hidden_size: int = size("d_ff")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    patch_size: int = size("p", minimum=1)
    text_in_dim: int = size("d_t")
    qk_layernorm: bool = flag()


def spec(c: Config) -> Spec[ErnieImage]:
    sizes = ErnieImage.read(c)
    if sizes.num_layers and not sizes.qk_layernorm:
        text = "qk_layernorm is false, which diffusers builds no layer with."
        raise c.error("out-of-range", text, "qk_layernorm", "Write true.", observed=False)
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[ErnieImage]) -> Block:
    d, of = s.hidden, s.own
    head, width = d // of.num_attention_heads, of.ffn_hidden_size
    wide = of.num_attention_heads * head
    out = Block({"0": Linear(wide, d)})
    layer = block(
        adaLN_sa_ln=rms_norm(d),
        self_attention=normed_attention(d, wide, None, False, rms_norm(head), to_out=out),
        adaLN_mlp_ln=rms_norm(d),
        mlp=block("mlp", gate_proj=Linear(d, width), up_proj=Linear(d, width), linear_fc2=Linear(width, d)),
    )
    return block(
        x_embedder=block(proj=patches(of.in_channels, d, of.patch_size, of.patch_size)),
        text_proj=Linear(of.text_in_dim, d, component="embedding") if of.text_in_dim != d else None,
        time_embedding=time_embedding(d, d),
        adaLN_modulation=Block({"1": Linear(d, 6 * d, True)}, "norm"),
        layers=Repeat(Indices.below(of.num_layers), layer),
        final_norm=modulated(d, 2 * d),
        final_linear=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
    )
