"""Qwen-Image: a transformer that denoises images and the tokens of a text side by side (arXiv:2508.02324).

Its ControlNet has the same layers, each with one behind it that steers.
"""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS, joint_attention, modulated
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# diffusers 0.42.1: transformer_qwenimage.py, controlnet_qwenimage.py
MODEL_TYPES = ("QwenImageTransformer2DModel", "QwenImageControlNetModel")


class QwenImage(Sizes):
    """Sizes of these architectures; `hint` are the channels of what a ControlNet sees, None for the model itself."""

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    joint_attention_dim: int = size("d_t")
    patch_size: int = size("p")
    num_layers: int = count("L")
    out_channels: int
    conditioned: bool
    hint: int | None


def spec(c: Config) -> Spec[QwenImage]:
    control = c.family == "QwenImageControlNetModel"
    sizes = QwenImage.read(
        c,
        out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"),
        conditioned=not control and c.bool("use_additional_t_cond"),
        hint=c.int("in_channels") + _further(c) if control else None,
    )
    diffusion.rotary_axes(c, "axes_dims_rope", 3)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _further(c: Config) -> int:
    """The channels that a ControlNet sees beside those of the image."""
    return keys.dim("C_h", c.int("extra_condition_channels", minimum=0))


def blueprint(s: Spec[QwenImage]) -> Block:
    d, of = s.hidden, s.own
    network = feed_forward(d, 4 * d)
    modulation = Block({"1": Linear(d, 6 * d, True)}, "norm")
    layer = block(
        img_mod=modulation,
        attn=joint_attention(d, rms_norm(of.attention_head_dim)),
        img_mlp=network,
        txt_mod=modulation,
        txt_mlp=network,
    )
    conditions = block(weight=Tensor((2, d))) if of.conditioned else None
    step = block("embedding", timestep_embedder=time_embedding(STEP_CHANNELS, d), addition_t_embedding=conditions)
    each, hint = Indices.below(of.num_layers), of.hint
    ends: dict[str, Node] = {
        "norm_out": modulated(d, 2 * d),
        "proj_out": Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
    }
    if hint is not None:
        ends = {
            "controlnet_blocks": Repeat(each, Linear(d, d, True, "projector")),
            "controlnet_x_embedder": Linear(hint, d, True, "embedding"),
        }
    return block(
        time_text_embed=step,
        txt_norm=rms_norm(of.joint_attention_dim),
        img_in=Linear(of.in_channels, d, True, "embedding"),
        txt_in=Linear(of.joint_attention_dim, d, True, "embedding"),
        transformer_blocks=Repeat(each, layer),
        **ends,
    )
