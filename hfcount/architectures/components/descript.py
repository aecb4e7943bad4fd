"""DAC as its own library names it: a waveform as codes of residual codebooks, and back (arXiv:2306.06546)."""

from collections.abc import Sequence

from hfcount.architectures.components.codecs import snake
from hfcount.architectures.keys import dim
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.temporal import normalised
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

# dac/model/dac.py and dac/nn/quantize.py of descriptinc/descript-audio-codec 1.0.0, whose defaults these are
_WIDTH, _WIDEST, _CODES = 64, 1536, 8
_RATES = (2, 4, 8, 8)
_UNIT, _END = 7, 3  # kernels


class Descript(Sizes):
    """The sizes of its codebooks; those of the networks around them are the library's."""

    latent_dim: int = size("d_z", absent=1024)
    codebook_size: int = size("|V|", absent=1024)
    num_codebooks: int = count("n_q", absent=9)

    def tensors(self) -> Block:
        """encoder, quantizer.quantizers and decoder."""
        d, narrow = self.latent_dim, dim("d_q", _CODES)
        book = block(
            in_proj=normalised(d, narrow, 1),
            out_proj=normalised(narrow, d, 1),
            codebook=embedding(self.codebook_size, narrow),
        )
        books = block("embedding", quantizers=Repeat(Indices.below(self.num_codebooks), book))
        return block(encoder=_encoder(d), quantizer=books, decoder=_decoder(d))

    @staticmethod
    def names(c: Config) -> bool:
        """Whether the config has the keys of this library, and not those of transformers' own DAC."""
        return c.given("latent_dim") and not c.given("encoder_hidden_size")


def _numbered(layers: Sequence[Node | None]) -> Block:
    """Layers by their place; None is one without tensors."""
    return Block({str(place): layer for place, layer in enumerate(layers) if layer})


def _unit(width: int) -> Block:
    layers = snake(width), normalised(width, width, _UNIT), snake(width), normalised(width, width, 1)
    return block(block=_numbered(layers))


def _encoder(out: int) -> Block:
    width, layers = _WIDTH, [normalised(1, _WIDTH, _UNIT)]
    for rate in _RATES:
        coarser = normalised(width, 2 * width, 2 * rate)
        layers.append(block(block=_numbered([*[_unit(width)] * 3, snake(width), coarser])))
        width = 2 * width
    return block("convolution", block=_numbered([*layers, snake(width), normalised(width, out, _END)]))


def _decoder(inputs: int) -> Block:
    width, layers = _WIDEST, [normalised(inputs, _WIDEST, _UNIT)]
    for rate in reversed(_RATES):
        finer = normalised(width, width // 2, 2 * rate, transposed=True)
        layers.append(block(block=_numbered([snake(width), finer, *[_unit(width // 2)] * 3])))
        width = width // 2
    return block("convolution", model=_numbered([*layers, snake(width), normalised(width, 1, _UNIT)]))
