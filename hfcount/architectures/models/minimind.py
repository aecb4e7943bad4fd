"""MiniMind, in three forms: LLaMA with the names of 2023, with today's, and with normalised queries and keys."""

from math import ceil, pi

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    embedding,
    gqa,
    lm_head,
    moe,
    network,
    pre_norm,
    rms_norm,
    stack,
    swiglu,
)
from hfcount.architectures.layers.composite import renamed
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, MoE, Spec
from hfcount.spec.tree.dims import round_up, stated
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

# model.py of jingyaogong/minimind until April 2025, and its model_minimind.py of then and of March 2026
MODEL_TYPES = ("minimind",)
IGNORED = tuple(
    "aux_loss_alpha flash_attn max_seq_len inference_rope_scaling multiple_of norm_eps"
    " scoring_func moe_intermediate_size num_experts_per_tok n_routed_experts num_experts n_shared_experts".split()
)
CLASSES = ("MiniMindLM",)

_HEADS = keys.named(("ForCausalLM",), LM="causal_lm")
_EARLY = {
    ".embed_tokens": "tok_embeddings",
    ".lm_head": "output",
    "layers.self_attn": "attention",
    "layers.mlp": "feed_forward",
    "layers.input_layernorm": "attention_norm",
    "layers.post_attention_layernorm": "ffn_norm",
    **{f"self_attn.{letter}_proj": f"w{letter}" for letter in "qkvo"},
    **{
        f"{parent}.{name}_proj": number
        for parent in ("mlp", "experts", "shared_experts")
        for name, number in (("gate", "w1"), ("down", "w2"), ("up", "w3"))
    },
}
"""The names of the first form."""


class Minimind(Sizes):
    """Sizes specific to MiniMind: whether it is of the first form, and how many experts every token uses."""

    early: bool
    shared: int


def spec(c: Config) -> Spec[Minimind]:
    early = c.given("dim") and not c.given("hidden_size")
    late = not early and not c.given("n_routed_experts")  # which the second form always writes
    d, heads = c.int("hidden_size", "dim"), c.int("num_attention_heads", "n_heads")
    few = ("num_key_value_heads", "n_kv_heads")
    kv_heads = heads if any(map(c.is_null, few)) else c.int(*few)
    keys.grouped(c, heads, kv_heads)
    each = c.int("head_dim", default=None) if late else None
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=each or d // heads, qk_norm=late)
    width, routed = _width(c, d, early, late), c.bool("use_moe", default=False)
    ffn = _experts(c, width, late) if routed else Dense(width=width)
    layers = keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c, "num_hidden_layers", "n_layers"))
    model = keys.decoder_spec(c, layers, tied=True, heads=_HEADS, hidden=d)
    shared = 0 if late or not routed else _shared(c, early)
    # The earlier forms share the tensor whatever the config says.
    return model.replace(tied=model.tied or not late).having(Minimind.read(c, early=early, shared=shared))


def _width(c: Config, d: int, early: bool, late: bool) -> int:
    key = "hidden_dim" if early else "intermediate_size"
    if c.given(key):
        return c.int(key)
    if late:
        return keys.derived_dim(c, "d_ff", ceil(d * pi / 64) * 64, "{hidden_size} · π, rounded up to 64")
    if early:
        step = c.int("multiple_of", default=64)
        made = round_up(8 * int(d) // 3, int(step))
        return keys.derived_dim(c, "d_ff", made, f"8 · {{dim}} / 3, rounded down, rounded up to {stated(step)}")
    return keys.derived_dim(
        c, "d_ff", round_up(8 * int(d) // 3, 64), "8 · {hidden_size} / 3, rounded down, rounded up to 64"
    )


def _shared(c: Config, early: bool) -> int:
    """How many experts every token uses: of the first form one, unless the key is null."""
    if early:
        return int(not c.is_null("n_shared_experts"))
    return keys.dim("n_s", c.int("n_shared_experts", default=1, minimum=0))


def _experts(c: Config, width: int, late: bool) -> MoE:
    among = c.int("num_experts", default=4) if late else c.int("n_routed_experts", default=4)
    chosen = c.int("num_experts_per_tok", default=1 if late else 2)
    each = c.int("moe_intermediate_size", default=width) if late else width
    return MoE(experts=among, active=keys.at_most(c, "num_experts_per_tok", chosen, among), width=each)


def blueprint(s: Spec[Minimind]) -> Block:
    d, of = s.hidden, s.own

    def experts(m: MoE) -> Block:
        routed = moe(d, m, swiglu(d, m.width, component="experts"))
        every = swiglu(d, m.width)
        shared = every if of.early else Repeat(Indices.below(of.shared), every)
        return altered(routed, shared_experts=shared if of.shared else None)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=altered(gqa(d, layer.attention), rotary_emb=None), mlp=network(d, layer, experts))

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if of.early:
        return renamed(altered(body, lm_head=lm_head(s, "tok_embeddings.weight")), _EARLY)
    return block(model=body, lm_head=lm_head(s, "model.embed_tokens.weight"))
