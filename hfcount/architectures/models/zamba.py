"""Zamba: Mamba, and one block of attention that some layers share (arXiv:2405.16712)."""

from hfcount.architectures import keys
from hfcount.architectures.components.shared import SharedBlock, hybrid, owned, shared_block, stored_block
from hfcount.architectures.layers import embedding, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import conv1d
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived
from hfcount.spec import SSM, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("zamba",)  # transformers 5.23: modeling_zamba.py


class Zamba(Sizes):
    """Sizes specific to Zamba: the width of states and embeddings together, which its attention reads."""

    attention_hidden_size: int = derived(lambda c: c.int("attention_hidden_size", default=2 * c.int("hidden_size")))


def spec(c: Config) -> Spec[Zamba]:
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
    layer = Layer(mixer=ssm, parallel_mixer=keys.wide_attention(c), ffn=keys.dense(c))
    first, later = _attending(c)
    shared = c.bool("tie_word_embeddings", default=True)  # untied, each layer has a block of its own
    layers = owned(c, layer, [first] if shared else [first, later], later if shared else Indices.below(0))
    sizes = Zamba.read(c)
    kinds = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, tied=True, heads=kinds).having(sizes)


def _attending(c: Config) -> tuple[Indices, Indices]:
    """The first layer with attention, and the others: the third, and one of each period from the fourth on."""
    given = keys.hybrids(c)
    if given is not None:
        first = Indices.fixed(*[*given][:1])
        return first, given.difference(first)
    count, period = keys.layer_count(c), c.int("attn_layer_period", maximum=MAX_LAYERS)
    start = 3 + c.int("attn_layer_offset", minimum=0, maximum=period - 1)
    return Indices.span(2, max(2, min(3, count))), Indices.span(start, max(start, count), period)


def blueprint(s: Spec[Zamba]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        stored: dict[str, Node] = {}
        if isinstance(layer.own, SharedBlock):
            made = shared_block(d, s.own.attention_hidden_size, layer, swiglu(d, layer.dense.width))
            stored["shared_transf"] = stored_block(s, layer, "shared_transf", made)
        return hybrid(d, layer, _zamba(d, layer.ssm), stored)

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=rms_norm(d))
    return with_head(s, body)


def _zamba(d: int, m: SSM) -> Block:
    """Mamba with separate step and input projections for each head (arXiv:2405.16712).

    Tensors, with p = d_in/h_m: in_proj (2·d_in, d), conv1d (d_in, 1, w), x_proj_weight (h_m, r_dt + 2·s, p),
    dt_proj_weight (h_m, p, r_dt), dt_proj_bias and D (h_m, p), A_log (h_m, p, s), out_proj (d, d_in).
    """
    heads, rank = m.heads or 1, m.step_rank or 0
    part = m.inner // heads
    return block(
        "ssm",
        in_proj=Linear(d, 2 * m.inner, m.bias),
        conv1d=conv1d(m.inner, m.kernel, m.conv_bias),
        x_proj_weight=Tensor((heads, rank + 2 * m.state, part)),
        dt_proj_weight=Tensor((heads, part, rank)),
        dt_proj_bias=Tensor((heads, part)),
        A_log=Tensor((heads, part, m.state)),
        D=Tensor((heads, part)),
        out_proj=Linear(m.inner, d, m.bias),
    )
