"""DAC: a waveform as codes of residual codebooks, and back, with periodic activations (arXiv:2306.06546)."""

from hfcount.architectures import keys
from hfcount.architectures.components.codecs import DacDecoder, DacEncoder, ratios
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("dac",)  # transformers 5.23: modeling_dac.py
IGNORED = ("hop_length", "sampling_rate")


class Dac(Sizes):
    """Sizes specific to DAC: an encoder, a decoder, and codebooks between them."""

    encoder: DacEncoder
    decoder: DacDecoder
    codebook_size: int
    n_codebooks: int = size("n_q")
    codebook_dim: int = size("d_q")


def spec(c: Config) -> Spec[Dac]:
    down, words = ratios(c, "downsampling_ratios"), c.int("codebook_size")
    up = ratios(c, "upsampling_ratios", down[::-1])
    if words & (words - 1):
        raise c.error("out-of-range", f"codebook_size is {words:,}, but must be a power of 2.", "codebook_size")
    narrow, wide = c.int("encoder_hidden_size"), c.int("decoder_hidden_size")
    encoder, decoder = DacEncoder.of(narrow, down), DacDecoder.of(wide, up)
    sizes = Dac.read(c, encoder=encoder, decoder=decoder, codebook_size=keys.dim("|V|", words))
    return keys.encoding(c, [], hidden=c.int("hidden_size", default=narrow * 2 ** len(down))).having(sizes)


def blueprint(s: Spec[Dac]) -> Block:
    d, sizes = s.hidden, s.own
    narrow, table = sizes.codebook_dim, embedding(sizes.codebook_size, sizes.codebook_dim)
    quantizer = block(in_proj=conv(d, narrow, 1), out_proj=conv(narrow, d, 1), codebook=table)
    codebooks = Repeat(Indices.below(sizes.n_codebooks), quantizer)
    return block(
        encoder=sizes.encoder.tensors(d),
        quantizer=block("embedding", quantizers=codebooks),
        decoder=sizes.decoder.tensors(d),
    )
