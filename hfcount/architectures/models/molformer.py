"""MoLFormer: an encoder of molecules with linear attention and rotary positions (doi:10.1038/s42256-022-00580-7)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.encoders import bert_attention, bert_layer
from hfcount.architectures.layers.stacks import within
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("molformer",)  # modeling_molformer.py of ibm/MoLFormer-XL-both-10pct
IGNORED = tuple(
    "classifier_dropout_prob classifier_skip_connection deterministic_eval embedding_dropout_prob"
    " feature_map_kernel linear_attention_eps".split()
)

_ABSENT = {
    "vocab_size": 2362,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 768,
}


class Molformer(Sizes):
    """How many random features stand for a query or a key."""

    num_random_features: int = size("n_f", absent=32)


def spec(c: Config) -> Spec[Molformer]:
    c.assuming(_ABSENT)
    d = c.int("hidden_size")
    indivisible: keys.Indivisible = "built" if c.has("embedding_size") else "refused"
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible=indivisible)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    heads = ("ForMaskedLM", "Model", "ForSequenceClassification")
    model = keys.decoder_spec(c, layer, hidden=d, tied=True, heads=heads)
    return model.replace(causal=False).having(Molformer.read(c))


def blueprint(s: Spec[Molformer]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        features = block(weight=buffer(layer.attention.head_dim, s.own.num_random_features))
        attending = within(bert_attention(d, layer.attention), self=block(feature_map=features))
        return altered(bert_layer(d, layer), attention=attending)

    body = block(
        embeddings=block(word_embeddings=embedding(s.vocab, d)),
        encoder=block(layer=stack(s.layers, layer_block)),
        LayerNorm=layer_norm(d),
    )
    words = block(
        "lm_head",
        transform=block(dense=square, LayerNorm=layer_norm(d)),
        decoder=lm_head(s, "molformer.embeddings.word_embeddings.weight"),
    )
    classes = block("other", dense=square, dense2=square, out_proj=Linear(d, s.labels, True))
    return headed(
        s, "molformer", body, masked_lm=block(lm_head=words), sequence_classification=block(classifier=classes)
    )
