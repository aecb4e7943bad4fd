"""DAC: a waveform as codes of residual codebooks, and back, with periodic activations (arXiv:2306.06546)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.codecs import dac_decoder, dac_encoder
from hfcount.parts.temporal import conv
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block

MODEL_TYPES = ("dac",)  # transformers 5.23: modeling_dac.py
IGNORED = ("hop_length", "sampling_rate")


def spec(c: Config) -> Spec:
    down, words = keys.ratios(c, "downsampling_ratios"), c.int("codebook_size")
    up = keys.ratios(c, "upsampling_ratios", down[::-1])
    if words & (words - 1):
        raise c.error(f"codebook_size is {words:,}, and must be a power of 2.", "codebook_size")
    narrow, wide = c.int("encoder_hidden_size"), c.int("decoder_hidden_size")
    traits = keys.dac(narrow, wide, down, up) | {
        "n_codebooks": keys.sized("n_q", c.int("n_codebooks")),
        "codebook_size": keys.sized("|V|", words),
        "codebook_dim": keys.sized("d_q", c.int("codebook_dim")),
    }
    return keys.encoding(c, [], hidden=c.int("hidden_size", default=narrow * 2 ** len(down)), traits=traits)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    narrow, table = of["codebook_dim"], embedding(of["codebook_size"], of["codebook_dim"])
    quantizer = block(in_proj=conv(d, narrow, 1), out_proj=conv(narrow, d, 1), codebook=table)
    codebooks = Repeat(Indices.below(of["n_codebooks"]), quantizer)
    return block(
        encoder=dac_encoder(of, d), quantizer=block("embedding", quantizers=codebooks), decoder=dac_decoder(of, d)
    )
