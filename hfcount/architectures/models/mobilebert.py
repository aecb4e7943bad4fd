"""MobileBERT: BERT's layers within bottlenecks, with several networks in each (arXiv:2004.02984)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm
from hfcount.architectures.layers.encoders import (
    bert_attention,
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_predictions,
    decoder_over,
    pooler,
)
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("mobilebert",)  # transformers 5.23: modeling_mobilebert.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]
_MORE = ("ForPreTraining", "ForNextSentencePrediction")


def _inner(c: Config) -> int:
    boxed = keys.dim("d_b", c.int("intra_bottleneck_size", default=128))
    usual = boxed if c.bool("use_bottleneck", default=True) else c.int("hidden_size")
    return c.int("true_hidden_size", default=usual)


class Mobilebert(Sizes):
    """Sizes specific to MobileBERT; `boxed` is the width of a bottleneck, and `inner` that of what is within."""

    trigram_input: bool = flag(absent=True)
    use_bottleneck: bool = flag(absent=True)
    key_query_shared_bottleneck: bool = flag(absent=True)
    classifier_activation: bool = flag(absent=True)
    boxed: int = size("d_b", "intra_bottleneck_size", absent=128)
    inner: int = derived(_inner)
    type_vocab_size: int = size()
    embedding_size: int = size("d_e", absent=128)
    num_feedforward_networks: int = count(absent=4)
    use_bottleneck_attention: bool = flag(absent=False)


def spec(c: Config) -> Spec[Mobilebert]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    c.choice("normalization_type", ("layer_norm", "no_norm"), "no_norm")
    sizes = Mobilebert.read(c)
    mixer = keys.multi_head(c, sizes.inner, c.int("num_attention_heads"), indivisible="built")
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), (*_HEADS, *_MORE)
    types = sizes.type_vocab_size
    model = keys.decoder_spec(c, layer, heads=heads, tied=True, hidden=d, positions=rows, token_types=types)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[Mobilebert]) -> Block:
    d, of, inner, narrow = s.hidden, s.own, s.own.inner, s.own.embedding_size

    def normed(inputs: int, outputs: int) -> Block:
        return block("mlp", dense=Linear(inputs, outputs, True), LayerNorm=layer_norm(outputs))

    def layer_block(layer: Layer) -> Block:
        first, back = block("mlp", dense=Linear(inner, layer.dense.width, True)), normed(layer.dense.width, inner)
        shared = normed(d, of.boxed) if of.key_query_shared_bottleneck else None
        more = Repeat(Indices.below(of.num_feedforward_networks - 1), block(intermediate=first, output=back))
        boxed, values = of.use_bottleneck, inner if of.use_bottleneck_attention else d
        return block(
            attention=bert_attention(inner, layer.attention, values=values),
            intermediate=first,
            output=altered(back, bottleneck=normed(inner, d)) if boxed else back,
            bottleneck=block(input=normed(d, of.boxed), attention=shared) if boxed else None,
            ffn=more if of.num_feedforward_networks > 1 else None,
        )

    tables = bert_embeddings(s, width=d)
    words = block("embedding", weight=Tensor((s.vocab, narrow)))
    wider = Linear((3 if of.trigram_input else 1) * narrow, d, True, "embedding")
    embeddings = altered(tables, word_embeddings=words, embedding_transformation=wider)
    pooled = pooler(s) if of.classifier_activation else None
    over = decoder_over(s, "mobilebert.embeddings.word_embeddings.weight", narrow)
    transform = bert_predictions(s, "").children["transform"]
    rest = Linear(s.vocab, d - narrow)
    predictions = Block({"transform": transform, "dense": rest, **over.children}, "lm_head")
    return bert_heads(s, "mobilebert", bert_base(s, layer_block, embeddings, pooler=pooled), predictions)
