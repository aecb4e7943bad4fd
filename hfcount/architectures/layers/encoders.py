"""Parts of BERT and of encoders like it."""

from collections.abc import Callable

from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.spec import GQA, Lacking, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, Tied, block, obsolete

POOLED = ("base", "pretraining", "next_sentence", "sequence_classification", "multiple_choice")
"""Heads of BERT whose base model has a pooler, since they read the pooled first token."""


def bert_attention(d: int, a: GQA, norm: bool = True, values: int | None = None, memory: int | None = None) -> Block:
    """Attention as BERT names it (arXiv:1810.04805).

    Tensors: self.query, self.key, self.value (h·h_d, d), output.dense (d, d), all with biases, and with `norm`
    output.LayerNorm (d). `values` and `memory` are the input widths of values and of both keys and values, if not d.
    """
    query = Linear(d, a.heads * a.head_dim, a.qkv_bias)
    key = Linear(memory or d, a.heads * a.head_dim, a.qkv_bias)
    out = Linear(d, d, a.out_bias, "attention")
    return block(
        self=block("attention", query=query, key=key, value=key.replace(inputs=values or memory or d)),
        output=block(dense=out, LayerNorm=layer_norm(d) if norm else None),
    )


def bert_layer(d: int, layer: Layer) -> Block:
    """A post-norm layer, with cross attention if the Layer has it.

    Tensors: attention, crossattention, intermediate.dense (d_ff, d), output.dense (d, d_ff), output.LayerNorm (d).
    """
    across = bert_attention(d, layer.attention, memory=layer.memory)
    return block(
        attention=bert_attention(d, layer.attention),
        crossattention=across if layer.cross_attention else None,
        intermediate=block("mlp", dense=Linear(d, layer.dense.width, True)),
        output=block(dense=Linear(layer.dense.width, d, True, "mlp"), LayerNorm=layer_norm(d)),
    )


def bert_embeddings(s: Spec, width: int | None = None, norm: bool = True, more: Block | None = None) -> Block:
    """Words, positions and token types, added up and normalised.

    Tensors: word_embeddings (|V|, d), position_embeddings (n_p, d), token_type_embeddings (types, d), LayerNorm (d).
    Earlier versions of transformers also stored position_ids (1, n_p).

    Args:
        width: the width of the tables, if it is not d.
        norm: whether there is a LayerNorm.
        more: further tables.
    """
    d, rows = s.hidden if width is None else width, s.positions
    kinds = s.token_types
    tables = block(
        word_embeddings=embedding(s.vocab, d),
        position_embeddings=None if rows is None else embedding(rows, d),
        token_type_embeddings=None if kinds is None else embedding(kinds, d),
        LayerNorm=layer_norm(d) if norm else None,
        position_ids=None if rows is None else obsolete(1, rows, whole=True),
    )
    return Block({**tables.children, **(more.children if more else {})})


def token_types(s: Spec) -> Block:
    """The table of token types of an encoder that has one. Tensors: weight (types, d)."""
    if s.token_types is None:
        raise Lacking("this model has no token types")
    return embedding(s.token_types, s.hidden)


def bert_base(
    s: Spec, layer: Callable[[Layer], Block] | None = None, embeddings: Block | None = None, **more: Node | None
) -> Block:
    """Embeddings, encoder.layer, and `more` parts; embeddings and layers are by default BERT's."""
    d = s.hidden
    layers = stack(s.layers, layer or (lambda kind: bert_layer(d, kind)))
    return block(embeddings=embeddings or bert_embeddings(s), encoder=block(layer=layers), **more)


def pooler(s: Spec, heads: tuple[str, ...] = POOLED) -> Block | None:
    """The projection of the first token, if the head is one of `heads`. Tensors: dense (d, d) with bias."""
    return block("other", dense=Linear(s.hidden, s.hidden, True)) if s.head in heads else None


