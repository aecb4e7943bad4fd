"""GLM-4.7-Flash: GLM-4.5's experts with latent attention (arXiv:2508.06471)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.models.deepseek_v3 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("glm4_moe_lite",)  # transformers 5.23: modeling_glm4_moe_lite.py
PREDICTORS = ("Glm4MoeLiteMTPModel", "Glm4MoeLiteForCausalLMNextN")
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    places = keys.dense_and_sparse(c, default=1)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c)))
    return keys.decoder_spec(c, layers, parts=ahead)
