"""Whole models: embedding, layers, final norm, head."""

from collections.abc import Callable

from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import GQA, MLA, Layer, Layers, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block, obsolete


def embedding(rows: int, width: int) -> Block:
    """A lookup table. Tensors: weight (rows, width)."""
    return block("embedding", weight=Tensor((rows, width)))


def stack(layers: tuple[Layers, ...], layer: Callable[[Layer], Node]) -> tuple[Node, ...]:
    """The layers by kind, each kind repeated for its layer numbers."""
    return tuple(Repeat(part.indices, layer(part.layer)) for part in layers)


def base(s: Spec, layer: Callable[[Layer], Node], norm: Block | None = None) -> Block:
    """Embedding, layers and final norm under their usual names: embed_tokens, layers, norm.

    Multi-token-prediction layers follow the others, if the spec has any.
    """
    return block(
        embed_tokens=embedding(s.vocab, s.hidden),
        layers=(*stack(s.layers, layer), *stack(s.stack("mtp"), layer)),
        norm=norm or rms_norm(s.hidden),
        rotary_emb=_rotary(s),
    )


def _rotary(s: Spec) -> Block | None:
    """The frequencies that some writers store once for all layers, and loaders skip."""
    for part in s.layers:
        if isinstance(part.layer.mixer, GQA | MLA):
            own = part.layer.mixer
            return block(inv_freq=obsolete((own.head_dim if isinstance(own, GQA) else own.rope_dim) // 2))
    return None


def decoder(
    s: Spec, layer: Callable[[Layer], Node], question_answering: str = "model", norm: Block | None = None
) -> Block:
    """A decoder-only transformer: embedding, layers, final norm, and the head that the architecture names.

    Args:
        layer: builds one layer.
        question_answering: name of the base model inside the question answering class.
        norm: the final norm, by default RMSNorm.
    """
    return with_head(s, base(s, layer, norm), question_answering=question_answering)


def with_head(
    s: Spec,
    body: Block,
    prefix: str = "model",
    table: str = "embed_tokens",
    *,
    question_answering: str | None = None,
    bias: bool = False,
    score_bias: bool = False,
) -> Block:
    """A base model with its head.

    Args:
        prefix: name of the base model inside classes with a head.
        table: name of the input embedding within the base model.
        question_answering: `prefix` of the question answering class, if it differs.
        bias: whether lm_head has a bias.
        score_bias: whether the head of a sequence classifier has a bias.
    """
    if s.head == "base":
        return body
    if s.head == "question_answering":
        prefix = question_answering or prefix
    d, children = s.hidden, {prefix: body}
    if s.head == "question_answering":
        return Block({**children, "qa_outputs": Linear(d, 2, bias=True, component="other")})
    if s.head in ("sequence_classification", "token_classification"):
        with_bias = score_bias or s.head == "token_classification"
        return Block({**children, "score": Linear(d, s.labels, with_bias, component="other")})
    return Block({**children, "lm_head": lm_head(s, f"{prefix}.{table}.weight", bias)})


def lm_head(s: Spec, tied_to: str, bias: bool = False, width: int | None = None, anyway: bool = False) -> Node:
    """The head over the vocabulary: tied to the tensor `tied_to`, or else (|V|, d); `width` replaces d.

    With `anyway` the reference ties it whatever the config says, unless it is stored.
    """
    inputs = width or s.hidden
    if not s.tied:
        return Linear(inputs, s.vocab, bias, "lm_head", "dispensable" if anyway else "required")
    return Tied(tied_to, (s.vocab, inputs), "lm_head", bias)