def decoder_over(s: Spec, table: str, width: int | None = None) -> Block:
    """The output projection of a masked language model; its bias was stored under two names.

    Tensors: bias (|V|); decoder, tied to `table`, or else (|V|, d) and its own bias. `width` replaces d.
    """
    d = width or s.hidden
    tied = (Tied(table, (s.vocab, d)), block(bias=obsolete(s.vocab, twin=True)))
    return block("lm_head", bias=Tensor((s.vocab,)), decoder=tied if s.tied else Linear(d, s.vocab, True))


def bert_predictions(s: Spec, table: str, width: int | None = None) -> Block:
    """BERT's masked language model head. Tensors: transform.dense (d, d), transform.LayerNorm (d), decoder, bias."""
    d = width or s.hidden
    transform = block(dense=Linear(s.hidden, d, True), LayerNorm=layer_norm(d))
    return Block({"transform": transform, **decoder_over(s, table, width).children}, "lm_head")


def bert_heads(s: Spec, prefix: str, body: Block, predictions: Block | None = None, **more: Block) -> Block:
    """BERT with one of its heads: predictions of words, the next sentence, or classes of texts, tokens or spans.

    Args:
        prefix: name of the base model inside classes with a head.
        predictions: the part that predicts words, if it is not BERT's.
        more: further heads, or replacements of these.
    """
    d = s.hidden
    words = predictions or bert_predictions(s, f"{prefix}.embeddings.word_embeddings.weight")
    pair = Linear(d, 2, True, "other")
    heads = {
        "masked_lm": block(cls=block(predictions=words)),
        "causal_lm": block(cls=block(predictions=words)),
        "pretraining": block(cls=block(predictions=words, seq_relationship=pair)),
        "next_sentence": block(cls=block(seq_relationship=pair)),
        "sequence_classification": block(classifier=classifier(s)),
        "token_classification": block(classifier=classifier(s)),
        "multiple_choice": block(classifier=Linear(d, 1, True, "other")),
        "question_answering": block(qa_outputs=classifier(s)),
    }
    return headed(s, prefix, body, **{**heads, **more})


DEBERTA_POOLED = ("sequence_classification", "multiple_choice")
"""DeBERTa's heads that have a pooler."""


def deberta_heads(s: Spec, body: Block, width: int, pooled: int, legacy: bool) -> Block:
    """DeBERTa with one of its heads; a pooler belongs to the head (arXiv:2006.03654).

    Args:
        width: the width of the embedding.
        pooled: the width of the pooler.
        legacy: whether words are predicted as by BERT, else by lm_predictions.lm_head: dense (d, d), LayerNorm, bias.
    """
    d = s.hidden
    head = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d), bias=Tensor((s.vocab,)))
    later = block(lm_predictions=block("lm_head", lm_head=head))
    words = bert_predictions(s, "deberta.embeddings.word_embeddings.weight", width)
    first = block(pooler=block("other", dense=Linear(pooled, pooled, True))).children
    return bert_heads(
        s,
        "deberta",
        body,
        masked_lm=block(cls=block(predictions=words)) if legacy else later,
        sequence_classification=Block({**first, "classifier": classifier(s)}),
        multiple_choice=Block({**first, "classifier": Linear(d, 1, True, "other")}),
    )


def dense_classifier(s: Spec) -> Block:
    """A classification head of two layers. Tensors: dense (d, d), out_proj (c, d), with biases."""
    return block("other", dense=Linear(s.hidden, s.hidden, True), out_proj=classifier(s))


def roberta_heads(s: Spec, prefix: str, body: Block) -> Block:
    """RoBERTa with one of its heads (arXiv:1907.11692); only multiple choice reads the pooled token."""
    table = f"{prefix}.embeddings.word_embeddings.weight"
    dense = block(dense=Linear(s.hidden, s.hidden, True), layer_norm=layer_norm(s.hidden))
    words = block(lm_head=Block({**dense.children, **decoder_over(s, table).children}, "lm_head"))
    two_layers = block(classifier=dense_classifier(s))
    return bert_heads(s, prefix, body, masked_lm=words, causal_lm=words, sequence_classification=two_layers)
