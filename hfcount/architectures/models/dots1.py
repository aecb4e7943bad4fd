"""dots.llm1: normalised queries and keys, balanced experts beside shared ones (arXiv:2506.05767)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.models.glm4_moe import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices

MODEL_TYPES = ("dots1",)  # transformers 5.23: modeling_dots1.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)
    if c.is_null("n_routed_experts"):  # a config that says there are no experts
        places = Indices.below(keys.layer_count(c)), Indices.below(0)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, lambda: keys.later(c, first=62), default=4096))
