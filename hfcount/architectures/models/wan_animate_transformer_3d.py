"""Wan-Animate: Wan with a pose and a face, whose movement is read from its image and attended to (arXiv:2509.14055)."""

from math import log, prod

from hfcount.architectures.keys import dim
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.blocks import seen_image, step_and_text, video_block
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.architectures.layers.diffusion.transformers import patches, table
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("WanAnimateTransformer3DModel",)  # diffusers 0.42.1: transformer_wan_animate.py

_KERNEL, _MOTION_LAYERS, _SMALLEST = 3, 5, 4
_CHANNELS = {4: 512, 8: 512, 16: 512, 32: 512, 64: 256, 128: 128, 256: 64, 512: 32, 1024: 16}
"""The channels of what reads movement at each side of an image, unless motion_encoder_channel_sizes says them."""


class WanAnimate(Sizes):
    """Sizes specific to Wan-Animate; `adapted` is how many layers are followed by attention to the face.

    `channels` are those of what reads movement, by level.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    text_dim: int = size("d_t")
    freq_dim: int = size("d_s")
    ffn_dim: int = size("d_ff")
    num_layers: int = count("L")
    cross_attn_norm: bool = flag()
    motion_style_dim: int = size("d_y")
    motion_dim: int = size("d_m")
    motion_encoder_dim: int = size("d_e")
    face_encoder_hidden_dim: int = size("d_f")
    face_encoder_num_heads: int = size("h_f")
    image_dim: int | None = derived(lambda c: diffusion.nullable(c, "image_dim", "d_i"))
    added_kv_proj_dim: int | None = derived(lambda c: diffusion.nullable(c, "added_kv_proj_dim", "d_a"))
    pos_embed_seq_len: int | None = derived(lambda c: diffusion.nullable(c, "pos_embed_seq_len", "n_p"))
    patch_size: tuple[int, ...] = derived(lambda c: diffusion.patch_sides(c, "patch_size", 3))
    channels: tuple[int, ...] = derived(lambda c: _channels(c))
    in_channels: int
    latent_channels: int
    out_channels: int
    adapted: int


def spec(c: Config) -> Spec[WanAnimate]:
    latent, inputs = diffusion.nullable(c, "latent_channels", "z"), diffusion.nullable(c, "in_channels", "C")
    if latent is None and inputs is None:
        raise c.error("contradiction", "in_channels and latent_channels are null.", "in_channels", "Give one of them.")
    latent = (inputs or 0) - 4 if latent is None else 2 * latent
    if inputs is not None and inputs != latent + 4:
        text = f"in_channels is {int(inputs):,}, but must be 2 · latent_channels + 4, {int(latent) + 4:,}."
        raise c.error("contradiction", text, "in_channels", "Correct one of them.", observed=int(inputs))
    sizes = WanAnimate.read(
        c,
        in_channels=latent + 4,
        latent_channels=latent // 2,
        out_channels=diffusion.or_else(c, "out_channels", latent // 2, "C_o"),
        adapted=c.int("num_layers") // c.int("inject_face_latents_blocks", minimum=1),
    )
    diffusion.rotary_pairs(c, sizes.attention_head_dim)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _channels(c: Config) -> tuple[int, ...]:
    """The channels at the side of an image, and at each half of it down to the smallest."""
    side, key = int(c.int("motion_encoder_size", minimum=1)), "motion_encoder_channel_sizes"
    given = c.sub(key)
    sides = [side, *(2**power for power in range(int(log(side, 2)) - 1, 1, -1))]
    known = _CHANNELS if given is None else {side: given.int(str(side)) for side in sides}
    missing = [side for side in sides if side not in known]
    if missing:
        text = f"motion_encoder_size is {side:,}, and no number of channels is known for {missing[0]:,}."
        raise c.error("out-of-range", text, "motion_encoder_size", f"Give {key}.", observed=side)
    return tuple(dim(f"C{place}", known[side]) for place, side in enumerate(sides, 1))


def blueprint(s: Spec[WanAnimate]) -> Block:
    d, of, sides = s.hidden, s.own, s.own.patch_size
    image = None if of.image_dim is None else seen_image(of.image_dim, d, of.pos_embed_seq_len)
    norm, square = rms_norm(of.attention_head_dim), Linear(d, d, True)
    adapter = block("attention", to_q=square, to_k=square, to_v=square, to_out=square, norm_q=norm, norm_k=norm)
    layer = video_block(d, of.ffn_dim, of.cross_attn_norm, of.added_kv_proj_dim)
    return block(
        patch_embedding=patches(of.in_channels, d, *sides),
        pose_patch_embedding=patches(of.latent_channels, d, *sides),
        condition_embedder=step_and_text(of.freq_dim, of.text_dim, d, image),
        motion_encoder=_motion(of),
        face_encoder=_face(of, d),
        blocks=Repeat(Indices.below(of.num_layers), layer),
        face_adapter=Repeat(Indices.below(of.adapted), adapter),
        proj_out=Linear(d, of.out_channels * prod(sides), True),
        scale_shift_table=table(1, 2, d),
    )


def _motion(of: WanAnimate) -> Block:
    """What reads movement from the image of a face: levels that halve it, and layers that make it small."""
    style, motion = of.motion_style_dim, of.motion_dim
    levels = zip(of.channels, of.channels[1:], strict=False)
    last = _MOTION_LAYERS - 1
    return block(
        "vision",
        conv_in=_active(3, of.channels[0], 1),
        res_blocks=numbered(
            [
                block(
                    conv1=_active(inputs, inputs, 3),
                    conv2=_active(inputs, outputs, 3),
                    conv_skip=block(weight=Tensor((outputs, inputs, 1, 1))),
                )
                for inputs, outputs in levels
            ]
        ),
        conv_out=block(weight=Tensor((style, of.channels[-1], _SMALLEST, _SMALLEST))),
        motion_network=(
            Repeat(Indices.span(0, last), Linear(style, style, True)),
            Repeat(Indices.fixed(last), Linear(style, motion, True)),
        ),
        motion_synthesis_weight=Tensor((of.motion_encoder_dim, motion)),
    )


def _active(inputs: int, outputs: int, side: int) -> Block:
    """A convolution whose bias is that of the activation behind it."""
    return block(weight=Tensor((outputs, inputs, side, side)), act_fn=block(bias=Tensor((outputs,))))


def _face(of: WanAnimate, d: int) -> Block:
    """What makes tokens of the movement of a face, over frames."""
    inner = of.face_encoder_hidden_dim
    halving = conv(inner, inner, _KERNEL)
    return block(
        "vision",
        padding_tokens=Tensor((1, 1, 1, d)),
        conv1_local=conv(of.motion_encoder_dim, inner * of.face_encoder_num_heads, _KERNEL),
        conv2=halving,
        conv3=halving,
        out_proj=Linear(inner, d, True),
    )
