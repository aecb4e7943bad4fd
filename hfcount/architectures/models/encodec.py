"""EnCodec: a waveform as codes of residual codebooks, and back (arXiv:2210.13438)."""

from math import ceil, log2

from hfcount.architectures import keys
from hfcount.architectures.components.codecs import Seanet, codebook, product, weight_normed
from hfcount.architectures.layers.conversions import WEIGHT_NORM
from hfcount.architectures.layers.temporal import grouped
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("encodec",)  # transformers 5.23: modeling_encodec.py
IGNORED = ("dilation_growth_rate", "use_causal_conv", "chunk_length_s", "normalize")
SPELLINGS = WEIGHT_NORM

_RECURRENT = 1000  # layers of a recurrent network, whose tensors are numbered within their names


class Encodec(Sizes):
    """Sizes specific to EnCodec; `grouped` says whether norms stand behind its convolutions."""

    coder: Seanet
    codebooks: int
    codebook_size: int
    codebook_dim: int
    num_lstm_layers: int = size(maximum=_RECURRENT)
    grouped: bool


def spec(c: Config) -> Spec[Encodec]:
    d, words, coder = c.int("hidden_size"), c.int("codebook_size"), Seanet.by_rates(c)
    if words & (words - 1):
        raise c.error("out-of-range", f"codebook_size is {words:,}, but must be a power of 2.", "codebook_size")
    norm = c.choice("norm_type", ("weight_norm", "time_group_norm"))
    rates = c.entries("target_bandwidths")
    if not rates or not isinstance(rates[-1], int | float):
        raise c.malformed("target_bandwidths must list numbers.", "target_bandwidths")
    frames, bits = -(-c.int("sampling_rate") // product(coder.ratios)), max(1, ceil(log2(max(1, words))))
    sizes = Encodec.read(
        c,
        coder=coder,
        codebooks=Dim.named("n_q", int(1000 * rates[-1] // (int(frames) * bits)), "target_bandwidths"),
        codebook_size=keys.dim("|V|", words),
        codebook_dim=keys.dim("d_q", c.int("codebook_dim", default=d)),
        grouped=norm == "time_group_norm",
    )
    return keys.encoding(c, [], hidden=d).having(sizes)


def blueprint(s: Spec[Encodec]) -> Block:
    sizes, build = s.own, grouped if s.own.grouped else weight_normed
    words = block(codebook=codebook(sizes.codebook_size, sizes.codebook_dim))
    return block(
        encoder=sizes.coder.encoder(s.hidden, build, sizes.num_lstm_layers),
        decoder=sizes.coder.decoder(s.hidden, build, sizes.num_lstm_layers),
        quantizer=block("embedding", layers=Repeat(Indices.below(sizes.codebooks), words)),
    )
