"""Feed-forward networks, dense and routed."""

from hfcount.spec import MoE
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Repeat, Tensor, block, buffer


def swiglu(d: int, width: int, bias: bool = False, component: Component = "mlp") -> Block:
    """Gated feed-forward network (arXiv:2002.05202). Tensors: gate_proj and up_proj (d_ff, d), down_proj (d, d_ff)."""
    return block(
        component,
        gate_proj=Linear(d, width, bias),
        up_proj=Linear(d, width, bias),
        down_proj=Linear(width, d, bias),
    )


def fused_swiglu(d: int, width: int, bias: bool = False) -> Block:
    """SwiGLU with gate and up in one projection. Tensors: gate_up_proj (2·d_ff, d), down_proj (d, d_ff)."""
    return block("mlp", gate_up_proj=Linear(d, 2 * width, bias), down_proj=Linear(width, d, bias))


def mlp(d: int, width: int, bias: bool = True, up: str = "fc1", down: str = "fc2") -> Block:
    """Classic feed-forward network (arXiv:1706.03762). Tensors: `up` (d_ff, d), `down` (d, d_ff)."""
    return Block({up: Linear(d, width, bias), down: Linear(width, d, bias)}, "mlp")


def moe(d: int, m: MoE, expert: Block) -> Block:
    """Routed experts (arXiv:2101.03961). Tensors: gate (n, d), and those of n experts under experts."""
    return block(gate=router(d, m), experts=experts(m, expert))


def router(d: int, m: MoE, bias: bool = False) -> Block:
    """Scores the experts for a token. Tensors: weight (n, d), with `bias` bias (n).

    Not a Linear: most implementations have it in a custom module, which no quantisation scheme packs.
    """
    return block("router", weight=Tensor((m.experts, d)), bias=Tensor((m.experts,)) if bias else None)


def experts(m: MoE, expert: Block) -> Repeat:
    """One network for each of n experts, of which a token uses k."""
    return Repeat(Indices.below(m.experts), expert, active=m.active)


def stacked(m: MoE, *shape: int) -> Tensor:
    """The tensors of all experts in one, (n, *shape), of which a token uses k of n."""
    return Tensor((m.experts, *shape), component="experts", active=(m.active, m.experts))


def correction_bias(m: MoE) -> Tensor:
    """The bias that balances experts without an auxiliary loss (arXiv:2408.15664): (n), a stored buffer."""
    return buffer(m.experts, component="router")


def numbered_swiglu(d: int, width: int, component: Component = "mlp") -> Block:
    """SwiGLU with numbered names. Tensors: w1, the gate, and w3, the up projection (d_ff, d); w2 (d, d_ff)."""
    return block(component, w1=Linear(d, width), w2=Linear(width, d), w3=Linear(d, width))
