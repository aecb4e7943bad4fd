"""The autoencoder of CogVideoX, whose decoder scales and shifts its norms by the codes (arXiv:2408.06072)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.video import causal, conv3d, level
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLCogVideoX",)  # diffusers 0.42.1: autoencoder_kl_cogvideox.py


class CogVideoXVae(Sizes):
    """Sizes specific to this architecture; `down` and `up` are how many levels the encoder and the decoder have."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r")
    use_quant_conv: bool = flag()
    use_post_quant_conv: bool = flag()
    widths: tuple[int, ...]
    down: int
    up: int


def spec(c: Config) -> Spec[CogVideoXVae]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    down, up = (
        diffusion.stage_kinds(c, f"{way}_block_types", {f"CogVideoX{way.title()}Block3D": True}, len(widths))
        for way in ("down", "up")
    )
    sizes = CogVideoXVae.read(c, widths=widths, down=len(down), up=len(up))
    return diffusion.diffusing(c, sizes, widths[-1])


def blueprint(s: Spec[CogVideoXVae]) -> Block:
    of, first, deepest, codes = s.own, s.own.widths[0], s.own.widths[-1], s.own.latent_channels
    encoder = block(
        conv_in=causal(of.in_channels, first),
        down_blocks=Block(_levels(of.widths, of.down, of.layers_per_block, None)),
        mid_block=_middle(deepest, None),
        norm_out=layer_norm(deepest),
        conv_out=causal(deepest, 2 * codes),
    )
    decoder = block(
        conv_in=causal(codes, deepest),
        mid_block=_middle(deepest, codes),
        up_blocks=Block(_levels(of.widths[::-1], of.up, of.layers_per_block + 1, codes)),
        norm_out=_norm(first, codes),
        conv_out=causal(first, of.out_channels),
    )
    out, double = of.out_channels, 2 * of.out_channels  # not those of the codes, which they are for
    return block(
        encoder=encoder,
        decoder=decoder,
        quant_conv=conv3d(double, double, 1) if of.use_quant_conv else None,
        post_quant_conv=conv3d(out, out, 1) if of.use_post_quant_conv else None,
    )


def _levels(widths: tuple[int, ...], count: int, blocks: int, codes: int | None) -> dict[str, Node]:
    """The levels of the encoder or, by the codes, of the decoder; all but the last change the sides of a frame."""
    children, before = dict[str, Node](), widths[0]
    for place, width in enumerate(widths[:count]):
        resized = Block({"0": block(conv=conv(width, width, 3, bias=True))}) if place < len(widths) - 1 else None
        sides = {"downsamplers" if codes is None else "upsamplers": resized}
        resnets = level(blocks, before, width, lambda inputs, outputs: _residual(inputs, outputs, codes))
        children[str(place)] = block(resnets=resnets, **sides)
        before = width
    return children


def _middle(width: int, codes: int | None) -> Block:
    return block(resnets=Repeat(Indices.fixed(0, 1), _residual(width, width, codes)))


def _residual(inputs: int, outputs: int, codes: int | None) -> Block:
    return block(
        norm1=_norm(inputs, codes),
        norm2=_norm(outputs, codes),
        conv1=causal(inputs, outputs),
        conv2=causal(outputs, outputs),
        conv_shortcut=None if inputs == outputs else conv3d(inputs, outputs, 1),
    )


def _norm(width: int, codes: int | None) -> Block:
    """A norm; in the decoder one whose scale and shift are made of the codes."""
    if codes is None:
        return layer_norm(width)
    made = causal(codes, width, 1)
    return block("norm", norm_layer=layer_norm(width), conv_y=made, conv_b=made)
