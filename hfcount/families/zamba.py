"""Zamba: Mamba, and one block of attention that some layers share (arXiv:2405.16712)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, rms_norm, stack, swiglu, with_head
from hfcount.parts.mixers import zamba
from hfcount.parts.shared import hybrid
from hfcount.spec import SSM, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("zamba",)  # transformers 5.23: modeling_zamba.py


def spec(c: Config) -> Spec:
    heads, inner = c.int("n_mamba_heads"), keys.expanded(c, "mamba_expand")
    keys.divides(c, "n_mamba_heads", heads, "hidden_size · mamba_expand", inner, built=True)
    ssm = SSM(
        inner=inner,
        state=c.int("mamba_d_state"),
        kernel=c.int("mamba_d_conv"),
        heads=heads,
        step_rank=keys.step_rank(c, "mamba_dt_rank"),
        conv_bias=c.bool("mamba_conv_bias", default=True),
        bias=c.bool("mamba_proj_bias", default=False),
    )
    one = Layer(mixer=ssm, parallel_mixer=keys.wide_attention(c), ffn=keys.dense(c))
    first, later = _attending(c)
    shared = c.bool("tie_word_embeddings", default=True)  # untied, each layer has a block of its own
    layers = keys.owned(c, one, [first] if shared else [first, later], later if shared else Indices.below(0))
    wide = c.int("attention_hidden_size", default=2 * c.int("hidden_size"))
    kinds = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, tied=True, heads=kinds, traits={"attention_hidden_size": wide})


def _attending(c: Config) -> tuple[Indices, Indices]:
    """The first layer with attention, and the others: the third, and one of each period from the fourth on."""
    given = keys.hybrids(c)
    if given is not None:
        return Indices.of(given[:1]), Indices.of(given[1:])
    count, period = keys.layer_count(c), c.int("attn_layer_period", maximum=MAX_LAYERS)
    start = 3 + c.int("attn_layer_offset", minimum=0, maximum=period - 1)
    return Indices.span(2, max(2, min(3, count))), Indices.span(start, max(start, count), period)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return hybrid(s, one, zamba(d, one.ssm), "shared_transf", swiglu(d, one.dense.width))

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer), final_layernorm=rms_norm(d))
    return with_head(s, body)
