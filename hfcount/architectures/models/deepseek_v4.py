"""DeepSeek-V4: several residual streams, attention to compressed tokens, experts chosen by hash in the first layers."""

from collections.abc import Mapping

from hfcount.architectures import keys
from hfcount.architectures.components.compressed import compressed
from hfcount.architectures.components.stages import BESIDE, Stages
from hfcount.architectures.layers import rms_norm, stack
from hfcount.architectures.layers.conversions import W_EXPERTS
from hfcount.architectures.layers.ffn import correction_bias, experts
from hfcount.architectures.layers.streams import joining, mixer, streamed
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Layer, Layers, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, buffer

# transformers 5.23: modeling_deepseek_v4.py
# and, for what predicts further tokens, mtp.py and dspark.py of vllm-project/vllm 0.33
MODEL_TYPES = ("deepseek_v4", "deepseek_ref")
PREDICTORS = ("DeepSeekV4MTPModel", "DeepseekV4ForCausalLMNextN")
IGNORED = ("compress_rope_theta", "hc_sinkhorn_iters", *BESIDE)
# DeepSeek's own names in its fourth version.
SPELLINGS = {
    r"\.attn\.": ".self_attn.",
    r"\.ffn\.": ".mlp.",
    r"\.indexer\.compressor\.": ".compressor.indexer.",
    r"\.indexer\.(wq_b|weights_proj)\.": r".compressor.indexer.\1.",
    r"\.indexer\.weights_proj\.": ".indexer.scorer.weights_proj.",
    r"^embed\.": "embed_tokens.",
    r"^head\.": "lm_head.",
    r"^hc_head_(fn|base|scale)$": r"hc_head.hc_\1",
    r"\.attn_norm\.": ".input_layernorm.",
    r"\.ffn_norm\.": ".post_attention_layernorm.",
    r"\.hc_(attn|ffn)_(fn|base|scale)$": r".\1_hc.\2",
    r"\.attn_sink$": ".sinks",
    r"(?<!^model)\.norm\.": ".kv_norm.",
    r"\.ape$": ".position_bias",
    r"\.wq_a\.": ".q_a_proj.",
    r"\.wq_b\.": ".q_b_proj.",
    r"\.wkv\.": ".kv_proj.",
    r"\.wgate\.": ".gate_proj.",
    r"\.wo_([ab])\.": r".o_\1_proj.",
    r"\.q_norm\.": ".q_a_norm.",
    r"\.gate\.bias$": ".gate.e_score_correction_bias",
    r"\.shared_experts\.w1\.": ".shared_experts.gate_proj.",
    r"\.shared_experts\.w2\.": ".shared_experts.down_proj.",
    r"\.shared_experts\.w3\.": ".shared_experts.up_proj.",
}
MERGED = W_EXPERTS


class DeepseekV4(Sizes):
    o_groups: int
    hc_mult: int = size()
    o_lora_rank: int = size()
    q_lora_rank: int = size()
    index_n_heads: int = size()
    index_head_dim: int = size()
    num_experts_per_tok: int = size()
    stages: Stages | None


class DeepseekV4Layer(Record):
    """How a layer attends and chooses its experts.

    Args:
        rate: tokens that are compressed into one, if they are.
        overlap: whether groups of them overlap.
        hashed: whether a token's id chooses its experts.
    """

    rate: int | None
    overlap: bool
    hashed: bool


