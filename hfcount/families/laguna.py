"""Laguna: gated attention with its own number of heads in each layer, balanced experts (Laguna model card)."""

from collections.abc import Callable, Iterator
from functools import partial

from hfcount import keys
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.spec import GQA, FeedForward, Layer, MoE, Spec
from hfcount.tree.block import Block, Linear, Tensor, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import decoder, experts, gqa, rms_norm, swiglu

MODEL_TYPES = ("laguna",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    usual = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=width)

    def dense() -> FeedForward:
        return keys.dense(c)

    def sparse() -> FeedForward:
        return keys.moe(c, "moe_intermediate_size").but(shared=c.int("shared_expert_intermediate_size"))

    def kinds(places: Indices, ffn: Callable[[], FeedForward]) -> Iterator[tuple[Indices, Callable[[], Layer]]]:
        for heads, part in _by_heads(c, usual).items():
            mixer = usual.but(heads=heads)
            yield common(part, places), partial(lambda mixer: Layer(mixer=mixer, ffn=ffn()), mixer)

    first, rest = keys.dense_and_sparse(c, default=1)
    layers = keys.split(c, *kinds(first, dense), *kinds(rest, sparse))
    return keys.frame(c, layers, extras={"gate_per_head": int(_per_head(c))})


def _by_heads(c: Config, usual: GQA) -> dict[int, Indices]:
    given, count = c.ints("num_attention_heads_per_layer"), keys.layer_count(c)
    if not given:
        return {usual.heads: Indices.upto(count)}
    if len(given) != count or any(heads < 1 or heads % usual.kv_heads for heads in given):
        raise ConfigError(
            f"{c.where}: num_attention_heads_per_layer has {len(given):,} entries for {count:,} layers; each must be a"
            f" multiple of num_key_value_heads {usual.kv_heads:,}. Correct one of them."
        )
    return {heads: Indices.of(n for n, own in enumerate(given) if own == heads) for heads in sorted(set(given))}


def _per_head(c: Config) -> bool:
    try:
        return c.bool("gating", default=True)
    except ConfigError:
        return c.str("gating") == "per-head"


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        balance = block("router", e_score_correction_bias=Tensor((m.experts,)))
        return Block(
            {
                "gate": Linear(d, m.experts, role="router"),
                "experts": (experts(m, swiglu(d, m.width, role="experts")), balance),
                "shared_expert": swiglu(d, m.shared or 0),
            }
        )

    def layer(one: Layer) -> Block:
        ffn, a = one.ffn, one.attention
        gate = Linear(d, a.heads if s.extras["gate_per_head"] else a.heads * a.head_dim)
        return block(
            input_layernorm=rms_norm(d),
            self_attn=Block({**gqa(d, a).children, "g_proj": gate}, "attention"),
            post_attention_layernorm=rms_norm(d),
            mlp=moe(ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
