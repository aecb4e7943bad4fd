"""Hymba: attention and Mamba read one projection side by side, and tokens of memory come first (arXiv:2411.13676)."""

from collections.abc import Sequence
from typing import Any

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import conv1d
from hfcount.errors import ConfigError
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import GQA, SSM, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_hymba.py of nvidia/Hymba-1.5B-Base, and configuration_hymba.py beside it
MODEL_TYPES = ("hymba",)
IGNORED = tuple(
    "attn_implementation attn_implementation_new calc_logits_for_entire_prompt conv_dim"
    " kv_weight_reuse layer_type memory_tokens_interspersed_every num_experts num_experts_per_tok num_mamba"
    " orig_max_position_embeddings rope rope_type v_head_dim".split()
)


class Hymba(Sizes):
    """Sizes specific to Hymba: tokens of memory, norms of keys and queries, and how its networks are gated."""

    memory: int = size("n_m", "num_memory_tokens", absent=0, minimum=0)
    normed: str = derived(lambda c: c.choice("kq_norm", ("none", "rms", "perhead-rms")))
    normed_width: int | None = derived(lambda c: _normed_width(c))
    gated: bool = derived(lambda c: c.choice("mlp_hidden_act", ("silu", "relu2")) == "silu")
    inner_norms: bool = flag("mamba_inner_layernorms", absent=True)
    network: bool = derived(lambda c: c.int("intermediate_size", minimum=0) > 0)


def _normed_width(c: Config) -> int | None:
    given = c.int("kq_head_dim", default=-1, minimum=-1)
    return keys.dim("h_n", given) if given > 0 else None


def spec(c: Config) -> Spec[Hymba]:
    mixer, sizes = keys.attention(c, derived=True, indivisible="refused"), Hymba.read(c)
    inner, hidden = c.int("attn_hidden_size", default=-1, minimum=-1), c.int("hidden_size")
    if inner > 0 and inner != hidden:
        text = f"attn_hidden_size is {inner:,}, and hidden_size {hidden:,}, which attention shares."
        raise c.error("contradiction", text, "attn_hidden_size", "Correct one of them.")
    ssm = SSM(
        inner=keys.expanded(c, "mamba_expand", default=2),
        state=c.int("mamba_d_state", default=16),
        kernel=c.int("mamba_d_conv", default=4),
        step_rank=keys.step_rank(c, "mamba_dt_rank"),
        conv_bias=c.bool("mamba_conv_bias", default=True),
        bias=c.bool("mamba_proj_bias", default=False),
    )
    mixer = mixer.replace(value_dim=keys.divides(c, "num_attention_heads", mixer.heads, "the inner width", ssm.inner))
    _check_rounding(c, mixer)
    network = keys.dense(c) if sizes.network else None
    layer = Layer(mixer=mixer, parallel_mixer=ssm, ffn=network)
    every = Indices.below(keys.layer_count(c))
    reading = _reading(c, int(every.count))
    layers = keys.split((every.difference(reading), lambda: layer), (reading, lambda: layer.replace(shares_kv=True)))
    window = keys.extent(c, "sliding_window")
    near = every.difference(keys.numbered(c, "global_attn_idx"))
    why = "each sequence begins with tokens of memory, which the cache keeps as well" if sizes.memory else ""
    windows = keys.within(near, window) if window else ()
    heads = ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layers, heads=heads, windows=windows, uncounted=why).having(sizes)


def _check_rounding(c: Config, a: GQA) -> None:
    """Refuses keys and values that the implementation, which divides first, rounds down below a whole head."""
    part = a.kv_heads / a.heads * c.int("hidden_size")
    made = int(part), int(part * c.number("mamba_expand", default=2))
    wanted = a.kv_heads * a.head_dim, a.kv_heads * (a.value_dim or 0)
    if made != tuple(map(int, wanted)):
        text = f"num_key_value_heads / num_attention_heads · hidden_size makes {made[0]:,} keys and {made[1]:,} values,"
        fix = "Choose numbers of heads whose quotient is exact."
        raise c.error("not-divisible", f"{text} of {wanted[0]:,} and {wanted[1]:,}.", "num_key_value_heads", fix)


def _reading(c: Config, count: int) -> Indices:
    """The layers that read the keys and values of an earlier one."""
    step = c.int("kv_reuse_every_i_layer", default=-1, minimum=-1)
    if c.given("kv_reuse_group"):
        groups: Sequence[Any] = c.entries("kv_reuse_group")
        if not all(
            isinstance(group, list) and group and all(type(number) is int for number in group) for group in groups
        ):
            raise _misshapen(c)
        places = {number for group in groups for number in group[1:] if 0 <= number < count}
        return Indices.of(sorted(places))
    return Indices.of(number for number in range(count) if number % step) if step > 0 else Indices.below(0)


def _misshapen(c: Config) -> ConfigError:
    text = "kv_reuse_group must be a list of groups of layers, of which the first makes what the others read."
    return c.error("list-length", text, "kv_reuse_group", "Give each group the numbers of its layers.")


def blueprint(s: Spec[Hymba]) -> Block:
    d, of = s.hidden, s.own

    def norm(a: GQA, heads: int) -> Block | None:
        width = a.head_dim if of.normed_width is None else of.normed_width
        if of.normed == "none":
            return None
        return rms_norm(width) if of.normed == "rms" else block("norm", weight=Tensor((1, heads, 1, width)))

    def mixing(a: GQA, m: SSM, reads: bool) -> Block:
        rank, query = m.step_rank or 0, a.heads * a.head_dim
        made = 0 if reads else a.kv_heads * a.head_dim + a.kv_heads * (a.value_dim or 0)
        inside = rms_norm(m.state) if of.inner_norms else None
        return block(
            "ssm",
            self_attn=block("attention", k_norm=norm(a, a.kv_heads), q_norm=norm(a, a.heads)),
            pre_avg_layernorm1=rms_norm(m.inner),
            pre_avg_layernorm2=rms_norm(m.inner),
            in_proj=Linear(d, 2 * m.inner + query + made, m.bias),
            out_proj=Linear(m.inner, d, m.bias),
            conv1d=conv1d(m.inner, m.kernel, m.conv_bias),
            x_proj=Block({"0": Linear(m.inner, rank + 2 * m.state)}),
            dt_proj=Block({"0": Linear(rank, m.inner, bias=True)}),
            A_log=Block({"0": Tensor((m.inner, m.state))}),
            D=Block({"0": Tensor((m.inner,))}),
            dt_layernorm=rms_norm(rank) if of.inner_norms else None,
            B_layernorm=inside,
            C_layernorm=inside,
        )

    def layer_block(layer: Layer) -> Block:
        if not of.network:
            return block(mamba=mixing(layer.attention, layer.ssm, layer.shares_kv), input_layernorm=rms_norm(d))
        network = altered(swiglu(d, layer.dense.width), **({} if of.gated else {"gate_proj": None}))
        return block(
            mamba=mixing(layer.attention, layer.ssm, layer.shares_kv),
            input_layernorm=rms_norm(d),
            moe=block(experts=Block({"0": network})),
            pre_moe_layernorm=rms_norm(d),
        )

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        final_layernorm=rms_norm(d),
        memory_tokens=Tensor((of.memory, d), component="embedding") if of.memory else None,
    )
    return with_head(s, body)