def spec(c: Config) -> Spec[DeepseekV4]:
    heads, groups = c.int("num_attention_heads"), c.int("o_groups")
    attention = GQA(heads=heads, kv_heads=1, head_dim=c.int("head_dim"), keys_are_values=True)
    stages = Stages.read_from(c)
    sizes = DeepseekV4.read(c, o_groups=groups, stages=stages)
    keys.divides(c, "o_groups", groups, "num_attention_heads · head_dim", heads * attention.head_dim, built=True)
    ffn = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts", "num_experts"))
    ffn = ffn.replace(shared=ffn.width, bias=c.bool("mlp_bias", default=False))
    c.confirms(num_key_value_heads=1, n_shared_experts=1)
    networks, compressing = _hashed(c), _compressing(c)
    layers = [
        Layers(indices=both, layer=Layer(mixer=attention, ffn=ffn, own=entries.replace(hashed=hashed)))
        for part, entries in compressing
        for some, hashed in networks
        if (both := intersection(part, some)).count
    ]
    entries = tuple(
        kept
        for part, entries in compressing
        for kept in compressed(c, attention, part, entries.rate or 0, entries.overlap)
    )
    windows, heads_known = keys.sliding_everywhere(c, default=128), ("ForCausalLM", "Model")
    plain = DeepseekV4Layer(rate=None, overlap=False, hashed=False)
    ahead = _ahead(c, stages, Layer(mixer=attention, ffn=ffn, own=plain))
    model = keys.decoder_spec(c, layers, heads=heads_known, windows=windows, entries=entries, parts=ahead)
    return model.having(sizes)


def _ahead(c: Config, stages: Stages | None, layer: Layer) -> dict[str, Spec]:
    """Layers that predict further tokens, one after the other, or DSpark's stages, which take their names."""
    if stages:
        return stages.layers(c, c, layer, "n_mtp_layers")
    key = "num_nextn_predict_layers"
    return keys.drafts(c, key, layer, default=1, announced=c.given(key))


def _hashed(c: Config) -> list[tuple[Indices, bool]]:
    """Sets of layers, and whether a token's id chooses their experts, as it does in the first num_hash_layers."""
    count = keys.layer_count(c, "num_hidden_layers")
    kinds = c.strs("mlp_layer_types")[:count]
    first = min(c.int("num_hash_layers", default=3, minimum=0, maximum=MAX_LAYERS), count)
    parts = [Indices.below(first), Indices.span(first, count)]
    if kinds:
        parts = keys.listing(c, "mlp_layer_types", kinds, "hash_moe", "moe")
    return list(zip(parts, (True, False), strict=True))


def _compressing(c: Config) -> list[tuple[Indices, DeepseekV4Layer]]:
    """Sets of layers, and how they compress tokens."""
    count, rates = keys.layer_count(c, "num_hidden_layers"), c.part("compress_rates")
    sparse = c.int("compress_rate_csa", default=rates.int("compressed_sparse_attention", default=4))
    heavy = c.int("compress_rate_hca", default=rates.int("heavily_compressed_attention", default=128))
    names = ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")
    if given := c.strs("layer_types")[:count]:
        parts = keys.listing(c, "layer_types", given, *names)
    elif ratios := c.ints("compress_ratios")[:count]:
        parts = keys.listing(c, "compress_ratios", ratios, 0, 4, 128)
    else:
        late = Indices.span(3, count, 2)
        parts = [Indices.below(0), late, Indices.below(count).difference(late)]
    kinds = ((None, False), (sparse, True), (heavy, False))
    return [
        (part, DeepseekV4Layer(rate=rate, overlap=overlap, hashed=False))
        for part, (rate, overlap) in zip(parts, kinds, strict=True)
    ]


def blueprint(s: Spec[DeepseekV4]) -> Block:
    d, several = s.hidden, s.own.hc_mult

    def layer_block(layer: Layer) -> Block:
        return block(
            attn_norm=rms_norm(d),
            attn=_attention(d, layer, s.own),
            ffn_norm=rms_norm(d),
            ffn=_hash_moe(
                d, layer.moe, s.vocab if layer.sizes(DeepseekV4Layer).hashed else None, s.own.num_experts_per_tok
            ),
            **mixer("hc_attn", d, several),
            **mixer("hc_ffn", d, several),
        )

    body = streamed(s, stack(s.layers, layer_block), several)
    if "mtp" not in s.parts:
        return body
    join = joining(d, several)
    if s.own.stages:
        mtp: Node = s.own.stages.tensors(s, layer_block, ("markov_w1", "markov_w2"), **join)
    else:
        mtp = stack(s.stack("mtp"), lambda layer: _predicting(s, layer_block(layer), join))
    return Block({**body.children, "mtp": mtp})


