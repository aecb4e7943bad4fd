"""Jina's BERT: biases by distance in place of positions, and gated networks (arXiv:2310.19923)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.encoders import (
    bert_attention,
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_layer,
    pooler,
)
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("jina_bert",)  # modeling_bert.py of jinaai/jina-bert-implementation, whose configs are of type bert
CLASSES = (
    "JinaBertModel",
    "JinaBertForMaskedLM",
    "JinaBertForSequenceClassification",
    "JinaBertForTokenClassification",
    "JinaBertForQuestionAnswering",
)
IGNORED = ("emb_pooler",)

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class JinaBert(Sizes):
    gated: bool = derived(lambda c: c.str("feed_forward_type", default="original").endswith("glu"))


def spec(c: Config) -> Spec[JinaBert]:
    # A second implementation has classes of the same names, and other tensors.
    code = [c.str("_name_or_path", default=""), *map(str, (c.object("auto_map") or {}).values())]
    if not any("jina-bert-implementation" in layer for layer in code):
        raise UnknownArchitecture(f"{c.where}: Jina's BERT is described by jinaai/jina-bert-implementation alone.")
    d, alibi = c.int("hidden_size"), c.str("position_embedding_type", default="absolute") == "alibi"
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("num_attention_heads")),
        ffn=keys.dense(c, bias=True),
    )
    sizes, types = JinaBert.read(c), c.int("type_vocab_size", default=2)
    rows = None if alibi else c.int("max_position_embeddings")
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows, token_types=types)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[JinaBert]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        if not s.own.gated:
            return bert_layer(d, layer)
        width = layer.dense.width
        into, out = Linear(d, 2 * width), Linear(width, d, True)
        mlp = block("mlp", gated_layers=into, wo=out, layernorm=layer_norm(d))
        return block(attention=bert_attention(d, layer.attention), mlp=mlp)

    return bert_heads(s, "bert", bert_base(s, layer_block, bert_embeddings(s), pooler=pooler(s)))
