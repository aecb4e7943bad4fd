"""Gemma 4's assistant, which drafts tokens: layers that use the keys and values of the model it assists."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import with_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block, buffer

# transformers 5.23: modeling_gemma4_assistant.py, modeling_gemma4_unified_assistant.py
MODEL_TYPES = ("gemma4_assistant", "gemma4_unified_assistant")
IGNORED = ("centroid_intermediate_top_k",)


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    # All layers are such, also where the config says that none is.
    lent = tuple(one.but(layer=one.layer.but(shares_kv=True)) for one in text.layers)
    traits = {"backbone_hidden_size": keys.sized("d_b", c.int("backbone_hidden_size", default=1536))}
    if c.bool("use_ordered_embeddings", default=False):
        traits["num_centroids"] = keys.sized("n_c", c.int("num_centroids", default=2048))
    tied = c.bool("tie_word_embeddings", default=True)
    whole = keys.around(c, text.but(layers=lent), {}, heads=("ForCausalLM",), traits=traits)
    return whole.but(tied=tied)


def blueprint(s: Spec) -> Block:
    d, wide = s.hidden, s.traits["backbone_hidden_size"]
    ordered = None
    if "num_centroids" in s.traits:
        centroids = Linear(d, s.traits["num_centroids"])
        ordered = block("lm_head", centroids=centroids, token_ordering=buffer(s.vocab, whole=True))
    more = block(
        pre_projection=Linear(2 * wide, d, component="projector"),
        post_projection=Linear(d, wide, component="projector"),
        masked_embedding=ordered,
    )
    return Block({**with_head(s, families.base(s)).children, **more.children})
