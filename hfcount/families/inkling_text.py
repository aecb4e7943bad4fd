"""Inkling's language model: attention with relative positions, short convolutions around it, and balanced experts."""

from hfcount import keys
from hfcount.components.inkling import Inkling, Reach, released
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, joint_moe, rms_norm, stack, swiglu, with_head
from hfcount.parts.attention import relative, spread
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("inkling_text",)  # transformers 5.23: modeling_inkling.py


def spec(c: Config) -> Spec[Inkling]:
    every, kernel = Indices.below(keys.layer_count(c)), c.int("conv_kernel_size", "sconv_kernel_size")

    def attention(prefix: str) -> GQA:
        mixer = keys.prefixed_attention(c, prefix)
        # Convolutions over keys and values, and over what attention and the network give.
        inputs = 2 * mixer.kv_heads * mixer.head_dim + 2 * c.int("hidden_size")
        return mixer.replace(conv_cache=int(inputs) * (kernel - 1))

    full = Layer(mixer=attention(""), own=Reach(extent=c.int("rel_extent"), full=True))
    local = Layer(mixer=attention("swa_"), own=Reach(extent=c.int("sliding_window_size"), full=False))

    def full_ones() -> Indices:
        ids = keys.numbered(c, "local_layer_ids")
        return every.difference(ids) if ids.count else Indices.span(5, max(5, every.count), 6)

    mixers = keys.of_two(c, {"hybrid": full, "hybrid_sliding": local}, full_ones)
    # Earlier configs call the width of the experts intermediate_size, and that of the dense layers otherwise.
    names = ("intermediate_size", "moe_intermediate_size")
    wide, width = ("dense_intermediate_size", names[0]) if c.int("dense_intermediate_size", default=0) else names

    def experts() -> MoE:
        return keys.moe(c, width, experts=("n_routed_experts",), shared=("n_shared_experts",))

    own, heads = Inkling.read(c, conv_kernel_size=kernel), ("ForCausalLM", "Model")
    layers = keys.networks(c, keys.dense_and_sparse(c, "dense_mlp_idx", default=0), experts, width=wide)
    windows = keys.sliding(c, lambda: keys.other_than(c, full_ones()), key="sliding_window_size", kind="hybrid_sliding")
    whole = keys.decoder_spec(c, keys.combined(mixers, layers), heads=heads, windows=windows)
    return whole.replace(tied=False).having(own)  # the head is its own, whatever the config says


def blueprint(s: Spec[Inkling]) -> Block:
    if s.place:
        return released(s)
    d, rel, kernel = s.hidden, s.own.d_rel, s.own.conv_kernel_size
    table = altered(embedding(s.vocab, d), embed_norm=rms_norm(d))

    def layer(one: Layer) -> Block:
        sparse = joint_moe(d, one.ffn) if isinstance(one.ffn, MoE) else None
        return block(
            input_layernorm=rms_norm(d),
            self_attn=relative(d, one.attention, rel, one.sizes(Reach).extent, kernel),
            attn_sconv=spread(d, kernel),
            post_attention_layernorm=rms_norm(d),
            mlp=sparse or altered(swiglu(d, one.dense.width), global_scale=Tensor((1,))),
            mlp_sconv=spread(d, kernel),
        )

    return with_head(s, block(embed_tokens=table, layers=stack(s.layers, layer), norm=rms_norm(d)))