def _predicting(s: Spec[DeepseekV4], layer: Block, join: Mapping[str, Node]) -> Block:
    """A layer that predicts a further token from the embedding and the streams.

    Tensors besides the layer's: e_proj and h_proj (d, d), enorm, hnorm and norm (d), hc_head; copies of the model's
    embedding and head, emb.tok_emb and head (|V|, d), which some writers leave out.
    """
    d, table = s.hidden, Tensor((s.vocab, s.hidden), presence="spare")
    module = block(
        emb=block(tok_emb=block(weight=table)),
        e_proj=Linear(d, d),
        h_proj=Linear(d, d),
        enorm=rms_norm(d),
        hnorm=rms_norm(d),
    )
    end = block(norm=rms_norm(d), head=block(weight=table))
    return Block({**module.children, **layer.children, **end.children, **join}, "mtp")


def _compressor(d: int, width: int, rate: int, overlap: bool) -> Block:
    """Compresses `rate` tokens into one key and value of `width` elements.

    Tensors: wkv and wgate (width, d), ape (rate, width), each twice as wide if groups overlap; norm (width).
    """
    inner = 2 * width if overlap else width
    return block(wkv=Linear(d, inner), wgate=Linear(d, inner), ape=Tensor((rate, inner)), norm=rms_norm(width))


def _attention(d: int, layer: Layer, of: DeepseekV4) -> Block:
    """Attention with one key/value head, low-rank queries and outputs, and compressed tokens if it compresses any.

    Tensors: wq_a, q_norm, wq_b, wkv, norm, wo_a (o_groups·o_lora_rank, h·h_d/o_groups), wo_b, attn_sink (h), the
    compressor, and if groups overlap an indexer with wq_b, weights_proj and a compressor of its own.
    """
    a, rank, inner, sizes = layer.attention, of.q_lora_rank, of.o_groups * of.o_lora_rank, layer.sizes(DeepseekV4Layer)
    rate, overlap = sizes.rate or 0, sizes.overlap
    indexer = block(
        wq_b=Linear(rank, of.index_n_heads * of.index_head_dim),
        weights_proj=Linear(d, of.index_n_heads),
        compressor=_compressor(d, of.index_head_dim, rate, overlap),
    )
    return block(
        "attention",
        wq_a=Linear(d, rank),
        q_norm=rms_norm(rank),
        wq_b=Linear(rank, a.heads * a.head_dim),
        wkv=Linear(d, a.head_dim),
        norm=rms_norm(a.head_dim),
        wo_a=Linear((a.heads * a.head_dim) // of.o_groups, inner),
        wo_b=Linear(inner, d),
        attn_sink=Tensor((a.heads,)),
        compressor=_compressor(d, a.head_dim, rate, overlap) if rate else None,
        indexer=indexer if overlap else None,
    )


def _hash_moe(d: int, m: MoE, vocab: int | None, chosen: int) -> Block:
    """Routed and shared experts; with `vocab` each token id has k fixed experts, `chosen` of them.

    Tensors: gate.weight (n, d) and gate.bias (n), or gate.tid2eid (|V|, k), both buffers; w1, w3 (d_ff, d) and w2
    (d, d_ff) of each expert and of the shared one.
    """
    choice = block(tid2eid=buffer(vocab, chosen, whole=True)) if vocab is not None else block(bias=correction_bias(m))

    def expert(bias: bool) -> dict[str, Node]:
        return {"w1": Linear(d, m.width, bias), "w2": Linear(m.width, d, bias), "w3": Linear(d, m.width, bias)}

    return block(
        gate=Block({"weight": Tensor((m.experts, d)), **choice.children}, "router"),
        experts=experts(m, Block(expert(False), "experts")),
        shared_experts=Block(expert(m.bias), "mlp"),
    )
