"""Inkling's language model: attention with relative positions, short convolutions around it, and balanced experts."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, rms_norm, stack, swiglu, with_head
from hfcount.parts.layers import altered
from hfcount.parts.relative import relative, spread
from hfcount.parts.sparse import joint_moe
from hfcount.spec import GQA, Dense, Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("inkling_text",)


def spec(c: Config) -> Spec:
    every = Indices.below(keys.layer_count(c))
    kernel = c.int("conv_kernel_size", "sconv_kernel_size")

    def attention(prefix: str) -> GQA:
        """Four convolutions: over keys, over values, behind attention and behind the network."""
        mixer = keys.prefixed_attention(c, prefix)
        inputs = 2 * mixer.kv_heads * mixer.head_dim + 2 * c.int("hidden_size")
        return mixer.but(convolved=int(inputs) * (kernel - 1))

    full = Layer(mixer=attention(""), traits={"extent": c.int("rel_extent")})
    local = Layer(mixer=attention("swa_"), traits={"extent": c.int("sliding_window_size")})

    def global_ones() -> Indices:
        ids = keys.numbered(c, "local_layer_ids")
        return every.difference(ids) if ids.count else Indices.of(range(5, max(5, int(every.count)), 6))

    mixers = keys.of_two(c, {"hybrid": full, "hybrid_sliding": local}, global_ones)
    first, rest = keys.dense_and_sparse(c, "dense_mlp_idx", default=0)
    # Earlier configs call the width of the experts intermediate_size, and that of the dense layers otherwise.
    wide = c.int("dense_intermediate_size", default=None)
    width = "intermediate_size" if wide else "moe_intermediate_size"

    def sparse() -> Layer:
        return Layer(ffn=keys.moe(c, width, experts=("n_routed_experts",), shared=("n_shared_experts",)))

    dense = (first, lambda: Layer(ffn=Dense(width=wide or c.int("intermediate_size"))))
    traits = {"d_rel": c.int("d_rel"), "conv_kernel_size": kernel}
    layers = keys.crossed(mixers, keys.split(c, dense, (rest, sparse)))
    kind, near = "hybrid_sliding", lambda: keys.other_than(c, global_ones())
    windows = keys.sliding(c, near, key="sliding_window_size", kind=kind)
    whole = keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), traits=traits, windows=windows)
    return whole.but(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    d, rel, kernel = s.hidden, s.traits["d_rel"], s.traits["conv_kernel_size"]

    def network(one: Layer) -> Block:
        if isinstance(one.ffn, MoE):
            return joint_moe(d, one.ffn)
        return altered(swiglu(d, one.dense.width), global_scale=Tensor((1,)))

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=relative(d, one.attention, rel, one.traits["extent"], kernel),
            attn_sconv=spread(d, kernel),
            post_attention_layernorm=rms_norm(d),
            mlp=network(one),
            mlp_sconv=spread(d, kernel),
        )

    table = altered(embedding(s.vocab, d), embed_norm=rms_norm(d))
    return with_head(s, block(embed_tokens=table, layers=stack(s.layers, layer), norm=rms_norm(d)))
