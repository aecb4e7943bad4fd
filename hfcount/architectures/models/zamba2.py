"""Zamba2: Mamba-2, and blocks of attention that some layers share, with adapters of their own (arXiv:2411.15242)."""

from hfcount.architectures import keys
from hfcount.architectures.components.shared import SharedBlock, hybrid, owned, shared_block, stored_block
from hfcount.architectures.layers import altered, embedding, fused_swiglu, rms_norm, stack, with_head
from hfcount.architectures.layers.mixers import mamba2
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import SSM, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("zamba2",)  # transformers 5.23: modeling_zamba2.py


class Zamba2(Sizes):
    """Sizes specific to Zamba2.

    Args:
        attention_hidden_size: elements of states and embeddings together, which its attention reads.
        sharing: how many layers use shared blocks.
    """

    attention_hidden_size: int = derived(lambda c: c.int("attention_hidden_size", default=2 * c.int("hidden_size")))
    use_shared_attention_adapter: bool = flag(absent=False)
    adapter_rank: int = size()
    num_mem_blocks: int = size()
    sharing: int = derived(lambda c: len(c.ints("hybrid_layer_ids", default=keys.hybrids(c) or [])))


def spec(c: Config) -> Spec[Zamba2]:
    hidden, heads, inner = c.int("hidden_size"), c.int("n_mamba_heads"), keys.expanded(c, "mamba_expand")
    keys.divides(c, "n_mamba_heads", heads, "hidden_size · mamba_expand", inner, built=True)
    bias = c.bool("add_bias_linear", default=False)
    kernel, groups = c.int("mamba_d_conv"), c.int("mamba_ngroups")
    ssm = SSM(inner=inner, state=c.int("mamba_d_state"), kernel=kernel, heads=heads, groups=groups, bias=bias)
    ffn = Dense(width=c.int("intermediate_size", default=4 * hidden), bias=bias)
    hybrids = keys.hybrids(c) or Indices.below(0)
    given = list(hybrids)
    blocks = min(c.int("num_mem_blocks"), len(given))
    layer = Layer(mixer=ssm, parallel_mixer=keys.wide_attention(c), ffn=ffn)
    tied = c.bool("tie_word_embeddings", default=True)  # untied, each layer has a block of its own
    owners = [Indices.fixed(given[place]) if tied else Indices.of(given[place::blocks]) for place in range(blocks)]
    layers = owned(c, layer, owners, hybrids.difference(*owners) if tied else Indices.below(0))
    sizes = Zamba2.read(c)
    kinds = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, tied=True, heads=kinds).having(sizes)


def blueprint(s: Spec[Zamba2]) -> Block:
    d, wide, rank = s.hidden, s.own.attention_hidden_size, s.own.adapter_rank

    def adapters(stored: SharedBlock, inputs: int, outputs: int) -> Repeat:
        """One of low rank for each layer that shares the block."""
        places = Indices.of(range(stored.number - 1, s.own.sharing, s.own.num_mem_blocks))
        return Repeat(places, Block({"0": Linear(inputs, rank), "1": Linear(rank, outputs)}, repeats=1))

    def shared(layer: Layer, stored: SharedBlock) -> Block:
        letters = "qkv" if s.own.use_shared_attention_adapter else ""
        lists = {f"linear_{letter}_adapter_list": adapters(stored, wide, wide) for letter in letters}
        gated, further = (
            fused_swiglu(d, layer.dense.width, layer.dense.bias),
            adapters(stored, d, 2 * layer.dense.width),
        )
        made = shared_block(d, wide, layer, altered(gated, gate_up_proj_adapter_list=further), **lists)
        return stored_block(s, layer, "shared_transformer", made)

    def layer_block(layer: Layer) -> Block:
        stored = {"shared_transformer": shared(layer, layer.own)} if isinstance(layer.own, SharedBlock) else {}
        return hybrid(d, layer, mamba2(d, layer.ssm), stored)

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=rms_norm(d))
    return with_head(s, body)
