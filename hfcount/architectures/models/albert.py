"""ALBERT: one group of layers, or a few, that stands for all of them, and a narrow embedding (arXiv:1909.11942)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.encoders import POOLED, bert_embeddings, bert_heads, decoder_over
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("albert",)  # transformers 5.23: modeling_albert.py


class Albert(Sizes):
    inner_group_num: int = count(absent=1)
    embedding_size: int = size()


def spec(c: Config) -> Spec[Albert]:
    depth = keys.layer_count(c)  # how often all groups together are passed, in turn
    groups = c.int("num_hidden_groups", default=1, maximum=MAX_LAYERS)
    sizes, heads = Albert.read(c), ("ForMaskedLM", *keys.ENCODER_HEADS[2:], "ForPreTraining")
    known = keys.encoder(c, decoding=False, heads=heads, narrow=True)
    layer = known.layers[0].layer.replace(repeats=int(depth // groups * sizes.inner_group_num))
    why = "" if depth % groups == 0 else "its groups of layers are not passed equally often"
    return known.replace(layers=tuple(keys.uniform(layer, groups)), uncounted=why).having(sizes)


def blueprint(s: Spec[Albert]) -> Block:
    d, narrow, pooled = s.hidden, s.own.embedding_size, s.head in POOLED

    def group(kind: Layer) -> Block:
        width, inner = kind.dense.width, kind.attention.heads * kind.attention.head_dim
        query, dense = Linear(d, inner, True, "attention"), Linear(d, d, True, "attention")
        layer = block(
            full_layer_layer_norm=layer_norm(d),
            attention=block(query=query, key=query, value=query, dense=dense, LayerNorm=layer_norm(d)),
            ffn=Linear(d, width, True, "mlp"),
            ffn_output=Linear(width, d, True, "mlp"),
        )
        several = s.own.inner_group_num
        return Block({"albert_layers": Repeat(Indices.below(several), layer)}, repeats=kind.repeats // several)

    into = Linear(narrow, d, True, "embedding")
    body = block(
        embeddings=bert_embeddings(s, narrow),
        encoder=block(embedding_hidden_mapping_in=into, albert_layer_groups=stack(s.layers, group)),
        pooler=Linear(d, d, True, "other") if pooled else None,
    )
    over = decoder_over(s, "albert.embeddings.word_embeddings.weight", narrow).children
    dense = block(LayerNorm=layer_norm(narrow), dense=Linear(d, narrow, True)).children
    words = block(predictions=Block({**over, **dense}, "lm_head"))
    both = Block({**words.children, **block(sop_classifier=block(classifier=classifier(s))).children})
    return bert_heads(s, "albert", body, masked_lm=words, pretraining=both)
