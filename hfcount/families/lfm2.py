"""LFM2, dense or with routed experts: gated short convolutions and some attention (arXiv:2511.23404)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, MoE, ShortConv, Spec
from hfcount.tree.block import Block, Tensor, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import embedding, gqa, moe, rms_norm, stack, with_head
from hfcount.tree.parts.ffn import numbered_swiglu
from hfcount.tree.parts.mixers import short_conv
from hfcount.tree.parts.variants import altered

MODEL_TYPES = ("lfm2", "lfm2_moe")


def spec(c: Config) -> Spec:
    routed, count = c.family == "lfm2_moe", keys.layer_count(c)
    conv = ShortConv(kernel=c.int("conv_L_cache"), bias=c.bool("conv_bias", default=False))
    kinds = {"full_attention": Layer(mixer=keys.attention(c)), "conv": Layer(mixer=conv)}
    if given := c.strs("layer_types"):
        mixers = keys.by_kind(c, kinds, given)
    else:
        full, every = Indices.of(c.ints("full_attn_idxs")), Indices.upto(count)
        full = common(full, every) if full.count else every
        rest = (every.less(full), lambda: kinds["conv"])
        mixers = keys.split(c, (full, lambda: kinds["full_attention"]), rest)
    first = Indices.upto(min(count, c.int("num_dense_layers", minimum=0)) if routed else count)
    sparse = Indices.of(range(int(first.count), count))

    def experts() -> Layer:
        return Layer(ffn=keys.moe(c, "moe_intermediate_size"))

    networks = keys.split(c, (first, lambda: Layer(ffn=Dense(width=_width(c, routed)))), (sparse, experts))
    balanced = routed and c.bool("use_expert_bias", default=True)
    tied = c.bool("tie_embedding", default=None)
    whole = keys.frame(c, keys.crossed(mixers, networks), tied=True, heads=("ForCausalLM", "Model"))
    update = {"extras": {"use_expert_bias": int(balanced)}, "tied": whole.tied if tied is None else tied}
    return whole.model_copy(update=update)


def _width(c: Config, exact: bool) -> int:
    """The width, which the dense models scale and round up to a multiple (as LLaMA's first code did)."""
    if exact:
        return c.int("intermediate_size")
    width = c.int("block_ff_dim", default=None) or c.int("intermediate_size")
    if not c.bool("block_auto_adjust_ff_dim", default=True):
        return width
    width = int(2 * width / 3)
    factor, multiple = c.number("block_ffn_dim_multiplier", default=1), c.int("block_multiple_of", default=256)
    return -(-int(factor * width) // multiple) * multiple


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        bias = Tensor((m.experts,), "buffer", role="router") if s.extras["use_expert_bias"] else None
        return altered(moe(d, m, numbered_swiglu(d, m.width, "experts")), expert_bias=bias)

    def layer(one: Layer) -> Block:
        mixer, ffn = one.mixer, one.ffn
        conv = short_conv(d, mixer) if isinstance(mixer, ShortConv) else None
        return block(
            operator_norm=rms_norm(d),
            conv=conv,
            self_attn=None if conv else attention(one),
            ffn_norm=rms_norm(d),
            feed_forward=sparse(ffn) if isinstance(ffn, MoE) else numbered_swiglu(d, one.dense.width),
        )

    def attention(one: Layer) -> Block:
        a = one.attention
        norms = {"q_layernorm": rms_norm(a.head_dim), "k_layernorm": rms_norm(a.head_dim)}
        return altered(gqa(d, a, out="out_proj"), **norms)

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer),
        embedding_norm=rms_norm(d),
    )
    return with_head(s, body)
