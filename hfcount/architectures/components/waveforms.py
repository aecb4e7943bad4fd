"""Encoders that read waveforms by convolutions, named as in wav2vec 2.0 (arXiv:2006.11477)."""

from collections.abc import Callable
from typing import NamedTuple, Self

from hfcount.architectures.keys import dim, divides
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


class Convolution(NamedTuple):
    """A convolution along time: its channels, and the width of its kernel."""

    width: int
    kernel: int


class Waveform(Record):
    """The feature encoder of a waveform: convolutions of C_i channels, a projection, and a convolution for positions.

    `each_normed` says whether a norm is behind each convolution or behind the first alone.
    """

    convolutions: tuple[Convolution, ...]
    conv_bias: bool
    masked: bool
    each_normed: bool
    feat_proj_layer_norm: bool
    num_conv_pos_embeddings: int
    num_conv_pos_embedding_groups: int

    @classmethod
    def read(cls, c: Config, each_normed: bool | None = None) -> Self:
        """Its sizes.

        Args:
            each_normed: what the class has, where it reads no feat_extract_norm.

        Raises:
            ConfigError: conv_dim and conv_kernel do not agree, the groups do not divide hidden_size, or the norm is
                of no known kind.
        """
        if each_normed is None:
            each_normed = c.choice("feat_extract_norm", ("group", "layer"), default="group") == "layer"
        widths, kernels = c.ints("conv_dim"), c.ints("conv_kernel")
        if not widths or len(widths) != len(kernels):
            text = f"conv_dim has {len(widths):,} entries and conv_kernel {len(kernels):,}."
            raise c.error("list-length", text, "conv_dim", "Correct one of them.")
        bias, masks = c.bool("conv_bias", default=False), masking(c)
        groups = c.int("num_conv_pos_embedding_groups")
        divides(c, "num_conv_pos_embedding_groups", groups, "hidden_size", c.int("hidden_size"))
        return cls(
            convolutions=tuple(
                Convolution(dim(f"C{number}", width), dim(f"w{number}", kernel))
                for number, (width, kernel) in enumerate(zip(widths, kernels, strict=True), 1)
            ),
            conv_bias=bias,
            masked=masks,
            each_normed=each_normed,
            feat_proj_layer_norm=c.bool("feat_proj_layer_norm", default=True),
            num_conv_pos_embeddings=dim("w_p", c.int("num_conv_pos_embeddings")),
            num_conv_pos_embedding_groups=dim("g", groups),
        )

    @property
    def width(self) -> int:
        """The channels of the last convolution."""
        return self.convolutions[-1].width

    def mask(self, d: int) -> Tensor | None:
        """The embedding of masked frames in training, (d); None if none are masked."""
        return Tensor((d,), component="embedding") if self.masked else None

    def filters(self) -> Block:
        """Convolutions. Tensors: conv_layers.i.conv (C_i, C_i-1, w_i), with a norm (C_i) behind the first or each."""
        children, before = dict[str, Block](), 1
        for number, convolution in enumerate(self.convolutions):
            norm = layer_norm(convolution.width) if self.each_normed or not number else None
            children[str(number)] = block(
                conv=conv(before, convolution.width, convolution.kernel, self.conv_bias), layer_norm=norm
            )
            before = convolution.width
        return block("embedding", conv_layers=Block(children))

    def places(self, d: int) -> Block:
        """A wide convolution in place of positions.

        Tensors: conv (d, d/groups, w_p) as direction and length, and bias.
        """
        kernel = self.num_conv_pos_embeddings
        direction = Tensor((d, d // self.num_conv_pos_embedding_groups, kernel))
        parted = block(original0=Tensor((1, 1, kernel)), original1=direction)
        return block("embedding", conv=block(bias=Tensor((d,)), parametrizations=block(weight=parted)))

    def tensors(self, s: Spec, layer: Callable[[Layer], Block]) -> Block:
        """The model `s` without a head.

        Tensors: `filters` under feature_extractor, feature_projection.layer_norm (C_n) and projection (d, C_n),
        `places` under encoder.pos_conv_embed, encoder.layer_norm (d), encoder.layers, and masked_spec_embed (d).
        """
        d, before = s.hidden, self.width
        normed = layer_norm(before) if self.feat_proj_layer_norm else None
        return block(
            masked_spec_embed=self.mask(d),
            feature_extractor=self.filters(),
            feature_projection=block("embedding", layer_norm=normed, projection=Linear(before, d, True)),
            encoder=block(pos_conv_embed=self.places(d), layer_norm=layer_norm(d), layers=stack(s.layers, layer)),
        )


def masking(c: Config) -> bool:
    """Whether frames or features are masked in training."""
    usual = (("time", 0.05), ("feature", 0))
    shares = [c.number(f"mask_{what}_prob", default=share, below=True) for what, share in usual]
    return (
        any(share > 0 for share in shares) or c.family == "unispeech-sat"
    )  # whose class has what stands for them in any case


def waveform_layer(d: int, layer: Layer, narrow: int | None = None) -> Block:
    """A layer of the encoder.

    Tensors: attention, layer_norm (d), feed_forward.intermediate_dense (d_ff, d) and output_dense (d, d_ff),
    final_layer_norm (d); with `narrow` adapter_layer, with norm (d), linear_1 (narrow, d), linear_2 (d, narrow).
    """
    width = layer.dense.width
    wide, back = Linear(d, width, True), Linear(width, d, True)
    adapter = None
    if narrow is not None:
        into, out = Linear(d, narrow, True), Linear(narrow, d, True)
        adapter = block("other", norm=layer_norm(d), linear_1=into, linear_2=out)
    return block(
        attention=mha(d, layer.attention),
        layer_norm=layer_norm(d),
        feed_forward=block("mlp", intermediate_dense=wide, output_dense=back),
        final_layer_norm=layer_norm(d),
        adapter_layer=adapter,
    )
