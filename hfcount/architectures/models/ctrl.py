"""CTRL: a decoder steered by control codes, with sinusoidal positions that are not stored (arXiv:1909.05858)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, generative
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ctrl",)  # transformers 5.23: modeling_ctrl.py


def spec(c: Config) -> Spec:
    d = c.int("n_embd", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"), indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("dff"), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    return keys.decoder_spec(
        c, layers, hidden=d, tied=True, heads=("LMHeadModel", "Model", "ForSequenceClassification")
    )


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            multi_head_attention=block("attention", Wq=square, Wk=square, Wv=square, dense=square),
            ffn=Block({"0": Linear(d, width, True), "2": Linear(width, d, True)}, "mlp"),
            layernorm1=layer_norm(d),
            layernorm2=layer_norm(d),
        )

    body = block(w=embedding(s.vocab, d), h=stack(s.layers, layer_block), layernorm=layer_norm(d))
    labels = block(classifier=classifier(s, bias=False))
    return generative(s, "transformer", body, "w", bias=True, sequence_classification=labels)
