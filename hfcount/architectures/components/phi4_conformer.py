"""The audio tower of Phi-4-multimodal, a conformer (arXiv:2503.01743, arXiv:2005.08100)."""

from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.ffn import fused_swiglu
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.architectures.layers.temporal import conv
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, buffer


def shortened(c: Config, reduction: int, bands: int) -> tuple[int, int]:
    """How often convolutions halve a spectrogram for a time_reduction, and how many of its `bands` are left.

    Raises:
        ConfigError: the reduction is odd.
    """
    if reduction % 2:
        raise c.error(
            "not-divisible",
            f"time_reduction is {reduction:,}, but must be even.",
            "time_reduction",
            observed=int(reduction),
        )
    steps, left = int(reduction).bit_length() - 1, bands
    for _ in range(steps):  # each convolution halves the bands, rounded up
        left = (left + 1) // 2
    return steps, left


class Phi4Conformer(Record):
    """A conformer with a learned bias for each distance.

    Its convolutions halve the `input_size` of a spectrogram to `bands` in so many `steps`; within a layer, that of each
    channel has `deep` outputs, which become `separable` ones.
    """

    input_size: int
    bands: int
    steps: int
    nemo_conv_channels: int
    buckets: int
    kernel_size: int
    ext_pw_out_channel: int
    separable: int
    deep: int

    def tensors(self, s: Spec, released: bool = False) -> Block:
        """The tensors of the tower `s`; with `released` the names are those of its release, such as linear_q.

        encoder_embedding.global_mean and global_invstd (b), embed.conv and out (d, C·b_o), encoders, and
        relative_attention_bias_layer.bias_values (n_d or 2·n_d, h).
        """
        d, channels = s.hidden, self.nemo_conv_channels
        convolutions: dict[str, Node] = {"0": convolution(1, channels, 3)}
        for step in range(1, self.steps):  # an activation stands between them
            convolutions[str(3 * step - 1)] = convolution(1, channels, 3)
            convolutions[str(3 * step)] = convolution(channels, channels, 1)
        embed = block("embedding", conv=Block(convolutions), out=Linear(channels * self.bands, d, True))
        scale = buffer(self.input_size)
        heads = s.layers[0].layer.attention.heads
        return block(
            encoder_embedding=block("norm", global_mean=scale, global_invstd=scale),
            embed=embed,
            relative_attention_bias_layer=block(bias_values=embedding(self.buckets, heads)),
            encoders=stack(s.layers, lambda layer: self._layer(d, layer, released)),
        )

    def _layer(self, d: int, layer: Layer, released: bool) -> Block:
        wide, width, norm = self.ext_pw_out_channel, layer.dense.width, layer_norm(d)
        switch, inner = Tensor((1, wide, 1)), fused_swiglu(d, width, True).children
        if released:
            inner = {"net": Block({"0": block(linear=Linear(d, 2 * width, True)), "2": Linear(width, d, True)})}
        network = Block({"layer_norm": norm, **inner}, "mlp")
        mixed = block(
            layer_norm=norm,
            glu=block(b1=switch, b2=switch, ext_pw_conv_1d=conv(d, 2 * wide, 1)),
            dw_sep_conv_1d=block(
                dw_conv=conv(1, self.deep, self.kernel_size), pw_conv=conv(self.deep, self.separable, 1)
            ),
            ext_pw_conv_1d=conv(d, wide, 1),
        )
        attention = mha(d, layer.attention, "o_proj")
        if released:
            names = dict(zip(attention.children, ("linear_q", "linear_k", "linear_v", "linear_out"), strict=True))
            attention = Block({names[old]: child for old, child in attention.children.items()}, "attention")
        networks = {"feed_forward_in": network, "feed_forward_out": network}
        return block(self_attn=attention, conv=mixed, **networks, layer_norm_att=norm, layer_norm=norm)
