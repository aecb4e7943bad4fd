"""Convolutions around a language model that draws by flows: a shallow U-ViT, as in JanusFlow (arXiv:2411.07975)."""

from itertools import pairwise

from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

IGNORED = ("dropout", "elementwise_affine", "padding", "stride")
"""Keys of both halves that bear on no shape."""

SEEING, ENTERING, LEAVING = "vision_und_enc_config", "vision_gen_enc_config", "vision_gen_dec_config"
"""The keys of the vision tower, and of the encoder and decoder around the language model that draw an image."""

# What JanusFlow has between these parts, whatever the config says: what its tower, Llama and the convolutions give.
_SEEN, _HIDDEN, _DRAWN = 1024, 2048, 768

_SIDE, _WIDER, _HALVED = 7, 4, 2  # a block's kernel and its network, and by what an image grows in a step
_WIDTH = 768  # where no list of widths is given


class Middle(Sizes):
    """Blocks like ConvNeXt's, which the embedding of a step, `hidden_size` wide, shifts and scales."""

    use_mid_block: bool = flag(absent=True)
    layers_in_middle: int = count("n_mid", absent=2)
    hidden_size: int = size("d_t", absent=2048)
    use_bias: bool = flag(absent=True)

    def tensors(self, d: int) -> Block | None:
        """res_blocks: depthwise, norm, two layers with a norm between them, and cond_embeds_mapper (2·d, d_t)."""
        if not self.use_mid_block:
            return None
        bias, wide = self.use_bias, _WIDER * d
        spread = Tensor((1, 1, 1, wide))
        resblock = block(
            depthwise=block(weight=Tensor((d, 1, _SIDE, _SIDE)), bias=Tensor((d,)) if bias else None),
            norm=rms_norm(d),
            channelwise_linear_1=Linear(d, wide, bias),
            channelwise_norm=block("norm", weight=spread, bias=spread),
            channelwise_linear_2=Linear(wide, d, bias),
            cond_embeds_mapper=Linear(self.hidden_size, 2 * d, bias),
        )
        return block(res_blocks=Repeat(Indices.below(self.layers_in_middle), resblock))


class Encoder(Middle):
    """The encoder of a noisy image into states: `first` and `last` are the ends of the list of widths."""

    first: int
    last: int
    input_channels: int = size("C_in", absent=3)
    kernel_size: int = size("k", absent=7)

    def whole(self) -> Block:
        """time_embed with linear_1 (d_t, d) and linear_2 (d_t, d_t), in_conv (d, C_in, k, k), and mid_block."""
        bias, deep = self.use_bias, self.hidden_size
        time = block(linear_1=Linear(self.first, deep, bias), linear_2=Linear(deep, deep, bias))
        entry = convolution(self.input_channels, self.first, self.kernel_size)
        return block("vision", time_embed=time, in_conv=entry, mid_block=self.tensors(self.last))


class Decoder(Middle):
    """The decoder of states, and of the encoder's, which are `width` wide, into an image."""

    width: int
    in_channels: int = size("d_in", absent=_WIDTH)
    out_channels: int = size("C_out", absent=3)
    upsamples: int = count("n_up", absent=2)

    def whole(self) -> Block:
        """mid_block, out_convs.N with norm and unpatch_conv, each of which doubles the sides, and input_norm."""
        both = self.in_channels + self.width
        ends = pairwise((both, *[self.width] * (int(self.upsamples) - 1), self.out_channels))
        steps = [
            block(norm=rms_norm(inputs), unpatch_conv=convolution(inputs, out * _HALVED**2, 1, self.use_bias))
            for inputs, out in ends
        ]
        return block(
            "vision",
            mid_block=self.tensors(both),
            out_convs=numbered(steps if self.upsamples else ()),
            input_norm=rms_norm(self.in_channels),
        )


def encoder(c: Config) -> Encoder:
    """The encoder of these params."""
    widths = c.ints("block_out_channels", default=(_WIDTH,), least=1)
    return Encoder.read(c, first=widths[0], last=widths[-1])


def decoder(c: Config) -> Decoder:
    """The decoder of these params."""
    return Decoder.read(c, width=c.ints("block_out_channels", default=(_WIDTH,), least=1)[-1])


class Flows(Sizes):
    """The vision tower, encoder and decoder around JanusFlow's language model."""

    encoder: Encoder
    decoder: Decoder

    def compare(self, c: Config, text: Spec, encoder: Spec) -> None:
        """Notes each part whose width is not that of the projection beside it, which the config does not say."""
        given = {
            "language_config": (_HIDDEN, text.hidden),
            SEEING: (_SEEN, encoder.output),
            ENTERING: (_DRAWN, self.encoder.last),
            LEAVING: (_DRAWN, self.decoder.in_channels),
        }
        for key, (needed, width) in given.items():
            if needed != width:
                message = (
                    f"the part of {key} is {width:,} wide, and the projection beside it takes or gives {needed:,}."
                )
                c.cannot_run("contradiction", message, key, "Correct it.")

    def tensors(self, encoder: Node) -> dict[str, Node]:
        """The tower and both halves, each a model and its aligner, beg_of_und_embed (1, d), and a norm behind Llama."""
        beside: dict[str, Node] = {
            "vision_und_enc_aligner": Linear(_SEEN, _HIDDEN, True),
            "beg_of_und_embed": Tensor((1, _HIDDEN)),
            "vision_gen_enc_aligner": Linear(_DRAWN, _HIDDEN, True),
            "vision_gen_dec_aligner_norm": rms_norm(_HIDDEN),
            "vision_gen_dec_aligner": Linear(_HIDDEN, _DRAWN, True),
        }
        return {
            "vision_und_enc_model": encoder,
            "vision_gen_enc_model": as_tower(self.encoder.whole(), "vision"),
            "vision_gen_dec_model": as_tower(self.decoder.whole(), "vision"),
            **{name: as_tower(part, "projector") for name, part in beside.items()},
        }
