"""Nucleotide Transformer 2: ESM with gated networks, an encoder of DNA (doi:10.1038/s41592-024-02523-z)."""

from hfcount.architectures import keys
from hfcount.architectures.models.esm import Esm
from hfcount.architectures.models.esm import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Spec

# modeling_esm.py of InstaDeepAI/nucleotide-transformer-v2-50m-multi-species, whose configs are of type esm
MODEL_TYPES = ("nucleotide_transformer",)
IGNORED = ("is_folding_model", "token_dropout", "vocab_list")

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec[Esm]:
    c.kind = "esm"  # whose defaults are those of this code
    kind, biased = c.str("position_embedding_type", default="absolute"), c.bool("add_bias_fnn", default=True)
    sizes = Esm.read(c, gated=True, rotary=kind == "rotary", absolute=kind == "absolute")
    model = keys.encoder(c, rotary=True, types=False, heads=_HEADS)
    networks = [part.layer.replace(ffn=part.layer.dense.replace(bias=biased)) for part in model.layers]
    pairs = zip(model.layers, networks, strict=True)
    return model.replace(layers=tuple(part.replace(layer=layer) for part, layer in pairs)).having(sizes)
