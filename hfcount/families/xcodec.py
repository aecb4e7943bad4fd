"""X-Codec and the tokenizer of Higgs Audio: DAC's network and a recogniser's, coded together (arXiv:2408.17175)."""

from math import ceil, log2

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.codecs import semantic_decoder, semantic_encoder
from hfcount.spec import Spec
from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block, buffer

# transformers 5.23: modeling_xcodec.py, modeling_higgs_audio_v2_tokenizer.py
MODEL_TYPES = ("xcodec", "higgs_audio_v2_tokenizer")
IGNORED = ("semantic_sample_rate", "downsample_factor")


def spec(c: Config) -> Spec:
    heard, meant, words = *_parts(c), c.int("codebook_size")
    rates = c.entries("target_bandwidths")
    if not rates or not isinstance(rates[-1], int | float):
        raise c.error("target_bandwidths must list numbers.", "target_bandwidths", code="HF001")
    hop = keys.product([heard.traits[f"ratio.{number}"] for number in range(heard.traits["ratios"])])
    frames, bits = -(-c.int("sample_rate") // hop), max(1, ceil(log2(max(1, words))))
    d = heard.hidden + meant.hidden
    traits = keys.semantic(c, meant.hidden) | {
        "codebooks": Dim.named("n_q", int(1000 * rates[-1] // (int(frames) * bits)), "target_bandwidths"),
        "codebook_size": keys.sized("|V|", words),
        "codebook_dim": c.int("codebook_dim", default=d),
    }
    return keys.encoding(c, [], hidden=d, traits=traits, parts={"audio": heard, "meaning": meant})


def _parts(c: Config) -> tuple[Spec, Spec]:
    heard = families.part(c, "acoustic_model_config")
    if heard.family != "dac":
        raise c.error(f"acoustic_model_config is {heard.family}, and must be dac.", "acoustic_model_config")
    return heard, families.part(c, "semantic_model_config")


def blueprint(s: Spec) -> Block:
    d, of, heard, meant = s.hidden, s.traits, s.parts["audio"], s.parts["meaning"]
    codec, table = families.tree(heard).children, buffer(of["codebook_size"], of["codebook_dim"])
    codebook = block(inited=buffer(1), cluster_size=buffer(of["codebook_size"]), embed=table, embed_avg=table)
    narrow = of["codebook_dim"] if s.family.startswith("higgs") else 0
    quantizer = block(
        codebook=codebook,
        project_in=Linear(d, narrow, True) if narrow else None,
        project_out=Linear(narrow, d, True) if narrow else None,
    )
    return block(
        acoustic_encoder=codec["encoder"],
        acoustic_decoder=codec["decoder"],
        encoder_semantic=semantic_encoder(of, meant.hidden),
        decoder_semantic=semantic_decoder(of, meant.hidden),
        semantic_model=families.tree(meant),
        fc=Linear(d, d, True, "projector"),
        fc1=Linear(d, meant.hidden, True, "projector"),
        fc2=Linear(d, heard.hidden, True, "projector"),
        quantizer=block("embedding", quantizers=Repeat(Indices.below(of["codebooks"]), quantizer)),
    )
