"""Inkling's language model: attention with relative positions, short convolutions around it, and balanced experts."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, MoE, Spec
from hfcount.tree.block import Block, Linear, Tensor, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import correction_bias, embedding, gqa, rms_norm, stack, stacked, swiglu, with_head
from hfcount.tree.parts.mixers import conv1d
from hfcount.tree.parts.variants import altered

MODEL_TYPES = ("inkling_text",)


def spec(c: Config) -> Spec:
    every = Indices.upto(keys.layer_count(c))
    full, local = _attention(c, "", "rel_extent"), _attention(c, "swa_", "sliding_window_size")
    if given := c.strs("layer_types"):
        mixers = keys.by_kind(c, {"hybrid": full, "hybrid_sliding": local}, given)
    else:
        ids = common(Indices.of(c.ints("local_layer_ids")), every)
        places = every.less(ids) if ids.count else Indices.of(range(5, max(5, int(every.count)), 6))
        mixers = keys.split(c, (places, lambda: full), (every.less(places), lambda: local))
    first, rest = keys.dense_and_sparse(c, "dense_mlp_idx", default=0)
    # Earlier configs call the width of the experts intermediate_size, and that of the dense layers otherwise.
    wide = c.int("dense_intermediate_size", default=None)
    width = "intermediate_size" if wide else "moe_intermediate_size"

    def sparse() -> Layer:
        return Layer(ffn=keys.moe(c, width, experts=("n_routed_experts",), shared=("n_shared_experts",)))

    dense = (first, lambda: Layer(ffn=Dense(width=wide or c.int("intermediate_size"))))
    extras = {"d_rel": c.int("d_rel"), "conv_kernel_size": c.int("conv_kernel_size", "sconv_kernel_size")}
    layers = keys.crossed(mixers, keys.split(c, dense, (rest, sparse)))
    whole = keys.frame(c, layers, heads=("ForCausalLM", "Model"), extras=extras)
    return whole.model_copy(update={"tied": False})  # the head is its own, whatever the config says


def _attention(c: Config, prefix: str, extent: str) -> Layer:
    heads, kv_heads = c.int(f"{prefix}num_attention_heads"), c.int(f"{prefix}num_key_value_heads")
    keys.divides(c, f"{prefix}num_key_value_heads", kv_heads, f"{prefix}num_attention_heads", heads)
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int(f"{prefix}head_dim"), qk_norm=True)
    return Layer(mixer=mixer, extras={"extent": c.int(extent)})


def blueprint(s: Spec) -> Block:
    d, rel, kernel = s.hidden, s.extras["d_rel"], s.extras["conv_kernel_size"]

    def convolution(channels: int) -> Block:
        return block("attention", conv1d=conv1d(channels, kernel))

    def attention(one: Layer) -> Block:
        a = one.attention
        return altered(
            gqa(d, a),
            r_proj=Linear(d, a.heads * rel),
            k_sconv=convolution(a.kv_heads * a.head_dim),
            v_sconv=convolution(a.kv_heads * a.head_dim),
            rel_logits_proj=block(proj=Tensor((rel, one.extras["extent"]))),
        )

    def sparse(m: MoE) -> Block:
        count = (m.shared or 0) // m.width
        up, down = Tensor((count, m.width, d)), Tensor((count, d, m.width))
        return block(
            gate=block(
                "router",
                weight=Tensor((m.experts + count, d)),
                global_scale=Tensor((1,)),
                e_score_correction_bias=correction_bias(m),
            ),
            experts=block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            shared_experts=block("mlp", gate_proj=up, up_proj=up, down_proj=down),
        )

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        dense = None if isinstance(ffn, MoE) else altered(swiglu(d, one.dense.width), global_scale=Tensor((1,)))
        return block(
            input_layernorm=rms_norm(d),
            self_attn=attention(one),
            attn_sconv=convolution(d),
            post_attention_layernorm=rms_norm(d),
            mlp=sparse(ffn) if isinstance(ffn, MoE) else dense,
            mlp_sconv=convolution(d),
        )

    table = altered(embedding(s.vocab, d), embed_norm=rms_norm(d))
    return with_head(s, block(embed_tokens=table, layers=stack(s.layers, layer), norm=rms_norm(d)))
