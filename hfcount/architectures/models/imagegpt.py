"""ImageGPT: GPT-2 over the colours of an image's pixels (Chen et al. 2020)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import causal_mask, classifier, gpt_layer, headed, positions
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("imagegpt",)  # transformers 5.23: modeling_imagegpt.py

_HEADS = keys.named(("Model", "ForImageClassification"), ForCausalImageModeling="causal_lm")


def spec(c: Config) -> Spec:
    d, rows = c.int("n_embd", "hidden_size"), c.int("n_positions", "max_position_embeddings")
    crossed = c.bool("add_cross_attention", default=False)
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", "num_attention_heads")),
        ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True),
        cross_attention=crossed,
    )
    layers, why = (
        keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers")),
        keys.ACROSS if crossed else "",
    )
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=_HEADS, uncounted=why)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden, bias=False)

    def layer_block(layer: Layer) -> Block:
        crossed = layer.cross_attention
        return gpt_layer(d, layer.dense.width, norm, causal_mask(s.positions or 0), crossed)

    body = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=norm)
    # The token that starts an image is never predicted.
    head: Node = lm_head(s, "transformer.wte.weight") if s.tied else Linear(d, s.vocab - 1, component="lm_head")
    labels = block(score=classifier(s, bias=False))
    return headed(s, "transformer", body, causal_lm=block(lm_head=head), image_classification=labels)
