"""Feed-forward networks, dense and routed."""

from hfcount.spec import MoE
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Component, Linear, Repeat, Tensor, block, buffer


def swiglu(d: int, width: int, bias: bool = False, component: Component = "mlp") -> Block:
    """Gated feed-forward network (arXiv:2002.05202). Tensors: gate_proj and up_proj (d_ff, d), down_proj (d, d_ff)."""
    return block(
        component,
        gate_proj=Linear(d, width, bias),
        up_proj=Linear(d, width, bias),
        down_proj=Linear(width, d, bias),
    )


def fused_swiglu(d: int, width: int, bias: bool = False) -> Block:
    """The same with gate and up in one. Tensors: gate_up_proj (2·d_ff, d), down_proj (d, d_ff)."""
    return block("mlp", gate_up_proj=Linear(d, 2 * width, bias), down_proj=Linear(width, d, bias))


def mlp(d: int, width: int, bias: bool = True, up: str = "fc1", down: str = "fc2") -> Block:
    """Classic feed-forward network (arXiv:1706.03762). Tensors: `up` (d_ff, d), `down` (d, d_ff)."""
    return Block({up: Linear(d, width, bias), down: Linear(width, d, bias)}, "mlp")


def moe(d: int, m: MoE, expert: Block) -> Block:
    """Routed experts (arXiv:2101.03961). Tensors: gate (n, d), and n times the expert's under experts."""
    return block(gate=router(d, m), experts=experts(m, expert))


def router(d: int, m: MoE, bias: bool = False) -> Block:
    """Scores the experts for a token. Tensors: weight (n, d), with `bias` bias (n).

    Not a Linear, as most references keep the matrix in a module of their own, which no quantisation scheme packs.
    """
    return block("router", weight=Tensor((m.experts, d)), bias=Tensor((m.experts,)) if bias else None)


def experts(m: MoE, expert: Block) -> Repeat:
    """One network for each expert, of which a token passes k. The expert's component is `experts`."""
    return Repeat(Indices.below(m.experts), expert, active=m.active)


def stacked(m: MoE, *shape: int) -> Tensor:
    """All experts in one tensor, (n, *shape), of which a token passes k of n."""
    return Tensor((m.experts, *shape), component="experts", active=(m.active, m.experts))


def correction_bias(m: MoE) -> Tensor:
    """The bias that balances experts without a loss (arXiv:2408.15664): (n), a buffer that every checkpoint has."""
    return buffer(m.experts, component="router")


def numbered_swiglu(d: int, width: int, component: Component = "mlp") -> Block:
    """The same gated network with numbered names. Tensors: w1, the gate, and w3 (d_ff, d), w2 (d, d_ff)."""
    return block(component, w1=Linear(d, width), w2=Linear(width, d), w3=Linear(d, width))
