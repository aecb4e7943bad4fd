"""Parts of early transformers: learned positions, one key/value head per query head, layer normalisation."""

from collections.abc import Mapping

from hfcount.architectures.layers.attention import fused_qkv
from hfcount.architectures.layers.model import embedding, lm_head
from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec import GQA, Lacking, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete


def fused_attention(d: int, a: GQA, qkv: str, out: str) -> Block:
    """Attention with queries, keys and values in one projection.

    Tensors: `qkv` ((h + 2·h_kv)·h_d, d), `out` (d, h·h_d); with biases as in `a`.
    """
    return Block({qkv: fused_qkv(d, a), out: Linear(a.heads * a.head_dim, d, a.out_bias)}, "attention")


def square_attention(d: int, qkv: str, out: str) -> Block:
    """As `fused_attention`, without biases and with heads that share d. Tensors: `qkv` (3·d, d), `out` (d, d)."""
    return Block({qkv: Linear(d, 3 * d), out: Linear(d, d)}, "attention")


def mha(d: int, a: GQA, out: str = "out_proj", memory: int | None = None) -> Block:
    """Attention without rotary positions (arXiv:1706.03762).

    Tensors: q_proj (h·h_d, d), k_proj and v_proj (h_kv·h_d, d), `out` (d, h·h_d); with biases as in `a`.

    Args:
        memory: input width of keys and values, if not d.
    """
    query, keys = a.heads * a.head_dim, a.kv_heads * a.head_dim
    projections = block(
        q_proj=Linear(d, query, a.qkv_bias),
        k_proj=Linear(memory or d, keys, a.qkv_bias),
        v_proj=Linear(memory or d, keys, a.qkv_bias),
    ).children
    return Block({**projections, out: Linear(query, d, a.out_bias)}, "attention")


def positions(s: Spec) -> Block:
    """A learned table of positions. Tensors: weight (n_p, d)."""
    if s.positions is None:
        raise Lacking("this model has no table of positions")
    return embedding(s.positions, s.hidden)


def summary(d: int, outputs: int) -> Block:
    """The projection that summarises a sequence. Tensors: summary (outputs, d) with bias, none when outputs is 0."""
    return block("other", summary=Linear(d, outputs, True) if outputs else None)


def squad_head(d: int) -> dict[str, Block]:
    """Beam search over start, end and existence of an answer, as in XLNet.

    Tensors: start_logits.dense (1, d), end_logits and answer_class: dense_0 (d, 2·d), dense_1 (1, d), and a LayerNorm.
    """
    single, pair = Linear(d, 1, True), Linear(2 * d, d, True)
    return {
        "start_logits": block("other", dense=single),
        "end_logits": block("other", dense_0=pair, LayerNorm=layer_norm(d), dense_1=single),
        "answer_class": block("other", dense_0=pair, dense_1=Linear(d, 1)),
    }


def fc(d: int, width: int, bias: bool = True, up: str = "fc1", down: str = "fc2") -> dict[str, Linear]:
    """A feed-forward network as children of the layer itself. Tensors: `up` (d_ff, d), `down` (d, d_ff)."""
    return {up: Linear(d, width, bias, "mlp"), down: Linear(width, d, bias, "mlp")}


def conv1d(inputs: int, outputs: int) -> Block:
    """A projection stored as inputs by outputs, as in GPT-2. Tensors: weight (inputs, outputs), bias."""
    return block(weight=Tensor((inputs, outputs), turned=True), bias=Tensor((outputs,)))


def causal_mask(positions: int) -> dict[str, Tensor]:
    """Buffers that earlier versions of transformers stored: bias (1, 1, n_p, n_p), masked_bias ()."""
    return {"bias": obsolete(1, 1, positions, positions, whole=True), "masked_bias": obsolete()}


def gpt_layer(d: int, width: int, norm: Block, mask: Mapping[str, Tensor], crossed: bool) -> Block:
    """A layer of GPT-2: ln_1, attn, ln_2, mlp, and if it is `crossed` also crossattention and ln_cross_attn."""
    across = block("attention", c_attn=conv1d(d, 2 * d), q_attn=conv1d(d, d), c_proj=conv1d(d, d), **mask)
    return block(
        ln_1=norm,
        attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d), **mask),
        ln_2=norm,
        crossattention=across if crossed else None,
        ln_cross_attn=norm if crossed else None,
        mlp=block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d)),
    )


def headed(s: Spec, prefix: str, body: Block, **heads: Block) -> Block:
    """A base model with the head that the architecture names; without one, the base model alone.

    Args:
        prefix: name of the base model inside classes with a head.
        heads: the blocks that each class adds to the base model.
    """
    if s.head in ("base", "backbone"):
        return body
    beside = heads.get(s.head)
    return Block({prefix: body, **(beside.children if beside else {})})


def classifier(s: Spec, inputs: int | None = None, bias: bool = True) -> Linear:
    """A head over the labels. Tensors: weight (c, d), bias (c)."""
    return Linear(inputs or s.hidden, s.labels, bias, component="other")


def generative(
    s: Spec,
    prefix: str,
    body: Block,
    table: str,
    *,
    head: str = "lm_head",
    bias: bool = False,
    width: int | None = None,
    **more: Block,
) -> Block:
    """A decoder with its head, one of: `head`, score (c, d), classifier (c, d) with bias, qa_outputs (2, d) with bias.

    Args:
        prefix: name of the base model inside classes with a head.
        table: name of the input embedding within the base model.
        head: name of the head over the vocabulary.
        bias: whether the head over the vocabulary has a bias.
        width: input width of the heads, if it is not d.
        more: further heads, or replacements of these.
    """
    heads = {
        "causal_lm": Block({head: lm_head(s, f"{prefix}.{table}.weight", bias, width)}),
        "sequence_classification": block(score=classifier(s, width, bias=False)),
        "token_classification": block(classifier=classifier(s, width)),
        "question_answering": block(qa_outputs=Linear(width or s.hidden, 2, True, component="other")),
    }
    return headed(s, prefix, body, **{**heads, **more})
