"""Reformer: attention among tokens of the same hash, and among neighbours, in reversible layers (arXiv:2001.04451)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("reformer",)  # transformers 5.23: modeling_reformer.py
IGNORED = tuple(
    "hash_seed local_num_chunks_before local_num_chunks_after local_attn_chunk_length lsh_attn_chunk_length num_hashes"
    " lsh_num_chunks_before lsh_num_chunks_after num_buckets axial_pos_shape axial_pos_embds_dim chunk_size_lm_head"
    " num_hidden_layers".split()
)

_CLASSES = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForQuestionAnswering")
_HEADS = keys.named(_CLASSES, ModelWithLMHead="causal_lm")
_KINDS = ("local", "lsh")


class Axis(Record):
    """One of the axes along which positions are numbered, each with a table of its own."""

    places: int
    width: int


def _axes(c: Config, d: int) -> tuple[Axis, ...]:
    shape, widths = c.ints("axial_pos_shape", default=(64, 64)), c.ints("axial_pos_embds_dim", default=(64, 192))
    if len(widths) != len(shape):
        text = f"axial_pos_embds_dim has {len(widths):,} entries, and axial_pos_shape {len(shape):,}."
        raise c.error("list-length", text, "axial_pos_embds_dim")
    if sum(widths) != d:
        raise c.error("contradiction", f"axial_pos_embds_dim must sum up to hidden_size, {d:,}.", "axial_pos_embds_dim")
    return tuple(
        Axis(places=keys.dim(f"n_{number}", places), width=keys.dim(f"d_{number}", width))
        for number, (places, width) in enumerate(zip(shape, widths, strict=True), 1)
    )


class Reformer(Sizes):
    """Sizes specific to Reformer; without `axes` its positions have one table."""

    axes: tuple[Axis, ...]


class ReformerLayer(Record):
    """Whether a token attends to those of the same hash, else to its neighbours."""

    hashed: bool


def spec(c: Config) -> Spec[Reformer]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("attention_head_size", default=64))
    ffn = Dense(width=c.int("feed_forward_size", default=512), bias=True)
    kinds = {kind: Layer(mixer=mixer, ffn=ffn, own=ReformerLayer(hashed=kind == "lsh")) for kind in _KINDS}
    given = c.strs("attn_layers") or [*_KINDS] * 3
    layers = keys.by_kind(c, kinds, given, "attn_layers", len(given))
    sizes = Reformer.read(c, axes=_axes(c, d) if c.bool("axial_pos_embds", default=True) else ())
    rows = None if sizes.axes else c.int("max_position_embeddings")
    model = keys.decoder_spec(c, layers, heads=_HEADS, hidden=d, positions=rows, layer_count=None)
    why = "it keeps hashes and hidden states of its tokens, which are not described"
    return model.replace(causal=c.bool("is_decoder", default=False), uncounted=why, tied=False).having(sizes)


def blueprint(s: Spec[Reformer]) -> Block:
    d, axes, norm = s.hidden, s.own.axes, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        into = Linear(d, a.heads * a.head_dim)
        hashed = layer.sizes(ReformerLayer).hashed
        projections = block(query_key=into, value=into) if hashed else block(query=into, key=into, value=into)
        out = block(dense=Linear(a.heads * a.head_dim, d))
        first, second = block(dense=Linear(d, width, True)), block(dense=Linear(width, d, True))
        return block(
            attention=block(layer_norm=norm, self_attention=Block(projections.children, "attention"), output=out),
            feed_forward=block("mlp", layer_norm=norm, dense=first, output=second),
        )

    tables = {
        str(place): Tensor(((1,) * place + (axis.places,) + (1,) * (len(axes) - place - 1)) + (axis.width,))
        for place, axis in enumerate(axes)
    }
    axial = block("embedding", weights=Block(tables))
    places = block(embedding=embedding(s.positions, d)) if s.positions else axial
    body = block(
        embeddings=block(word_embeddings=embedding(s.vocab, d), position_embeddings=places),
        encoder=block(layers=stack(s.layers, layer_block), layer_norm=layer_norm(2 * d)),
    )
    # transformers 5.24 adds the second bias, which loads as zeros where 5.23 has saved none.
    later = Tensor((s.vocab,), presence="dispensable")
    decoder = (Linear(2 * d, s.vocab), block(bias=later))
    words = block(lm_head=block("lm_head", decoder=decoder, bias=Tensor((s.vocab,))))
    labels = block("other", dense=Linear(2 * d, d, True), out_proj=classifier(s))
    return headed(
        s,
        "reformer",
        body,
        causal_lm=words,
        masked_lm=words,
        sequence_classification=block(classifier=labels),
        question_answering=block(qa_outputs=classifier(s, 2 * d)),
    )
