"""Reward models, rerankers and ColBERT: a known model with a head that its own published code adds."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, block

# qwen2_rm.py of vllm-project/vllm, and jina_vl.py, jina.py and colbert.py there, after the code that the repos bring:
# modeling_qwen2_rm.py of Qwen/Qwen2.5-Math-RM-72B, modeling.py of jinaai/jina-reranker-m0 and jinaai/jina-reranker-v3
MODEL_TYPES = ("qwen2_rm", "qwen2_prm", "jina_ranking", "jina_vl_ranking", "colbert")
CLASSES = ("Qwen2ForRewardModel", "Qwen2ForProcessRewardModel", "JinaForRanking", "JinaVLForRanking", "HF_ColBERT")
SPELLINGS = {r"^visual\.": "model.visual.", r"^model\.(?!language_model\.|visual\.)": "model.language_model."}
IGNORED = ("num_labels",)

_KINDS = dict(zip(CLASSES, MODEL_TYPES, strict=True))
_AROUND = {
    "qwen2_rm": "qwen2",
    "qwen2_prm": "qwen2",
    "jina_ranking": "qwen3",
    "jina_vl_ranking": "qwen2_vl",
    "colbert": "bert",
}
"""The type that each is built around."""


class Reranker(Sizes):
    kind: str
    out: int


def spec(c: Config) -> Spec[Reranker]:
    named = next(iter(c.strs("architectures")), "")
    kind = _KINDS.get(named, c.family)
    inner = _inner(c, _AROUND[kind])
    out = 0
    if kind == "colbert":
        out = c.int("colbert_dim", "dim", "projection_dim", default=128)
    elif kind == "jina_ranking":
        out = c.int("embedding_size", default=512)
    outer = inner.replace(family=c.family, architecture=named, parts={"text": inner}, heads=("base",), head="base")
    return outer.replace(tied=False).having(Reranker(kind=kind, out=keys.dim("d_o", out) if out else 0))


def _inner(c: Config, kind: str) -> Spec:
    """The model that the head is added to."""
    inner = c.varied("", {"architectures": None})
    inner.kind, named = kind, c.family
    model = families.read(inner, kind)
    c.family = named
    return model


def blueprint(s: Spec[Reranker]) -> Block:
    d, kind, inner = s.hidden, s.own.kind, s.part("text")
    if kind == "colbert":
        model = families.tree(inner.replace(head="base"))
        return block(bert=model, linear=Linear(d, s.own.out, component="projector"))
    model = families.tree(inner)
    if kind == "jina_vl_ranking":
        return altered(model, score=_two(d, d, 1, "other"))
    head = Linear(d, s.vocab, component="lm_head", presence="spare")  # a writer may leave the unused one there
    if kind == "jina_ranking":
        return altered(model, lm_head=head, projector=_two(d, d // 2, s.own.out, "projector", bias=False))
    return altered(model, lm_head=head, score=_two(d, d, 1 if kind == "qwen2_rm" else 2, "other"))


def _two(inputs: int, middle: int, outputs: int, component: Component, bias: bool = True) -> Block:
    """Two projections, with an activation between them."""
    both: dict[str, Node] = {"0": Linear(inputs, middle, bias), "2": Linear(middle, outputs, bias)}
    return Block(both, component)
