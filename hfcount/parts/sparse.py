"""Routed experts with shared ones, and the indexer that selects tokens for sparse attention."""

from hfcount.parts.ffn import correction_bias, experts, stacked, swiglu
from hfcount.parts.norms import layer_norm
from hfcount.spec import MLA, MoE
from hfcount.tree.nodes import Block, Linear, Tensor, block


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


def latent_moe(d: int, m: MoE, latent: int = 0) -> Block:
    """Balanced experts without gate projections, and a shared one; routed experts read `latent` elements, or d if 0.

    Source: arXiv:2512.20856. Tensors: gate.weight (n, d), gate.e_score_correction_bias (n); n times up_proj (d_ff,
    latent) and down_proj (latent, d_ff) under experts; shared_experts.up_proj (d_s, d) and down_proj (d, d_s);
    fc1_latent_proj (latent, d) and fc2_latent_proj (d, latent) unless `latent` is 0.
    """
    inputs = latent or d
    expert = block("experts", up_proj=Linear(inputs, m.width), down_proj=Linear(m.width, inputs))
    shared = m.shared or 0
    return block(
        gate=block("router", weight=Tensor((m.experts, d)), e_score_correction_bias=correction_bias(m)),
        experts=experts(m, expert),
        shared_experts=block("mlp", up_proj=Linear(d, shared, m.bias), down_proj=Linear(shared, d, m.bias)),
        fc1_latent_proj=Linear(d, latent, m.bias, component="mlp") if latent else None,
        fc2_latent_proj=Linear(latent, d, m.bias, component="mlp") if latent else None,
    )


def joint_moe(d: int, m: MoE) -> Block:
    """Balanced experts; the gate also scores the c shared ones (c·d_ff = d_s) and has one global scale.

    Tensors: gate.weight (n + c, d), gate.global_scale (1), gate.e_score_correction_bias (n); experts.gate_up_proj
    (n, 2·d_ff, d) and down_proj (n, d, d_ff); shared_experts.gate_proj and up_proj (c, d_ff, d), down_proj
    (c, d, d_ff). Source: transformers 5.23, modeling_inkling.py.
    """
    count = (m.shared or 0) // m.width
    up, down = Tensor((count, m.width, d)), Tensor((count, d, m.width))
    return block(
        gate=block(
            "router",
            weight=Tensor((m.experts + count, d)),
            global_scale=Tensor((1,)),
            e_score_correction_bias=correction_bias(m),
        ),
        experts=block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
        shared_experts=block("mlp", gate_proj=up, up_proj=up, down_proj=down),
    )
