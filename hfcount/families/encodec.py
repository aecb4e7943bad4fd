"""EnCodec: a waveform as codes of residual codebooks, and back (arXiv:2210.13438)."""

from math import ceil, log2

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.codecs import grouped, seanet_decoder, seanet_encoder, weight_normed
from hfcount.parts.conversions import WEIGHT_NORM
from hfcount.spec import Spec
from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block, buffer

MODEL_TYPES = ("encodec",)  # transformers 5.23: modeling_encodec.py
IGNORED = ("dilation_growth_rate", "use_causal_conv", "chunk_length_s", "normalize")
SPELLINGS = WEIGHT_NORM

_RECURRENT = 1000  # layers of a recurrent network, whose tensors are numbered within their names


def spec(c: Config) -> Spec:
    d, words, traits = c.int("hidden_size"), c.int("codebook_size"), keys.seanet(c)
    if words & (words - 1):
        raise c.error(f"codebook_size is {words:,}, and must be a power of 2.", "codebook_size")
    norm = c.str("norm_type")
    if norm not in ("weight_norm", "time_group_norm"):
        raise c.error("norm_type must be weight_norm or time_group_norm.", "norm_type", observed=norm)
    rates = c.entries("target_bandwidths")
    if not rates or not isinstance(rates[-1], int | float):
        raise c.error("target_bandwidths must list numbers.", "target_bandwidths", code="HF001")
    hop = keys.product([traits[f"ratio.{number}"] for number in range(traits["ratios"])])
    frames = -(-c.int("sampling_rate") // hop)
    traits |= {
        "codebooks": Dim.named(
            "n_q", int(1000 * rates[-1] // (int(frames) * max(1, ceil(log2(max(1, words)))))), "target_bandwidths"
        ),
        "codebook_size": keys.sized("|V|", words),
        "codebook_dim": keys.sized("d_q", c.int("codebook_dim", default=d)),
        "num_lstm_layers": c.int("num_lstm_layers", maximum=_RECURRENT),
        "grouped": norm == "time_group_norm",
    }
    return keys.encoding(c, [], hidden=d, traits=traits)


def blueprint(s: Spec) -> Block:
    of, build = s.traits, grouped if s.traits["grouped"] else weight_normed
    table = buffer(of["codebook_size"], of["codebook_dim"])
    codebook = block(inited=buffer(1), cluster_size=buffer(of["codebook_size"]), embed=table, embed_avg=table)
    return block(
        encoder=seanet_encoder(of, s.hidden, build, of["num_lstm_layers"]),
        decoder=seanet_decoder(of, s.hidden, build, of["num_lstm_layers"]),
        quantizer=block("embedding", layers=Repeat(Indices.below(of["codebooks"]), block(codebook=codebook))),
    )
