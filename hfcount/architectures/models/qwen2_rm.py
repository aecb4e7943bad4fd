"""Reward models, rerankers and ColBERT: a known model with a head that its own published code adds."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head
from hfcount.architectures.layers.stacks import altered, chain
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, block

# qwen2_rm.py of vllm-project/vllm, and jina_vl.py, jina.py and colbert.py there, after the code that the repos bring:
# modeling_qwen2_rm.py of Qwen/Qwen2.5-Math-RM-72B, modeling.py of jinaai/jina-reranker-m0 and jinaai/jina-reranker-v3;
# modeling_custom.py of RLHFlow/ArmoRM-Llama3-8B-v0.1; modeling_minicpm_reranker.py and gemma_model.py of
# FlagOpen/FlagEmbedding, whose rerankers have a head for each of the later layers
MODEL_TYPES = (
    "qwen2_rm",
    "qwen2_prm",
    "jina_ranking",
    "jina_vl_ranking",
    "colbert",
    "llama_gating",
    "layerwise_minicpm",
    "cost_wise_gemma",
)
CLASSES = (
    "Qwen2ForRewardModel",
    "Qwen2ForProcessRewardModel",
    "JinaForRanking",
    "JinaVLForRanking",
    "HF_ColBERT",
    "LlamaForRewardModelWithGating",
    "LayerWiseMiniCPMForCausalLM",
    "CostWiseGemmaForCausalLM",
)
SPELLINGS = {r"^visual\.": "model.visual.", r"^model\.(?!language_model\.|visual\.)": "model.language_model."}
IGNORED = ("num_labels", "gating_temperature", "dim_model_base", "mup_denominator", "scale_emb")

_KINDS = dict(zip(CLASSES, MODEL_TYPES, strict=True))
_AROUND = {
    "qwen2_rm": "qwen2",
    "qwen2_prm": "qwen2",
    "jina_ranking": "qwen3",
    "jina_vl_ranking": "qwen2_vl",
    "colbert": "bert",
    "llama_gating": "llama",
    "layerwise_minicpm": "minicpm",
    "cost_wise_gemma": "gemma2",
}
"""The type that each is built around."""


class Gate(Sizes):
    """The network that weighs rewards."""

    hidden: int = size("d_g", "gating_hidden_dim", absent=1024)
    layers: int = count("N_g", "gating_n_hidden", absent=3, minimum=0)


class Heads(Sizes):
    """How many heads there are, 0 if one serves all layers; `plain` ones are no modules of their own."""

    number: int
    plain: bool
    whole: bool


class Reranker(Sizes):
    """Which it is, what its head gives, and what that has besides: a gate, or heads for several layers."""

    kind: str
    out: int
    gate: Gate | None
    heads: Heads | None


def spec(c: Config) -> Spec[Reranker]:
    named = next(iter(c.strs("architectures")), "")
    kind = _KINDS.get(named, c.family)
    inner = _inner(c, _AROUND[kind])
    out = 0
    if kind == "llama_gating":
        out = c.int("num_objectives")
    elif kind == "colbert":
        out = c.int("colbert_dim", "dim", "projection_dim", default=128)
    elif kind == "jina_ranking":
        out = c.int("embedding_size", default=512)
    outer = inner.replace(family=c.family, architecture=named, parts={"text": inner}, heads=("base",), head="base")
    gate = Gate.read(c) if kind == "llama_gating" else None
    heads = _heads(c, kind, sum(part.indices.count for part in inner.layers))
    sizes = Reranker(kind=kind, out=keys.dim("d_o", out) if out else 0, gate=gate, heads=heads)
    return outer.replace(tied=False).having(sizes)


def _heads(c: Config, kind: str, layers: int) -> Heads | None:
    """The heads for several layers of those that have such."""
    if kind == "layerwise_minicpm":
        start, step, several = c.int("start_layer", default=8), 1, c.bool("head_multi", default=True)
        form = c.str("head_type", default="simple")
    elif kind == "cost_wise_gemma":
        several = c.bool("layer_wise", default=False)
        start, step = c.int("start_layer", default=28), c.int("layer_sep", default=28, minimum=1 if several else None)
        form = "simple" if several else "raw"
    else:
        return None
    number = Indices.span(start, layers + 1, step).count if several else 0
    return Heads(number=number, plain=form == "raw", whole=form in ("raw", "complex"))


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
    if s.own.heads:
        return block(model=families.tree(inner.replace(head="base")), lm_head=_head(inner, s.own.heads))
    if s.own.gate:
        return _gated(s, families.tree(inner.replace(head="base")), s.own.gate)
    model = families.tree(inner)
    if kind == "jina_vl_ranking":
        return altered(model, score=_two(d, d, 1, "other"))
    head = Linear(d, s.vocab, component="lm_head", presence="spare")  # a writer may leave the unused one there
    if kind == "jina_ranking":
        return altered(model, lm_head=head, projector=_two(d, d // 2, s.own.out, "projector", bias=False))
    return altered(model, lm_head=head, score=_two(d, d, 1 if kind == "qwen2_rm" else 2, "other"))


def _head(s: Spec, of: Heads) -> Node:
    """One head, or one for each of the later layers."""
    table = "model.embed_tokens.weight"
    if of.plain and not of.number:
        return lm_head(s, table)
    one = Linear(s.hidden, s.vocab if of.whole else 1, component="lm_head")
    head: Node = one if of.plain else block("lm_head", linear_head=one)
    return Repeat(Indices.below(of.number), head) if of.number else head


def _gated(s: Spec[Reranker], model: Block, of: Gate) -> Block:
    """Rewards for several objectives, weighed by a network of the prompt."""
    d, out = s.hidden, s.own.out
    layers = chain(d, of.hidden, out, of.layers + 1, lambda before, after: Linear(before, after, True))
    return block(
        model=model,
        regression_layer=Linear(d, out, component="other"),
        reward_transform_matrix=Tensor((out, out), component="other"),
        gating=block("other", logit_scale=Tensor((1,)), layers=layers),
    )


def _two(inputs: int, middle: int, outputs: int, component: Component, bias: bool = True) -> Block:
    """Two projections, with an activation between them."""
    both: dict[str, Node] = {"0": Linear(inputs, middle, bias), "2": Linear(middle, outputs, bias)}
    return Block(both, component)
