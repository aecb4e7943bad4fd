"""Parts of encoder-decoder transformers like BART."""

from collections.abc import Callable

from hfcount.architectures.layers.classic import fc, mha, positions
from hfcount.architectures.layers.encoders import dense_classifier
from hfcount.architectures.layers.model import embedding, lm_head
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.spec import Layer, Layers, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tied, block, buffer


def bart_layer(d: int, layer: Layer, crossed: bool) -> Block:
    """A layer of an encoder, or with `crossed` of a decoder (arXiv:1910.13461).

    Tensors: self_attn, self_attn_layer_norm (d), with `crossed` encoder_attn, encoder_attn_layer_norm (d); fc1 (d_ff,
    d), fc2 (d, d_ff), final_layer_norm (d).
    """
    return block(
        self_attn=mha(d, layer.attention),
        self_attn_layer_norm=layer_norm(d),
        encoder_attn=mha(d, layer.attention) if crossed else None,
        encoder_attn_layer_norm=layer_norm(d) if crossed else None,
        **fc(d, layer.dense.width, layer.dense.bias),
        final_layer_norm=layer_norm(d),
    )


def bart(
    s: Spec,
    *,
    first_norm: bool,
    last_norm: bool,
    layer: Callable[[Layer, bool], Block] | None = None,
    tables: Node | None = None,
    encoder: Block | None = None,
    decoder: Block | None = None,
    apart: bool = False,
    decoder_vocab: int | None = None,
    prefix: str = "model",
) -> Block:
    """An encoder and a decoder with a head; they share their embedding if tied. The causal class has only the decoder.

    Args:
        first_norm: whether the embedding is normalised.
        last_norm: whether the output of encoder and decoder is normalised.
        layer: builds a layer; its second argument is whether it is the decoder's.
        tables: the positions of encoder and decoder, if they are not a learned table.
        encoder: further parts of the encoder.
        decoder: further parts of the decoder.
        apart: whether encoder and decoder always have separate embeddings.
        decoder_vocab: rows of the decoder's embedding, if not |V|.
        prefix: name of the base model inside classes with a head.
    """
    d = s.hidden
    build = layer or (lambda kind, crossed: bart_layer(d, kind, crossed))
    alone, table = s.head == "causal_lm", embedding(s.vocab, d)
    shared = Tied("shared.weight" if s.head == "base" else f"{prefix}.shared.weight", (s.vocab, d))

    def side(layers: tuple[Layers, ...], crossed: bool, more: Block | None) -> Block:
        own_table = embedding(decoder_vocab or s.vocab, d) if crossed else table
        parts = block(
            embed_tokens=shared if s.tied and not alone and not apart else own_table,
            embed_positions=tables or positions(s),
            layers=stack(layers, lambda kind: build(kind, crossed)),
            layernorm_embedding=layer_norm(d) if first_norm else None,
            layer_norm=layer_norm(d) if last_norm else None,
        )
        return Block({**parts.children, **(more.children if more else {})})

    decoding = side(s.layers, True, decoder)
    if alone:
        words = lm_head(s, f"{prefix}.decoder.embed_tokens.weight")
        return Block({prefix: block(decoder=decoding), "lm_head": words})
    body = block(shared=None if apart else table, encoder=side(s.stack("encoder"), False, encoder), decoder=decoding)
    if s.head == "base":
        return body
    if s.head == "sequence_classification":
        return Block({prefix: body, "classification_head": dense_classifier(s)})
    if s.head == "question_answering":
        return Block({prefix: body, "qa_outputs": Linear(d, 2, True, "other")})
    target = s.replace(vocab=decoder_vocab or s.vocab) if apart else s
    source = "decoder.embed_tokens" if apart else "shared"
    bias = buffer(1, target.vocab, component="lm_head")
    return Block({prefix: body, "final_logits_bias": bias, "lm_head": lm_head(target, f"{prefix}.{source}.weight")})


def switched(d: int, m: MoE, up: str, down: str) -> Block:
    """Experts of Switch Transformers, each with a name of its own (arXiv:2101.03961).

    Tensors: expert_i.`up` (d_ff, d), expert_i.`down` (d, d_ff), with biases as the spec says.
    """

    def expert(share: tuple[int, int]) -> Block:
        wide, back = Linear(d, m.width, m.bias, active=share), Linear(m.width, d, m.bias, active=share)
        return Block({up: wide, down: back})

    # Whichever a token uses, they are as many as these first ones.
    used, idle = expert((1, 1)), expert((0, 1))
    each = {f"expert_{number}": used if number < m.active else idle for number in range(m.experts)}
    return Block(each, "experts")
