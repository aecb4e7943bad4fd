"""Kimi Linear, and Kimi K3's language model: Kimi Delta Attention and latent attention, experts (arXiv:2510.26692)."""

from collections.abc import Mapping

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    base,
    mla,
    network,
    numbered_swiglu,
    pre_norm,
    predicting,
    rms_norm,
    shared_moe,
    with_head,
)
from hfcount.architectures.layers.conversions import BLOCK_SPARSE, CONVOLUTION, W_EXPERTS
from hfcount.architectures.layers.mixers import kimi_delta
from hfcount.architectures.layers.prediction import spared
from hfcount.mapper import Config, Sizes
from hfcount.spec import MLA, DeltaNet, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor

# transformers 5.23: modeling_kimi_linear.py
# and, for Kimi K3, kimi_k3.py of ml-explore/mlx-lm 0.32.2 and of sgl-project/sglang 0.5.23; for its layers that predict
# further tokens, models/kimi_k3/nvidia/mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("kimi_linear", "kimi_k3_text")
IGNORED = (
    "activation_situ_beta",
    "activation_situ_linear_beta",
    "gate_lower_bound",
    "mla_use_nope",
    "moe_renormalize",
    "num_expert_group",
)
SPELLINGS = BLOCK_SPARSE | {r"self_attn\.(f_[ab]_proj\.|dt_bias$|A_log$)": r"self_attn.forget_gate.\1"}
MERGED = W_EXPERTS | CONVOLUTION


class KimiK3(Sizes):
    """What Kimi K3 has beside Kimi Linear: gates, narrower experts, and residuals that attend to earlier ones."""

    whole_gates: bool = False
    output_gate: bool = False
    routed: int | None = None
    routed_norm: bool = False
    residual: bool = False


def _third(c: Config) -> KimiK3:
    width, block = c.int("routed_expert_hidden_size", default=None), c.int("attn_res_block_size", default=None)
    return KimiK3(
        whole_gates=(c.sub("linear_attn_config") or c).bool("use_full_rank_gate", default=False),
        output_gate=c.bool("mla_use_output_gate", default=False),
        routed=None if width is None else keys.dim("d_l", width),
        routed_norm=c.bool("latent_moe_use_norm", default=False),
        residual=block is not None,
    )


def spec(c: Config) -> Spec[KimiK3]:
    part = c.sub("linear_attn_config") or c
    inner = ("num_heads", "head_dim", "short_conv_kernel_size")
    outer = ("linear_num_heads", "linear_head_dim", "linear_conv_kernel_dim")
    heads, width, kernel = map(part.int, outer if part is c else inner)
    linear = DeltaNet(key_heads=heads, value_heads=heads, key_dim=width, value_dim=width, kernel=kernel)
    listed = keys.kinds(c) or _listed(c, part)
    usual = Indices.span(4, max(4, keys.layer_count(c)), 4)
    mixers = keys.mixed(c, keys.mla(c), linear, listed, usual, "linear_attention")
    active, shared = ("num_experts_per_token", "num_experts_per_tok"), ("num_shared_experts", "n_shared_experts")

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", active=active, shared=shared)

    def full(layers: list[Layers], ahead: Mapping[str, Spec]) -> Spec:
        return keys.decoder_spec(c, keys.combined(mixers, layers), heads=("ForCausalLM", "Model"), parts=ahead)

    if c.family == "kimi_k3_text":
        ahead = keys.mtp(c, lambda: Layer(mixer=keys.mla(c), ffn=experts()))
        return full(keys.networks(c, keys.dense_and_stepped(c), experts), ahead).having(_third(c))
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    # The head is its own, whatever the config says.
    return full(keys.networks(c, places, experts), {}).replace(tied=False).having(KimiK3())


def _listed(c: Config, part: Config) -> list[str]:
    full, linear = part.ints("full_attn_layers"), part.ints("kda_layers")  # counted from 1
    kinds = dict.fromkeys(full, "full_attention") | dict.fromkeys(linear, "linear_attention")
    if kinds and sorted(kinds) != list(range(1, len(full) + len(linear) + 1)):
        text = "full_attn_layers and kda_layers must together name each layer once, from 1 on."
        raise c.error("list-length", text, "full_attn_layers")
    return [kinds[number] for number in sorted(kinds)]


def blueprint(s: Spec[KimiK3]) -> Block:
    d, third = s.hidden, s.family == "kimi_k3_text"

    def layer_block(layer: Layer) -> Block:
        mixer, sparse = layer.mixer, not third or isinstance(layer.ffn, MoE)
        linear = _linear(d, mixer, s.own, third) if isinstance(mixer, DeltaNet) else None
        attention = linear or _latent(d, layer.latent, s.own)
        ffn = network(d, layer, lambda m: _sparse(d, m, s.own))
        body = pre_norm(d, self_attn=attention, **{"block_sparse_moe" if sparse else "mlp": ffn})
        residual = _residual(d, s.own, "self_attention", "mlp")
        if not layer.mtp:
            return altered(body, **residual)
        # A layer that predicts has no earlier ones to attend to, and reads what a checkpoint has of that no more.
        return predicting(s, layer, altered(body, **{name: spared(node) for name, node in residual.items() if node}))

    return with_head(s, altered(base(s, layer_block), **_residual(d, s.own, "output_attn")))


def _linear(d: int, a: DeltaNet, of: KimiK3, third: bool) -> Block:
    """Kimi Delta Attention; in Kimi K3 A_log has as many entries as a head has elements, of which loaders take h."""
    gates: dict[str, Node | None] = {}
    if of.whole_gates:
        gates = {"g_a_proj": None, "g_b_proj": None, "g_proj": Linear(d, a.key_heads * a.key_dim)}
    if third:
        gates["A_log"] = Tensor((a.key_dim,))
    return altered(kimi_delta(d, a), **gates)


def _latent(d: int, a: MLA, of: KimiK3) -> Block:
    return altered(mla(d, a), g_proj=Linear(d, a.heads * a.value_dim) if of.output_gate else None)


def _sparse(d: int, m: MoE, of: KimiK3) -> Block:
    """Balanced experts and a shared one; routed ones read and write `routed` elements, if given."""
    narrow = of.routed
    routed = shared_moe(
        d, m.replace(shared=m.shared or None), balanced=True, expert=numbered_swiglu(narrow or d, m.width, "experts")
    )
    if narrow is None:
        return routed
    return altered(
        routed,
        routed_expert_down_proj=Linear(d, narrow, component="mlp"),
        routed_expert_up_proj=Linear(narrow, d, component="mlp"),
        routed_expert_norm=rms_norm(narrow) if of.routed_norm else None,
    )


def _residual(d: int, of: KimiK3, *places: str) -> dict[str, Node | None]:
    """Scores of the residuals at the ends of earlier blocks of layers: a norm and a projection to one score each."""
    if not of.residual:
        return {}
    norms: dict[str, Node | None] = {f"{place}_res_norm": rms_norm(d) for place in places}
    return norms | {f"{place}_res_proj": Linear(d, 1, component="other") for place in places}
