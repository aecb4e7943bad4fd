"""Inkling 2's language model: each part of a layer reads earlier blocks of layers."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import correction_bias, embedding, rms_norm, stack, stacked
from hfcount.parts.inkling import clipped_attention, earlier, spread
from hfcount.parts.release_names import INKLING2_TEXT
from hfcount.spec import GQA, Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("inkling2_text",)  # transformers 5.23: modeling_inkling2.py
IGNORED = ("log_scaling_n_floor", "n_layers_per_attn_res_block", "number_of_conv_states", "unpadded_vocab_size")
SPELLINGS = INKLING2_TEXT


def spec(c: Config) -> Spec:
    kernel, hidden = c.int("conv_kernel_size", "sconv_kernel_size"), c.int("hidden_size")

    def attention(prefix: str) -> GQA:
        mixer = keys.prefixed_attention(c, prefix).but(qk_norm=False)
        # Convolutions over keys and values, and over what attention and the network give.
        return mixer.but(convolved=int(2 * mixer.kv_heads * mixer.head_dim + 2 * hidden) * (kernel - 1))

    ffn, count = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts",)), keys.layer_count(c)
    full = Layer(mixer=attention(""), ffn=ffn, traits={"extent": c.int("rel_extent"), "full": 1})
    local = Layer(mixer=attention("swa_"), ffn=ffn, traits={"extent": c.int("sliding_window_size"), "full": 0})
    places = Indices.span(5, max(5, count), 6)
    layers = keys.of_two(c, {"hybrid": full, "hybrid_sliding": local}, lambda: places)
    windows = keys.sliding(c, lambda: keys.other_than(c, places), key="sliding_window_size", kind="hybrid_sliding")
    traits, heads = {"d_rel": c.int("d_rel"), "conv_kernel_size": kernel}, ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layers, heads=heads, traits=traits, windows=windows).but(tied=False)


def blueprint(s: Spec) -> Block:
    d, rel, kernel, query = s.hidden, s.traits["d_rel"], s.traits["conv_kernel_size"], Tensor((s.hidden,))

    def experts(m: MoE) -> Block:
        packed = block(w13_weight=stacked(m, 2 * m.width, d), w2_weight=stacked(m, d, m.width))
        return block(gate=block("router", weight=Tensor((m.experts, d)), bias=correction_bias(m)), experts=packed)

    def layer(one: Layer) -> Block:
        norm, full = rms_norm(d), bool(one.traits["full"])
        before = [f"{name}_input_norm" for name in "qkv"] if full else ["attn_norm"]
        named = block(
            attn=clipped_attention(d, one, rel, kernel),
            attn_sconv=spread(d, kernel),
            mlp_norm=norm,
            mlp=experts(one.moe),
            mlp_sconv=spread(d, kernel),
        )
        return Block({**dict.fromkeys(before, norm), **named.children})

    queries = block(
        "other",
        attn_queries=earlier(s),
        mlp_queries=Repeat(Indices.below(s.depth), query),
        output_query=query,
    )
    table, norm = embedding(s.vocab, d), rms_norm(d)
    body = block(embed=table, embed_norm=norm, layers=stack(s.layers, layer), norm=norm, attn_res=queries)
    if s.head == "base":
        return body
    head = Linear(d, s.vocab, component="lm_head")
    return block(model=block(llm=Block({**body.children, "unembed": head})))
