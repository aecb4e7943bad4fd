"""Feed-forward networks, dense and routed: read from a config, and their tensors."""

from collections.abc import Callable, Sequence

from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import among, split
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.mapper.class_defaults import declared
from hfcount.spec import GQA, Dense, Layer, Layers, Mixer, MoE
from hfcount.spec.tree.dims import has_key
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Repeat, Tensor, block, buffer

MOST_EXPERTS = 2**12
"""The most experts that may have individual names instead of numbers."""


def dense(c: Config, *, bias: bool = False) -> Dense:
    """One feed-forward network for all tokens."""
    return Dense(width=c.int("intermediate_size"), bias=bias)


def read_moe(
    c: Config,
    width: str,
    *,
    experts: Sequence[str] = ("num_experts", "num_local_experts"),
    active: Sequence[str] = ("num_experts_per_tok",),
    shared: Sequence[str] = (),
) -> MoE:
    """Routed experts.

    Args:
        width: the key of the width of one expert.
        experts: aliases of the key with the number of experts.
        active: aliases of the key with the number of experts that a token is routed to.
        shared: aliases of the key with the number of shared experts, which are stored as one wide network.
    """
    among, chosen = c.int(*experts), None if c.is_null(active[0]) else c.int(*active)
    each = c.int(width)
    without = not shared or c.is_null(shared[0])
    active_experts = at_most(c, active[0], chosen, among)
    return MoE(
        experts=among, active=active_experts, width=each, shared=None if without else each * c.int(*shared, minimum=0)
    )


def at_most(c: Config, key: str, active: int | None, experts: int) -> int:
    """The number of experts per token, from `key`; null and more than `experts` cannot run."""
    if active is None:
        c.cannot_run(
            "out-of-range", f"{key} is null, but must be the number of experts for a token.", key, "Correct it."
        )
        return experts
    if active > experts:
        text = f"{key} {active:,} exceeds the number of experts {experts:,}."
        c.cannot_run("out-of-range", text, key, "Correct one of them.", expected=int(experts), observed=int(active))
    return min(active, experts)


def deepseek_moe(c: Config, late: bool = False) -> MoE:
    """Fine-grained experts, routed and shared (arXiv:2401.06066), read from DeepSeek-V3's keys.

    A token uses all experts if num_experts_per_tok is null. With `late`, num_experts overrides the other keys.
    Source: transformers 5.23, configuration_deepseek_v32.py.
    """
    spelled = [name for name, key in declared(c.family).names.items() if key == "n_routed_experts"]
    known = ("n_routed_experts", *(spelled or ("num_local_experts", "num_experts")))
    experts = ("num_experts",) if late and c.given("num_experts") else known
    active = experts if c.is_null("num_experts_per_tok") else ("num_experts_per_tok",)
    return read_moe(c, "moe_intermediate_size", experts=experts, active=active, shared=("n_shared_experts",))


def networks(
    c: Config,
    places: tuple[Indices, Indices],
    experts: Callable[[], MoE],
    mixer: Mixer | None = None,
    *,
    width: str = "intermediate_size",
    bias: bool = False,
) -> list[Layers]:
    """Layers with one network for all tokens at the first of `places`, and layers with experts at the second.

    Args:
        experts: reads the experts; not called if no layer has any.
        mixer: the mixer of all these layers; None if it is added elsewhere.
        width: the key of the width of the network for all tokens.
        bias: whether that network has biases.
    """
    few = (places[0], lambda: Layer(mixer=mixer, ffn=Dense(width=c.int(width), bias=bias)))
    many = (places[1], lambda: Layer(mixer=mixer, ffn=experts()))
    return split(few, many)


def read_gated_moe(c: Config) -> MoE:
    """Routed experts, and a shared one whose output is scaled by a gate."""
    routed = read_moe(c, "moe_intermediate_size")
    return routed.replace(shared=c.int("shared_expert_intermediate_size"))


def sparse_steps(
    c: Config, mixer: GQA, dense: Dense, sparse: Callable[[], MoE], only_dense: Sequence[int] = ()
) -> list[Layers]:
    """Experts in every decoder_sparse_step-th layer except mlp_only_layers; none if the number of experts is 0.

    `only_dense` is the default of mlp_only_layers. Source: transformers 5.23, modeling_qwen3_moe.py,
    Qwen3MoeDecoderLayer.
    """
    every = Indices.below(layer_count(c))
    only_dense = c.ints("mlp_only_layers", default=only_dense)
    step = c.int("decoder_sparse_step", default=1, minimum=1, maximum=MAX_LAYERS)
    step = step if c.given("decoder_sparse_step") else int(step)
    if not c.int("num_experts", "num_local_experts", minimum=0):
        return [Layers(indices=every, layer=Layer(mixer=mixer, ffn=dense))]
    stepped = Indices.span(step - 1, every.count, step)
    spared = among(c, "mlp_only_layers", only_dense, every.count)
    if not all(number in stepped for number in spared):
        spared = Indices.of(number for number in spared if number in stepped)
    routed = stepped.difference(spared)
    others = spared if step == 1 and not has_key(step) else every.difference(routed)
    kinds: list[tuple[Indices, MoE | Dense]] = [
        (routed, sparse()),
        (spared.replace(count=others.count) if step == 1 and spared.count else others, dense),
    ]
    return [Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn)) for indices, ffn in kinds if indices.count]


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
    """The scores of the experts for a token. Tensors: weight (n, d), with `bias` bias (n).

    Not a Linear: most implementations use a custom module, which quantisation schemes do not pack.
    """
    return block("router", weight=Tensor((m.experts, d)), bias=Tensor((m.experts,)) if bias else None)


def experts(m: MoE, expert: Block) -> Repeat:
    """One network for each of n experts, of which a token uses k."""
    return Repeat(Indices.below(m.experts), expert, active=m.active)


def stacked(m: MoE, *shape: int) -> Tensor:
    """One tensor for all experts, (n, *shape), of which a token uses k of n."""
    return Tensor((m.experts, *shape), component="experts", active=(m.active, m.experts))


def correction_bias(m: MoE) -> Tensor:
    """The bias that balances experts without an auxiliary loss (arXiv:2408.15664): (n), a stored buffer."""
    return buffer(m.experts, component="router")


def numbered_swiglu(d: int, width: int, component: Component = "mlp") -> Block:
    """SwiGLU with numbered names. Tensors: w1, the gate, and w3, the up projection (d_ff, d); w2 (d, d_ff)."""
    return block(component, w1=Linear(d, width), w2=Linear(width, d), w3=Linear(d, width))


def network(d: int, layer: Layer, experts: Callable[[MoE], Block]) -> Block:
    """The feed-forward network of a layer: built by `experts` if it is an MoE, else SwiGLU."""
    return experts(layer.moe) if isinstance(layer.ffn, MoE) else swiglu(d, layer.dense.width, layer.dense.bias)


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
