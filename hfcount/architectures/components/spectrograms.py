"""Networks that refine spectrograms."""

from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.stacks import chain
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Sizes, count
from hfcount.spec.tree.nodes import Block, Repeat, block


class Postnet(Sizes):
    """Convolutions that refine a spectrogram (arXiv:1712.05884)."""

    layers: int = count("N_q", "speech_decoder_postnet_layers")
    units: int = count("d_q", "speech_decoder_postnet_units")
    kernel: int = count("w_q", "speech_decoder_postnet_kernel")

    def tensors(self, bins: int) -> tuple[Repeat, ...]:
        """Its layers, for `bins` of a frame. Tensors: i.conv.weight (outputs, inputs, w_q), a batch norm each."""

        def layer(left: int, right: int) -> Block:
            return block(conv=conv(left, right, self.kernel, False), batch_norm=batch_norm(right))

        return chain(bins, self.units, bins, self.layers, layer)
