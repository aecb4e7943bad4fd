"""T5, its version 1.1 with gated networks, mT5, and umT5, whose layers have a table each (arXiv:1910.10683)."""

from hfcount.architectures import keys
from hfcount.architectures.components.t5 import t5_gated, t5_layer, t5_layers
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import dense_classifier
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import GQA, Dense, Layers, Spec
from hfcount.spec.tree.nodes import Block, Tied, block

MODEL_TYPES = ("t5", "mt5", "umt5")  # transformers 5.23: modeling_t5.py, modeling_mt5.py, modeling_umt5.py
CLASSES = ("T5WithLMHeadModel",)
IGNORED = ("n_positions",)  # positions are relative: no table has a row for each

_CLASSES = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_HEADS = keys.named(
    ("ForConditionalGeneration", *_CLASSES), EncoderModel="encoder", WithLMHeadModel="conditional_generation"
)
_ENCODING = ("encoder", "token_classification")  # heads of the classes that have no decoder


class T5(Sizes):
    """Sizes specific to T5; `crossed` is whether its encoder attends to another, as alone it may."""

    gated: bool
    crossed: bool


def spec(c: Config) -> Spec[T5]:
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv", "head_dim"))
    ffn, buckets = Dense(width=c.int("d_ff")), keys.dim("b", c.int("relative_attention_num_buckets"))
    gated = t5_gated(c, "relu" if c.family == "t5" else "gated-gelu")
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")
    tables = MAX_LAYERS if c.family == "umt5" else 1

    def layers(count: int) -> tuple[Layers, ...]:
        return t5_layers(count, mixer, ffn, buckets, tables)

    decoding = c.int("num_decoder_layers", default=count, maximum=MAX_LAYERS)
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=layers(count), causal=False)}
    model = keys.decoder_spec(c, layers(decoding), layer_count=decoding, hidden=d, tied=True, heads=_HEADS, parts=parts)
    alone = model.head in _ENCODING  # is_decoder is the encoder's then; else each side has its own
    traits = {"causal": False} if alone else {"uncounted": keys.ACROSS}
    crossed = c.bool("is_decoder", default=False)
    return model.replace(**traits).having(T5.read(c, gated=gated, crossed=crossed))


def blueprint(s: Spec[T5]) -> Block:
    d, gated, prefix = s.hidden, s.own.gated, "transformer." if s.head.endswith("_classification") else ""
    table = Tied(f"{prefix}shared.weight", (s.vocab, d))

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda layer: t5_layer(d, layer, gated, crossed))
        return block(embed_tokens=table, block=blocks, final_layer_norm=layer_norm(d, bias=False))

    decodes = s.head not in _ENCODING
    encoder = side(s.stack("encoder"), s.own.crossed and not decodes)
    decoder = side(s.layers, True) if decodes else None
    body = block(shared=embedding(s.vocab, d), encoder=encoder, decoder=decoder).children
    if s.head == "sequence_classification":
        return block(transformer=Block(body), classification_head=dense_classifier(s))
    if s.head == "token_classification":
        return block(transformer=Block(body), classifier=classifier(s))
    if s.head == "question_answering":
        return Block({**body, "qa_outputs": classifier(s)})
    return Block(
        {**body, "lm_head": lm_head(s, "shared.weight", anyway=True)} if s.head == "conditional_generation" else body
    )
