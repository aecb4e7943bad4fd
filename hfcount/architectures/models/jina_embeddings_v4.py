"""Jina embeddings v4: Qwen2.5-VL and a projection of each token, adapters apart from it (arXiv:2506.18902)."""

from hfcount.architectures import families
from hfcount.architectures.layers import lm_head
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_jina_embeddings_v4.py of jinaai/jina-embeddings-v4
MODEL_TYPES = ("jina_embeddings_v4",)
CLASSES = ("JinaEmbeddingsV4Model",)
SPELLINGS = {r"^visual\.": "model.visual.", r"^model\.(?!language_model\.|visual\.)": "model.language_model."}
IGNORED = (
    "matryoshka_dims",
    "pretrained_peft_model_name_or_path",
    "single_vector_pool_strategy",
    "task_names",
    "truncate_dim",
    "verbosity",
)

_AROUND = "qwen2_5_vl"


class JinaEmbeddingsV4(Sizes):
    multi_vector_projector_dim: int = size("d_o", absent=128)


def spec(c: Config) -> Spec[JinaEmbeddingsV4]:
    base, family = c.varied("", {"architectures": None}), c.family
    base.kind = _AROUND
    inner = families.read(base, _AROUND)
    c.family = family
    outer = inner.replace(family=family, architecture=next(iter(c.strs("architectures")), ""), parts={"text": inner})
    return outer.replace(head="base", heads=("base",)).having(JinaEmbeddingsV4.read(c))


def blueprint(s: Spec[JinaEmbeddingsV4]) -> Block:
    return block(
        model=families.base(s),
        lm_head=lm_head(s.part("text"), "model.language_model.embed_tokens.weight"),
        multi_vector_projector=Linear(s.hidden, s.own.multi_vector_projector_dim, True, "projector"),
    )
