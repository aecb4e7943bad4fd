"""GPT-J: attention and feed-forward side by side behind one norm (Wang and Komatsuzaki 2021)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import causal_mask, classifier, generative, mha
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("gptj",)  # transformers 5.23: modeling_gptj.py


def spec(c: Config) -> Spec:
    d = c.int("n_embd", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"), bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    rows = c.int("n_positions", "max_position_embeddings")
    heads = ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = {**mha(d, layer.attention).children, **causal_mask(s.positions or 0)}
        return block(
            ln_1=layer_norm(d),
            attn=Block(attention, "attention"),
            mlp=mlp(d, layer.dense.width, up="fc_in", down="fc_out"),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    spans = block(qa_outputs=classifier(s))
    return generative(s, "transformer", body, "wte", bias=True, question_answering=spans)
