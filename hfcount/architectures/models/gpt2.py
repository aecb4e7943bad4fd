"""GPT-2, and GPT-SW3, which is built like it: projections stored as (inputs, outputs) (Radford et al. 2019)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import causal_mask, conv1d, generative, positions, summary
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("gpt2", "gpt-sw3")  # transformers 5.23: modeling_gpt2.py


class Gpt2(Sizes):
    summary: int


class Gpt2Layer(Record):
    n_ctx: int


def spec(c: Config) -> Spec[Gpt2]:
    d, rows = c.int("n_embd", "hidden_size"), c.int("n_positions", "max_position_embeddings")
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", "num_attention_heads")),
        ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True),
        cross_attention=c.bool("add_cross_attention", default=False),
        own=Gpt2Layer(n_ctx=c.int("n_ctx", default=rows)),
    )
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    heads = keys.named(keys.GPT_HEADS, DoubleHeadsModel="double_heads")
    sizes = Gpt2.read(c, summary=_summary(c, d))
    why = keys.ACROSS if layer.cross_attention else ""
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, heads=heads, uncounted=why).having(sizes)


def _summary(c: Config, width: int) -> int:
    """Outputs of the projection that summarises a sequence for multiple choice; 0 if there is none."""
    if not c.bool("summary_use_proj", default=True):
        return 0
    return 1 if c.bool("summary_proj_to_labels", default=True) else width


def blueprint(s: Spec[Gpt2]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mask, crossed, width = causal_mask(layer.sizes(Gpt2Layer).n_ctx), layer.cross_attention, layer.dense.width
        across = block("attention", c_attn=conv1d(d, 2 * d), q_attn=conv1d(d, d), c_proj=conv1d(d, d), **mask)
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d), **mask),
            ln_2=layer_norm(d),
            crossattention=across if crossed else None,
            ln_cross_attn=layer_norm(d) if crossed else None,
            mlp=block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d)),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    both = block(lm_head=lm_head(s, "transformer.wte.weight"), multiple_choice_head=summary(d, s.own.summary))
    return generative(s, "transformer", body, "wte", double_heads=both)
