"""MosaicBERT, which DNABERT-2 is, too: fused attention, gated networks, no places but ALiBi's (arXiv:2312.17482)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.encoders import bert_base, bert_heads, pooler
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tied, block

# bert_layers.py of mosaicml/examples, benchmarks/bert/src; configs are of type bert and have alibi_starting_size
MODEL_TYPES = ("mosaic_bert",)
IGNORED = ("alibi_starting_size", "position_embedding_type")

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification")  # that code has no others


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    types = c.int("type_vocab_size", default=2)
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, token_types=types)
    return model.replace(causal=False, tied=True)  # the head takes the embedding's table, whatever the config says


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width, norm = layer.dense.width, layer_norm(d)
        fused = block(self=block(Wqkv=Linear(d, 3 * d, True)), output=block(dense=Linear(d, d, True), LayerNorm=norm))
        gated = block("mlp", gated_layers=Linear(d, 2 * width), wo=Linear(width, d, True), layernorm=norm)
        return block(attention=Block(fused.children, "attention"), mlp=gated)

    words = block(
        "lm_head",
        transform=block(dense=Linear(d, d, True), LayerNorm=layer_norm(d)),
        decoder=Tied("bert.embeddings.word_embeddings.weight", (s.vocab, d), bias=True),
    )
    return bert_heads(s, "bert", bert_base(s, layer_block, pooler=pooler(s)), words)
