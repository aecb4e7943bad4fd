"""Feed-forward networks, dense and routed."""

from collections.abc import Callable, Sequence

from hfcount.architectures.keys.layers import split
from hfcount.architectures.keys.listed_layers import among
from hfcount.architectures.keys.sizes import layer_count
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Layer, Layers, Mixer, MoE
from hfcount.spec.tree.dims import has_key
from hfcount.spec.tree.indices import Indices

MOST_EXPERTS = 2**12
"""How many experts may each have a name of their own, and no number in a list."""


def dense(c: Config, *, bias: bool = False) -> Dense:
    """One feed-forward network for all tokens."""
    return Dense(width=c.int("intermediate_size"), bias=bias)


def moe(
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
    """The number of experts that a token is routed to; `key`, its key, must say it, and no more than there are."""
    if active is None:
        c.cannot_run(
            "out-of-range", f"{key} is null, and must be the number of experts for a token.", key, "Correct it."
        )
        return experts
    if active > experts:
        said = f"{key} {active:,} exceeds the number of experts {experts:,}."
        c.cannot_run("out-of-range", said, key, "Correct one of them.", expected=int(experts), observed=int(active))
    return min(active, experts)


def deepseek_moe(c: Config, late: bool = False) -> MoE:
    """Fine-grained experts, routed and shared (arXiv:2401.06066), read from DeepSeek-V3's keys.

    A token uses all experts if num_experts_per_tok is null. With `late` num_experts counts before the other names of
    their number. Source: transformers 5.23, configuration_deepseek_v32.py.
    """
    known = ("n_routed_experts", "num_local_experts", "num_experts")
    experts = ("num_experts",) if late and c.given("num_experts") else known
    active = experts if c.is_null("num_experts_per_tok") else ("num_experts_per_tok",)
    return moe(c, "moe_intermediate_size", experts=experts, active=active, shared=("n_shared_experts",))


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


def gated_moe(c: Config) -> MoE:
    """Routed experts, and a shared one whose output is scaled by a gate."""
    routed = moe(c, "moe_intermediate_size")
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
    kinds: list[tuple[Indices, MoE | Dense]] = [
        (routed, sparse()),
        (spared if step == 1 and not has_key(step) else every.difference(routed), dense),
    ]
    return [Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn)) for indices, ffn in kinds if indices.count]
