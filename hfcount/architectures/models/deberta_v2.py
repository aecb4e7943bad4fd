"""DeBERTa, versions 2 and 3: contents and relative positions apart (arXiv:2006.03654, arXiv:2111.09543)."""

from hfcount.architectures import keys
from hfcount.architectures.components.disentangled import ways
from hfcount.architectures.layers import altered, embedding, layer_norm, stack
from hfcount.architectures.layers.encoders import DEBERTA_POOLED, bert_embeddings, bert_layer, deberta_heads
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("deberta-v2",)  # transformers 5.23: modeling_deberta_v2.py
IGNORED = ("pooler_hidden_size",)  # which only models with a pooler read

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


class DebertaV2(Sizes):
    """Sizes specific to DeBERTa.

    `distances` are those with an embedding, if it is relative; `c2p` and `p2c` are whether contents are compared with
    positions, and positions with contents.
    """

    embedding_size: int = derived(lambda c: c.int("embedding_size", default=c.int("hidden_size")))
    conv_kernel_size: int = size(absent=0, minimum=0)
    conv_groups: int = size(absent=1)
    norm_rel_ebd: bool
    legacy: bool = flag(absent=True)
    pooler_hidden_size: int
    distances: int | None
    c2p: bool
    p2c: bool


def spec(c: Config) -> Spec[DebertaV2]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    relative, shared = c.bool("relative_attention", default=False), c.bool("share_att_key", default=False)
    far = c.int("max_relative_positions", default=-1, minimum=-1)
    near = c.int("position_buckets", default=-1, minimum=-1)
    kinds = ways(c) if relative and not shared else []
    types = c.int("type_vocab_size", default=0, minimum=0)
    distances = keys.dim("n_r", near if near > 0 else far if far > 0 else rows) if relative else None
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, token_types=types or None)
    pooled = c.int("pooler_hidden_size", default=d) if model.head in DEBERTA_POOLED else d
    normed = "layer_norm" in [word.strip() for word in c.str("norm_rel_ebd", default="none").lower().split("|")]
    content, position = "c2p" in kinds, "p2c" in kinds
    sizes = DebertaV2.read(
        c, pooler_hidden_size=pooled, distances=distances, c2p=content, p2c=position, norm_rel_ebd=normed
    )
    keys.divides(c, "conv_groups", sizes.conv_groups, "hidden_size", d)
    known = rows if c.bool("position_biased_input", default=True) else None
    return model.replace(causal=False, positions=known).having(sizes)


def blueprint(s: Spec[DebertaV2]) -> Block:
    d, of, width = s.hidden, s.own, s.own.embedding_size
    square, norm = Linear(d, d, True), layer_norm(d)
    more = {"pos_key_proj": square if of.c2p else None, "pos_query_proj": square if of.p2c else None}
    projections = block("attention", query_proj=square, key_proj=square, value_proj=square, **more)
    attention = block(self=projections, output=block(dense=Linear(d, d, True, "attention"), LayerNorm=norm))

    def layer_block(layer: Layer) -> Block:
        return altered(bert_layer(d, layer.replace(cross_attention=False)), attention=attention)

    wider = None if width == d else Linear(width, d, component="embedding")
    tables = bert_embeddings(s, width, norm=False)
    kernel = Tensor((d, d // of.conv_groups, of.conv_kernel_size))
    convolution = block("other", conv=block(weight=kernel, bias=Tensor((d,))), LayerNorm=norm)
    encoder = block(
        layer=stack(s.layers, layer_block),
        rel_embeddings=embedding(2 * of.distances, d) if of.distances else None,
        LayerNorm=norm if of.norm_rel_ebd else None,
        conv=convolution if of.conv_kernel_size else None,
    )
    body = block(embeddings=altered(tables, LayerNorm=norm, embed_proj=wider), encoder=encoder)
    return deberta_heads(s, body, width, of.pooler_hidden_size, of.legacy)
