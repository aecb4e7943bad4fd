"""MobileBERT: BERT's layers within bottlenecks, with several networks in each (arXiv:2004.02984)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, layer_norm
from hfcount.parts.encoders import (
    bert_attention,
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_predictions,
    decoder_over,
    pooler,
)
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("mobilebert",)  # transformers 5.23: modeling_mobilebert.py

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]
_MORE = ("ForPreTraining", "ForNextSentencePrediction")
_SWITCHES = ("trigram_input", "use_bottleneck", "key_query_shared_bottleneck", "classifier_activation")


def spec(c: Config) -> Spec:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    switches = {name: c.bool(name, default=True) for name in _SWITCHES}
    boxed = keys.sized("d_b", c.int("intra_bottleneck_size", default=128))
    inner = c.int("true_hidden_size", default=boxed if switches["use_bottleneck"] else d)
    traits = switches | {
        "inner": inner,
        "boxed": boxed,
        "type_vocab_size": c.int("type_vocab_size"),
        "embedding_size": keys.sized("d_e", c.int("embedding_size", default=128)),
        "networks": c.int("num_feedforward_networks", default=4, maximum=MAX_LAYERS),
        "use_bottleneck_attention": c.bool("use_bottleneck_attention", default=False),
    }
    mixer = keys.multi_head(c, inner, c.int("num_attention_heads"), uneven="built")
    layer, heads = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), (*_HEADS, *_MORE)
    whole = keys.decoder_spec(c, layer, heads=heads, tied=True, hidden=d, positions=rows, traits=traits)
    return whole.but(causal=False)


def blueprint(s: Spec) -> Block:
    d, of, inner, narrow = s.hidden, s.traits, s.traits["inner"], s.traits["embedding_size"]

    def normed(inputs: int, outputs: int) -> Block:
        return block("mlp", dense=Linear(inputs, outputs, True), LayerNorm=layer_norm(outputs))

    def layer(one: Layer) -> Block:
        first, back = block("mlp", dense=Linear(inner, one.dense.width, True)), normed(one.dense.width, inner)
        shared = normed(d, of["boxed"]) if of["key_query_shared_bottleneck"] else None
        more = Repeat(Indices.below(of["networks"] - 1), block(intermediate=first, output=back))
        boxed, values = of["use_bottleneck"], inner if of["use_bottleneck_attention"] else d
        return block(
            attention=bert_attention(inner, one.attention, values=values),
            intermediate=first,
            output=altered(back, bottleneck=normed(inner, d)) if boxed else back,
            bottleneck=block(input=normed(d, of["boxed"]), attention=shared) if boxed else None,
            ffn=more if of["networks"] > 1 else None,
        )

    tables = bert_embeddings(s, width=d)
    words = block("embedding", weight=Tensor((s.vocab, narrow)))
    wider = Linear((3 if of["trigram_input"] else 1) * narrow, d, True, "embedding")
    embeddings = altered(tables, word_embeddings=words, embedding_transformation=wider)
    pooled = pooler(s) if of["classifier_activation"] else None
    over = decoder_over(s, "mobilebert.embeddings.word_embeddings.weight", narrow)
    transform = bert_predictions(s, "").children["transform"]
    rest = Linear(s.vocab, d - narrow)
    predictions = Block({"transform": transform, "dense": rest, **over.children}, "lm_head")
    return bert_heads(s, "mobilebert", bert_base(s, layer, embeddings, pooler=pooled), predictions)
