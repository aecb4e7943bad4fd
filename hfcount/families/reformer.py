"""Reformer: attention among tokens of the same hash, and among neighbours, in reversible layers (arXiv:2001.04451)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import classifier, headed
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("reformer",)  # transformers 5.23: modeling_reformer.py
IGNORED = tuple(
    "hash_seed local_num_chunks_before local_num_chunks_after local_attn_chunk_length lsh_attn_chunk_length num_hashes"
    " lsh_num_chunks_before lsh_num_chunks_after num_buckets axial_pos_shape axial_pos_embds_dim chunk_size_lm_head"
    " num_hidden_layers".split()
)

_CLASSES = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForQuestionAnswering")
_HEADS = keys.named(_CLASSES, ModelWithLMHead="causal_lm")
_KINDS = ("local", "lsh")


def spec(c: Config) -> Spec:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("attention_head_size", default=64))
    ffn = Dense(width=c.int("feed_forward_size", default=512), bias=True)
    kinds = {kind: Layer(mixer=mixer, ffn=ffn, traits={"hashed": kind == "lsh"}) for kind in _KINDS}
    given = c.strs("attn_layers") or [*_KINDS] * 3
    layers = keys.by_kind(c, kinds, given, "attn_layers", len(given))
    traits = dict[str, int]()
    if c.bool("axial_pos_embds", default=True):
        for key, usual, letter in (("axial_pos_shape", (64, 64), "n"), ("axial_pos_embds_dim", (64, 192), "d")):
            sizes = c.ints(key, default=usual)
            traits |= {f"{key}.{place}": keys.sized(f"{letter}_{place + 1}", size) for place, size in enumerate(sizes)}
            if traits.setdefault("axes", len(sizes)) != len(sizes):
                raise c.error(f"{key} has {len(sizes):,} entries, and axial_pos_shape {traits['axes']:,}.", key)
        if sum(c.ints("axial_pos_embds_dim", default=(64, 192))) != d:
            raise c.error(f"axial_pos_embds_dim must sum up to hidden_size, {d:,}.", "axial_pos_embds_dim")
    rows = None if traits else c.int("max_position_embeddings")
    whole = keys.decoder_spec(c, layers, heads=_HEADS, hidden=d, positions=rows, traits=traits, layer_count=None)
    why = "it keeps hashes and hidden states of its tokens, which are not described"
    return whole.but(causal=c.bool("is_decoder", default=False), uncounted=why, tied=False)


def blueprint(s: Spec) -> Block:
    d, of, norm = s.hidden, s.traits, layer_norm(s.hidden)

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        into = Linear(d, a.heads * a.head_dim)
        own = block(query_key=into, value=into) if one.traits["hashed"] else block(query=into, key=into, value=into)
        out = block(dense=Linear(a.heads * a.head_dim, d))
        first, second = block(dense=Linear(d, width, True)), block(dense=Linear(width, d, True))
        return block(
            attention=block(layer_norm=norm, self_attention=Block(own.children, "attention"), output=out),
            feed_forward=block("mlp", layer_norm=norm, dense=first, output=second),
        )

    def axis(place: int) -> Tensor:
        before, after = (1,) * place, (1,) * (of["axes"] - place - 1)
        return Tensor((*before, of[f"axial_pos_shape.{place}"], *after, of[f"axial_pos_embds_dim.{place}"]))

    axes = block("embedding", weights=Block({str(place): axis(place) for place in range(of.get("axes", 0))}))
    places = block(embedding=embedding(s.positions, d)) if s.positions else axes
    body = block(
        embeddings=block(word_embeddings=embedding(s.vocab, d), position_embeddings=places),
        encoder=block(layers=stack(s.layers, layer), layer_norm=layer_norm(2 * d)),
    )
    words = block(lm_head=block("lm_head", decoder=Linear(2 * d, s.vocab), bias=Tensor((s.vocab,))))
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
