"""DistilBERT: BERT without token types and pooler, with half of its layers (arXiv:1910.01108)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, lm_head, mlp
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.encoders import bert_embeddings
from hfcount.architectures.layers.stacks import stack
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("distilbert",)  # transformers 5.23: modeling_distilbert.py

_CLASSES = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice")


def spec(c: Config) -> Spec:
    d = c.int("dim")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("n_heads")), ffn=Dense(width=c.int("hidden_dim"), bias=True))
    layers, rows = keys.uniform(layer, keys.layer_count(c, "n_layers")), c.int("max_position_embeddings")
    model = keys.decoder_spec(c, layers, heads=("ForMaskedLM", *_CLASSES), tied=True, hidden=d, positions=rows)
    return model.replace(causal=False)


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=block("attention", q_lin=square, k_lin=square, v_lin=square, out_lin=square),
            sa_layer_norm=layer_norm(d),
            ffn=mlp(d, layer.dense.width, up="lin1", down="lin2"),
            output_layer_norm=layer_norm(d),
        )

    embeddings = bert_embeddings(s)
    body = block(embeddings=embeddings, transformer=block(layer=stack(s.layers, layer_block)))
    words = block(
        vocab_transform=Linear(d, d, True, "lm_head"),
        vocab_layer_norm=block("lm_head", **layer_norm(d).children),
        vocab_projector=lm_head(s, "distilbert.embeddings.word_embeddings.weight", True),
    )
    before = Linear(d, d, True, "other")
    heads = {
        "masked_lm": words,
        "sequence_classification": block(pre_classifier=before, classifier=classifier(s)),
        "token_classification": block(classifier=classifier(s)),
        "question_answering": block(qa_outputs=classifier(s)),
        "multiple_choice": block(pre_classifier=before, classifier=Linear(d, 1, True, "other")),
    }
    return headed(s, "distilbert", body, **heads)
