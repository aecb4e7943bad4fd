"""The published components that architectures are built of, one function each.

Shapes are in elements, as stored: a projection's weight is (outputs, inputs). Keyword names of a Block are segments of
tensor names. Source of the names: transformers 5.23, models/<model_type>/modeling_<model_type>.py.
"""

from collections.abc import Callable

from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.tree.block import Block, Linear, Node, Repeat, Role, Tensor, Tied, block
from hfcount.tree.indices import Indices


def rms_norm(d: int) -> Block:
    """Root mean square normalisation (arXiv:1910.07467). Tensors: weight (d)."""
    return block("norm", weight=Tensor((d,)))


def gqa(d: int, a: GQA) -> Block:
    """Grouped-query attention with rotary positions (arXiv:2305.13245, arXiv:2104.09864).

    Tensors: q_proj (h·h_d, d), k_proj and v_proj (h_kv·h_d, d), o_proj (d, h·h_d); with biases as the spec says, and
    with `qk_norm` q_norm and k_norm (h_d). transformers before 4.32 also wrote the rotary inv_freq (h_d/2).
    """
    return block(
        "attention",
        q_proj=Linear(d, a.heads * a.head_dim, a.qkv_bias),
        k_proj=Linear(d, a.kv_heads * a.head_dim, a.qkv_bias),
        v_proj=Linear(d, a.kv_heads * a.head_dim, a.qkv_bias),
        o_proj=Linear(a.heads * a.head_dim, d, a.out_bias),
        q_norm=rms_norm(a.head_dim) if a.qk_norm else None,
        k_norm=rms_norm(a.head_dim) if a.qk_norm else None,
        rotary_emb=block(inv_freq=Tensor((a.head_dim // 2,), "legacy")),
    )


def swiglu(d: int, width: int, bias: bool = False, role: Role = "mlp") -> Block:
    """Gated feed-forward network (arXiv:2002.05202). Tensors: gate_proj and up_proj (d_ff, d), down_proj (d, d_ff)."""
    return block(
        role,
        gate_proj=Linear(d, width, bias),
        up_proj=Linear(d, width, bias),
        down_proj=Linear(width, d, bias),
    )


def moe(d: int, m: MoE, expert: Block) -> Block:
    """Routed experts (arXiv:2101.03961). Tensors: gate (n, d), and n times the expert's under experts."""
    return block(
        gate=Linear(d, m.experts, role="router"),
        experts=Repeat(Indices.upto(m.experts), expert, active=m.active),
    )


def decoder(s: Spec, layer: Callable[[Layer], Block], question_answering: str = "model") -> Block:
    """A decoder-only transformer: embedding, layers, final norm, and the head that the architecture names.

    Args:
        s: the whole model.
        layer: builds one layer.
        question_answering: what the base model is called inside the question answering class.
    """
    base: dict[str, Node] = {
        "embed_tokens": block("embedding", weight=Tensor((s.vocab, s.hidden))),
        "layers": tuple(Repeat(part.indices, layer(part.layer)) for part in s.layers),
        "norm": rms_norm(s.hidden),
    }
    if s.head == "base":
        return Block(base)
    prefix = question_answering if s.head == "question_answering" else "model"
    return Block({prefix: Block(base), **_head(s, f"{prefix}.embed_tokens.weight").children})


def _head(s: Spec, embedding: str) -> Block:
    d = s.hidden
    if s.head == "causal_lm":
        tied = Tied(embedding, (s.vocab, d), "lm_head")
        return block(lm_head=tied if s.tied else Linear(d, s.vocab, role="lm_head"))
    if s.head == "question_answering":
        return block(qa_outputs=Linear(d, 2, bias=True, role="other"))
    return block(score=Linear(d, s.labels, s.head == "token_classification", role="other"))
