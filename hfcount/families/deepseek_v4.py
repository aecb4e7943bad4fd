"""DeepSeek-V4: streams of residuals, attention to compressed tokens, experts by hash in the first layers."""

from collections.abc import Iterator

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Layer, Layers, Spec
from hfcount.tree.block import Block, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import embedding, lm_head, rms_norm, stack
from hfcount.tree.parts.streams import compressed, hash_moe, mixer, streams

MODEL_TYPES = ("deepseek_v4", "deepseek_ref")


def spec(c: Config) -> Spec:
    heads, groups = c.int("num_attention_heads"), c.int("o_groups")
    attention = GQA(heads=heads, kv_heads=1, head_dim=c.int("head_dim"))
    own = {name: c.int(name) for name in ("hc_mult", "o_lora_rank", "q_lora_rank", "index_n_heads", "index_head_dim")}
    keys.divides(c, "o_groups", groups, "num_attention_heads · head_dim", heads * attention.head_dim)
    ffn = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts", "num_experts"))
    ffn = ffn.but(shared=ffn.width, bias=c.bool("mlp_bias", default=False))
    count = keys.layer_count(c)
    kinds = c.strs("mlp_layer_types")[:count]
    first = min(c.int("num_hash_layers", default=3, minimum=0, maximum=MAX_LAYERS), count)
    hashed, scored = (
        keys.listing(c, "mlp_layer_types", kinds, "hash_moe", "moe")
        if kinds
        else (Indices.upto(first), Indices.of(range(first, count)))
    )
    layers = [
        Layers(
            indices=both, layer=Layer(mixer=attention, ffn=ffn, extras={"rate": rate, "overlap": overlap, "hash": by})
        )
        for part, rate, overlap in _attention(c)
        for by, places in ((1, hashed), (0, scored))
        if (both := common(part, places)).count
    ]
    return keys.frame(c, layers, heads=("ForCausalLM", "Model"), extras={**own, "o_groups": groups})


def _attention(c: Config) -> Iterator[tuple[Indices, int, int]]:
    """Layers by how many tokens they compress into one (0: none), and whether these overlap."""
    count, rates = keys.layer_count(c), c.part("compress_rates")
    sparse = c.int("compress_rate_csa", default=rates.int("compressed_sparse_attention", default=4))
    heavy = c.int("compress_rate_hca", default=rates.int("heavily_compressed_attention", default=128))
    names = ("sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention")
    if given := c.strs("layer_types")[:count]:
        parts = keys.listing(c, "layer_types", given, *names)
    elif ratios := c.ints("compress_ratios")[:count]:
        parts = keys.listing(c, "compress_ratios", ratios, 0, 4, 128)
    else:
        late = Indices.of(range(3, count, 2))
        parts = [Indices.upto(0), late, Indices.upto(count).less(late)]
    yield from zip(parts, (0, sparse, heavy), (0, 1, 0), strict=True)


def blueprint(s: Spec) -> Block:
    d, sizes, bare = s.hidden, s.extras, s.head == "base"
    several = sizes["hc_mult"]

    def layer(one: Layer) -> Block:
        return block(
            attn_norm=rms_norm(d),
            attn=compressed(d, one.attention, sizes, one.extras["rate"], bool(one.extras["overlap"])),
            ffn_norm=rms_norm(d),
            ffn=hash_moe(d, one.moe, s.vocab if one.extras["hash"] else None),
            **mixer("hc_attn", d, several),
            **mixer("hc_ffn", d, several),
        )

    head = streams(d, several)
    body = {
        "embed" if bare else "embed_tokens": embedding(s.vocab, d),
        "layers": stack(s.layers, layer),
        "norm": rms_norm(d),
        **({f"hc_head_{name[3:]}": one for name, one in head.children.items()} if bare else {"hc_head": head}),
    }
    return Block(body) if bare else Block({"model": Block(body), "head": lm_head(s, "model.embed_tokens.weight")})
