"""Zamba2: Mamba-2, and blocks of attention that some layers share, with adapters of their own (arXiv:2411.15242)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, fused_swiglu, rms_norm, stack, with_head
from hfcount.parts.mixers import mamba2
from hfcount.parts.shared import hybrid
from hfcount.spec import SSM, Dense, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("zamba2",)  # transformers 5.23: modeling_zamba2.py


def spec(c: Config) -> Spec:
    hidden, heads, inner = c.int("hidden_size"), c.int("n_mamba_heads"), keys.expanded(c, "mamba_expand")
    keys.divides(c, "n_mamba_heads", heads, "hidden_size · mamba_expand", inner, built=True)
    bias = c.bool("add_bias_linear", default=False)
    kernel, groups = c.int("mamba_d_conv"), c.int("mamba_ngroups")
    ssm = SSM(inner=inner, state=c.int("mamba_d_state"), kernel=kernel, heads=heads, groups=groups, bias=bias)
    ffn = Dense(width=c.int("intermediate_size", default=4 * hidden), bias=bias)
    given = keys.hybrids(c) or []
    blocks = min(c.int("num_mem_blocks"), len(given))
    one = Layer(mixer=ssm, parallel_mixer=keys.wide_attention(c), ffn=ffn)
    tied = c.bool("tie_word_embeddings", default=True)  # untied, each layer has a block of its own
    owners = [Indices.of(given[place : place + 1] if tied else given[place::blocks]) for place in range(blocks)]
    layers = keys.owned(c, one, owners, Indices.of(given[blocks:] if tied else []))
    traits = {
        "attention_hidden_size": c.int("attention_hidden_size", default=2 * hidden),
        "adapters": int(c.bool("use_shared_attention_adapter", default=False)),
        "adapter_rank": c.int("adapter_rank"),
        "blocks": c.int("num_mem_blocks"),
        "sharing": len(c.ints("hybrid_layer_ids", default=given)),
    }
    kinds = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, tied=True, heads=kinds, traits=traits)


def blueprint(s: Spec) -> Block:
    d, wide, rank = s.hidden, s.traits["attention_hidden_size"], s.traits["adapter_rank"]

    def adapters(one: Layer, inputs: int, outputs: int) -> Repeat:
        """One of low rank for each layer that shares the block."""
        places = Indices.of(range(one.traits["owns"] - 1, s.traits["sharing"], s.traits["blocks"]))
        return Repeat(places, Block({"0": Linear(inputs, rank), "1": Linear(rank, outputs)}, repeats=1))

    def layer(one: Layer) -> Block:
        if not one.traits.get("owns"):
            return hybrid(s, one, mamba2(d, one.ssm), "shared_transformer", block())
        lists = {f"linear_{letter}_adapter_list": adapters(one, wide, wide) for letter in "qkv" if s.traits["adapters"]}
        width = one.dense.width
        network = altered(fused_swiglu(d, width, one.dense.bias), gate_up_proj_adapter_list=adapters(one, d, 2 * width))
        return hybrid(s, one, mamba2(d, one.ssm), "shared_transformer", network, **lists)

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer), final_layernorm=rms_norm(d))
    return with_head(s, body)
