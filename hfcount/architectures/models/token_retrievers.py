"""Retrievers as vLLM builds them of a known model: ColBERT's projection of each token, and Voyage's of a text."""

from typing import NamedTuple

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Presence

MODEL_TYPES = ("token_retriever",)  # colbert.py of vllm-project/vllm 0.33, and voyage.py there
CLASSES = (
    "ColBERTJinaRobertaModel",
    "ColBERTLfm2Model",
    "ColBERTModernBertModel",
    "VoyageQwen3BidirectionalEmbedModel",
)
SPELLINGS = {r"^(model|roberta)\.": "", r"^colbert_linear\.": "linear."}


class _Around(NamedTuple):
    """The type that a class is built around, and the keys of the width of its projection, the first that is given."""

    kind: str
    widths: tuple[str, ...] = ("colbert_dim", "dim", "projection_dim")


_MODERNBERT = _Around("modernbert")
_AROUND = {
    "ColBERTJinaRobertaModel": _Around("jina_xlm_roberta"),
    "ColBERTLfm2Model": _Around("lfm2"),
    "ColBERTModernBertModel": _MODERNBERT,
    "VoyageQwen3BidirectionalEmbedModel": _Around("qwen3", ("num_labels",)),
}


class TokenRetriever(Sizes):
    """The width of the projection, 0 where only the projection itself says it, and whether it must be stored here."""

    width: int
    required: bool


def spec(c: Config) -> Spec[TokenRetriever]:
    named, family = next(iter(c.strs("architectures")), ""), c.family
    of = _AROUND.get(named, _MODERNBERT)
    base = c.varied("", {"architectures": None})
    base.kind = of.kind
    inner = families.read(base, of.kind).replace(head="base", causal=False)
    c.family = family
    widths = [width for key in of.widths if (width := c.int(key, default=None))]
    required = of.widths == ("num_labels",)
    if required and not widths:
        raise c.malformed("no num_labels, which is the width of its projection.", "num_labels", "HF101")
    width = keys.dim("d_o", widths[0]) if widths else 0
    outer = inner.replace(family=family, architecture=named, parts={"text": inner}, heads=("base",), tied=False)
    return outer.having(TokenRetriever(width=width, required=required))


def blueprint(s: Spec[TokenRetriever]) -> Block:
    model, of = families.tree(s.part("text")), s.own
    # ColBERT's may lie in a folder of its own instead, as sentence-transformers writes it.
    presence: Presence = "required" if of.required else "spare"
    linear = Linear(s.hidden, of.width, component="projector", presence=presence) if of.width else None
    if of.required:
        return Block({"model": rebased(model, "model"), **({"linear": linear} if linear else {})})
    return altered(model, linear=linear)
