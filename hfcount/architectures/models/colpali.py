"""ColPali: PaliGemma with a projection of each token, for the retrieval of pages (arXiv:2407.01449)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_colpali.py, modeling_colqwen2.py, modeling_colmodernvbert.py
MODEL_TYPES = ("colpali", "colqwen2", "colmodernvbert")
SPELLINGS = {r"^vlm\.language_model\.model\.": "vlm.language_model."}

_HEADS = keys.named(ForRetrieval="base")


def spec(c: Config) -> Spec:
    inner = families.part(c, "vlm_config")
    model = inner.replace(family=c.family, heads=("base",), head="base", architecture=keys.head_of(c, _HEADS)[0])
    out = c.int("embedding_dim", default=128)
    return model.replace(parts={"text": inner.replace(head="base")}, out=out, dtype=c.dtype() or inner.dtype)


def blueprint(s: Spec) -> Block:
    inner = families.base(s)
    return block(vlm=rebased(inner, "vlm"), embedding_proj_layer=Linear(s.hidden, s.out or s.hidden, True, "projector"))
