"""ImageGPT: GPT-2 over the colours of an image's pixels (Chen et al. 2020)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, stack
from hfcount.parts.classic import causal_mask, classifier, conv1d, headed, positions
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("imagegpt",)  # transformers 5.23: modeling_imagegpt.py

_HEADS = keys.named(("Model", "ForImageClassification"), ForCausalImageModeling="causal_lm")


def spec(c: Config) -> Spec:
    d, rows = c.int("n_embd", "hidden_size"), c.int("n_positions", "max_position_embeddings")
    crossed = c.bool("add_cross_attention", default=False)
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", "num_attention_heads")),
        ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True),
        traits={"add_cross_attention": crossed},
    )
    layers, why = keys.alike(layer, keys.layer_count(c, "n_layer", "num_hidden_layers")), keys.ACROSS if crossed else ""
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=_HEADS, uncounted=why)


def blueprint(s: Spec) -> Block:
    d, rows, norm = s.hidden, s.positions or 0, layer_norm(s.hidden, bias=False)

    def layer(one: Layer) -> Block:
        mask, crossed, width = causal_mask(rows), one.traits["add_cross_attention"], one.dense.width
        across = block("attention", c_attn=conv1d(d, 2 * d), q_attn=conv1d(d, d), c_proj=conv1d(d, d), **mask)
        return block(
            ln_1=norm,
            attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d), **mask),
            ln_2=norm,
            crossattention=across if crossed else None,
            ln_cross_attn=norm if crossed else None,
            mlp=block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d)),
        )

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer), ln_f=norm)
    # The token that starts an image is never predicted.
    head: Node = lm_head(s, "transformer.wte.weight") if s.tied else Linear(d, s.vocab - 1, component="lm_head")
    labels = block(score=classifier(s, bias=False))
    return headed(s, "transformer", body, causal_lm=block(lm_head=head), image_classification=labels)
