"""CANINE: characters by hashes, BERT's layers over every fourth of them, and characters again (arXiv:2103.06874)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.encoders import bert_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("canine",)  # transformers 5.23: modeling_canine.py
IGNORED = ("local_transformer_stride",)

_ENDINGS = ("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice", "ForQuestionAnswering")
_MOST_HASHES = 2**10  # each is a name of its own


class Canine(Sizes):
    type_vocab_size: int = size()
    num_hash_functions: int
    shard: int
    num_hash_buckets: int = size("n_h", absent=16384)
    downsampling_rate: int = size("w_d", absent=4)
    upsampling_kernel_size: int = size("w_u", absent=4)


def spec(c: Config) -> Spec[Canine]:
    d, hashes = c.int("hidden_size"), c.int("num_hash_functions", default=8, maximum=_MOST_HASHES)
    sizes = Canine.read(
        c, num_hash_functions=hashes, shard=keys.divides(c, "num_hash_functions", hashes, "hidden_size", d, built=True)
    )
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    layer = Layer(mixer=mixer, ffn=ffn)
    return (
        keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=("Model", *_ENDINGS)).replace(causal=False).having(sizes)
    )


def blueprint(s: Spec[Canine]) -> Block:
    d, of = s.hidden, s.own
    buckets, norm = of.num_hash_buckets, layer_norm(s.hidden)
    names = [f"HashBucketCodepointEmbedder_{number}" for number in range(of.num_hash_functions)]
    tables = block(
        **dict.fromkeys(names, embedding(buckets, of.shard)),
        char_position_embeddings=embedding(buckets, d),
        token_type_embeddings=embedding(of.type_vocab_size, d),
        LayerNorm=norm,
    )

    def convolution(inputs: int, kernel: int) -> Block:
        return block("other", conv=block(weight=Tensor((d, inputs, kernel)), bias=Tensor((d,))), LayerNorm=norm)

    def layer_block(layer: Layer) -> Block:
        return bert_layer(d, layer)

    shallow = block(layer=Repeat(Indices.below(1), layer_block(s.layers[0].layer)))
    body = block(
        char_embeddings=tables,
        initial_char_encoder=shallow,
        chars_to_molecules=convolution(d, of.downsampling_rate),
        encoder=block(layer=stack(s.layers, layer_block)),
        projection=convolution(2 * d, of.upsampling_kernel_size),
        final_char_encoder=shallow,
        pooler=block("other", dense=Linear(d, d, True)),
    )
    heads = {name: block(classifier=classifier(s)) for name in ("sequence_classification", "token_classification")}
    choice, spans = block(classifier=Linear(d, 1, True, "other")), block(qa_outputs=classifier(s))
    return headed(s, "canine", body, multiple_choice=choice, question_answering=spans, **heads)
