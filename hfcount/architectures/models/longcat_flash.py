"""LongCat-Flash: two attentions and two networks in each layer, experts beside them, some of which do nothing."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    base,
    correction_bias,
    experts,
    mla,
    rms_norm,
    stack,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# transformers 5.23: modeling_longcat_flash.py
# and longcat_flash_ngram.py of ml-explore/mlx-lm 0.32.2
MODEL_TYPES = ("longcat_flash", "longcat_flash_ngram")
PREDICTORS = ("LongCatFlashMTPModel", "LongcatFlashForCausalLMNextN")
IGNORED = ("num_hidden_layers",)
MERGED = packed()

_MOST = 4_096  # tables, which have sizes of their own


class Ngrams(Record):
    """Tables of n-grams, the first of `rows` rows, each next one two longer, and each `width` wide."""

    tables: int
    rows: int
    width: int


def _ngrams(c: Config) -> Ngrams:
    split = c.int("emb_split_num", default=4, maximum=_MOST)
    longest = c.int("emb_neighbor_num", default=4, minimum=2, maximum=_MOST)
    tables = split * (longest - 1)
    if tables > _MOST:
        raise c.error("out-of-range", f"{tables:,} tables of n-grams are more than {_MOST:,}.", "emb_split_num")
    width = int(c.int("hidden_size")) // int(tables)
    if not width:
        text = f"hidden_size is less than the {tables:,} tables of n-grams."
        raise c.error("not-divisible", text, "hidden_size", "Correct one of them.")
    ratio = c.int("ngram_vocab_size_ratio", default=78)
    each = keys.derived_dim(c, "d_n", width, "{hidden_size} / ({emb_split_num} · ({emb_neighbor_num} - 1))")
    return Ngrams(tables=tables, rows=ratio * c.int("vocab_size"), width=each)


class LongcatFlash(Sizes):
    zero_expert_num: int
    ffn_hidden_size: int
    router_bias: bool = flag(absent=False)
    ngrams: Ngrams | None


def spec(c: Config) -> Spec[LongcatFlash]:
    mixer = keys.mla(c)
    # Experts that give back what they get are scored, and have no weights.
    zero = 0 if c.is_null("zero_expert_num") else c.int("zero_expert_num", default=0, minimum=0)
    m = keys.moe(c, "expert_ffn_hidden_size", experts=("n_routed_experts",), active=("moe_topk", "num_experts_per_tok"))
    width = c.int("ffn_hidden_size", "intermediate_size")
    ngrams = _ngrams(c) if c.family == "longcat_flash_ngram" else None
    sizes = LongcatFlash.read(
        c, ngrams=ngrams, zero_expert_num=keys.dim("n_0", zero), ffn_hidden_size=keys.dim("d_w", width)
    )
    layers = keys.uniform(Layer(mixer=mixer, parallel_mixer=mixer, ffn=m), keys.layer_count(c, "num_layers"))
    count, layer = "num_nextn_predict_layers", Layer(mixer=mixer, ffn=Dense(width=width))
    # No published config has the key, and the checkpoints have the layer.
    parts = keys.drafts(c, count, layer, default=1, announced=c.given(count))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), parts=parts).having(sizes)


def _ahead(d: int, layer: Layer) -> Block:
    network = block(mlp=swiglu(d, layer.dense.width))
    return block(
        enorm=block(m=rms_norm(d)),
        hnorm=block(m=rms_norm(d)),
        eh_proj=Linear(2 * d, d),
        input_layernorm=rms_norm(d),
        self_attn=mla(d, layer.latent),
        post_attention_layernorm=rms_norm(d),
        transformer_layer=network,
    )


def blueprint(s: Spec[LongcatFlash]) -> Block:
    d, of, both = s.hidden, s.own, Indices.below(2)
    twice = Repeat(both, rms_norm(d))

    def layer_block(layer: Layer) -> Block:
        m, scored = layer.moe, layer.moe.experts + of.zero_expert_num
        scores = Linear(d, scored, of.router_bias)
        router = block("router", classifier=scores, e_score_correction_bias=correction_bias(m.replace(experts=scored)))
        return block(
            input_layernorm=twice,
            post_attention_layernorm=twice,
            self_attn=Repeat(both, mla(d, layer.latent)),
            mlps=Repeat(both, swiglu(d, of.ffn_hidden_size)),
            mlp=block(router=router, experts=experts(m, swiglu(d, m.width, component="experts"))),
        )

    table = block(weight=Tensor((s.vocab, d), presence="spare"))  # a copy of the model's
    ahead = stack(s.stack("mtp"), lambda layer: _ahead(d, layer))
    mtp = block("mtp", embed_tokens=table, layers=ahead, norm=rms_norm(d)) if ahead else None
    body = altered(base(s.without("mtp"), layer_block), mtp=mtp)
    if of.ngrams is None:
        return with_head(s, body)
    # The embedding of tokens is one of those of n-grams.
    tree = altered(body, embed_tokens=None, ngram_embeddings=_tables(s.vocab, d, of.ngrams))
    return with_head(s, tree, table="ngram_embeddings.word_embeddings")


def _tables(words: int, d: int, of: Ngrams) -> Block:
    numbers = range(int(of.tables))
    tables = {
        str(number): block(weight=Tensor((of.rows + 2 * number + 1, of.width), active=(1, of.rows + 2 * number + 1)))
        for number in numbers
    }
    return block(
        "embedding",
        word_embeddings=block(weight=Tensor((words, d))),
        embedders=Block(tables),
        post_projs=Repeat(Indices.below(of.tables), Linear(of.width, d)),
    )
