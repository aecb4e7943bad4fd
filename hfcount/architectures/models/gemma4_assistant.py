"""Gemma 4's assistant, which drafts tokens: layers that use the keys and values of the model it assists."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.drafts import Draft, Needs
from hfcount.architectures.layers import with_head
from hfcount.mapper import Config, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

# transformers 5.23: modeling_gemma4_assistant.py, modeling_gemma4_unified_assistant.py
MODEL_TYPES = ("gemma4_assistant", "gemma4_unified_assistant")
CLASSES = ("Gemma4MTPModel",)
IGNORED = ("centroid_intermediate_top_k",)


def _centroids(c: Config) -> int | None:
    ordered = c.bool("use_ordered_embeddings", default=False)
    return keys.dim("n_c", c.int("num_centroids", default=2048)) if ordered else None


class Gemma4Assistant(Draft):
    """The width of the model that it assists, and how many centroids its vocabulary has, if it is ordered by them."""

    backbone_hidden_size: int = size("d_b", absent=1536)
    num_centroids: int | None = derived(_centroids)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=int(self.backbone_hidden_size), shared=(), alike=True)


def spec(c: Config) -> Spec[Gemma4Assistant]:
    text = families.part(c, "text_config")
    # All layers are such, also where the config says that none is.
    lent = tuple(layer.replace(layer=layer.layer.replace(shares_kv=True)) for layer in text.layers)
    sizes = Gemma4Assistant.read(c)
    tied = c.bool("tie_word_embeddings", default=True)
    model = keys.composite(c, text.replace(layers=lent), {}, heads=keys.named(("ForCausalLM",), MTPModel="causal_lm"))
    return model.replace(tied=tied).having(sizes)


def blueprint(s: Spec[Gemma4Assistant]) -> Block:
    d, wide = s.hidden, s.own.backbone_hidden_size
    ordered = None
    if s.own.num_centroids is not None:
        centroids = Linear(d, s.own.num_centroids)
        ordered = block("lm_head", centroids=centroids, token_ordering=buffer(s.vocab, whole=True))
    more = block(
        pre_projection=Linear(2 * wide, d, component="projector"),
        post_projection=Linear(d, wide, component="projector"),
        masked_embedding=ordered,
    )
    return Block({**with_head(s, families.base(s)).children, **more.children})
