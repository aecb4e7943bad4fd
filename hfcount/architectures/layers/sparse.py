"""Routed experts with shared ones, and the indexer that selects tokens for sparse attention."""

from hfcount.architectures.layers.ffn import correction_bias, experts, swiglu
from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec import MLA, MoE
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


def shared_moe(
    d: int,
    m: MoE,
    shared: str = "shared_experts",
    balanced: bool = False,
    bias: bool = False,
    expert: Block | None = None,
) -> Block:
    """Fine-grained experts, routed and shared (DeepSeekMoE, arXiv:2401.06066).

    Tensors: gate.weight (n, d) and, when `balanced`, gate.e_score_correction_bias (n); n times gate_proj and up_proj
    (d_ff, d) and down_proj (d, d_ff) under experts; the same once, d_s wide, under `shared`, with biases if `bias`.
    `expert` is one routed expert, if its projections have other names.
    """
    gate = block(
        "router", weight=Tensor((m.experts, d)), e_score_correction_bias=correction_bias(m) if balanced else None
    )
    routed = block(gate=gate, experts=experts(m, expert or swiglu(d, m.width, component="experts")))
    return routed if m.shared is None else Block({**routed.children, shared: swiglu(d, m.shared, bias)})


def gated_moe(d: int, m: MoE) -> Block:
    """Routed experts and a shared one, whose output is scaled by a gate (Qwen1.5-MoE and later).

    Tensors: those of `shared_moe` with the shared expert under shared_expert, and shared_expert_gate (1, d).
    """
    apart = shared_moe(d, m, "shared_expert").children
    return Block({**apart, "shared_expert_gate": Linear(d, 1, component="router")})


def indexer(d: int, a: MLA) -> Block:
    """The lightning indexer, which selects the tokens that attention sees (arXiv:2512.02556).

    Tensors: wq_b (h_i·h_di, r_q), wk (h_di, d), k_norm weight and bias (h_di), weights_proj (h_i, d).
    """
    heads, head_dim = a.index_heads or 0, a.index_dim or 0
    return block(
        wq_b=Linear(a.q_lora_rank or d, heads * head_dim),
        wk=Linear(d, head_dim),
        k_norm=layer_norm(head_dim),
        weights_proj=Linear(d, heads),
    )
