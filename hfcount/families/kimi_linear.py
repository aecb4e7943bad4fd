"""Kimi Linear: Kimi Delta Attention and latent attention without positions, with experts (arXiv:2510.26692)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, mla, network, numbered_swiglu, pre_norm, shared_moe
from hfcount.parts.conversions import BLOCK_SPARSE, CONVOLUTION, W_EXPERTS
from hfcount.parts.mixers import kimi_delta
from hfcount.spec import DeltaNet, Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block

MODEL_TYPES = ("kimi_linear",)  # transformers 5.23: modeling_kimi_linear.py
IGNORED = ("moe_renormalize", "num_expert_group")
SPELLINGS = BLOCK_SPARSE | {r"self_attn\.(f_[ab]_proj\.|dt_bias$|A_log$)": r"self_attn.forget_gate.\1"}
MERGED = W_EXPERTS | CONVOLUTION


def spec(c: Config) -> Spec:
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

    networks = keys.networks(c, keys.dense_and_sparse(c, "first_k_dense_replace", default=1), experts)
    whole = keys.decoder_spec(c, keys.combined(mixers, networks), heads=("ForCausalLM", "Model"))
    return whole.replace(tied=False)  # the head is its own, whatever the config says


def _listed(c: Config, part: Config) -> list[str]:
    full, linear = part.ints("full_attn_layers"), part.ints("kda_layers")  # counted from 1
    kinds = dict.fromkeys(full, "full_attention") | dict.fromkeys(linear, "linear_attention")
    if kinds and sorted(kinds) != list(range(1, len(full) + len(linear) + 1)):
        said = "full_attn_layers and kda_layers must together name each layer once, from 1 on."
        raise c.error("list-length", said, "full_attn_layers")
    return [kinds[number] for number in sorted(kinds)]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        return shared_moe(d, m, balanced=True, expert=numbered_swiglu(d, m.width, "experts"))

    def layer(one: Layer) -> Block:
        mixer = one.mixer
        return pre_norm(
            d,
            self_attn=kimi_delta(d, mixer) if isinstance(mixer, DeltaNet) else mla(d, one.latent),
            block_sparse_moe=network(d, one, sparse),
        )

    return decoder(s, layer)
