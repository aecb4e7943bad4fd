"""NeoMME, an encoder of text and patches: an embedding of low rank, values of their own for tokens (transformers)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, gqa, layer_norm, lm_head, mlp, stack
from hfcount.mapper import Config, Sizes, size
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import Layer, Spec, Window
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Tensor, Tied, block

MODEL_TYPES = ("neomme",)  # transformers 5.23: modeling_neomme.py


class Neomme(Sizes):
    embedding_rank: int = size("r")
    embedding_dim: int = size("d_o", absent=128)


def spec(c: Config) -> Spec[Neomme]:
    bias, patch = c.bool("attention_bias", default=False), keys.patches(c, "num_channels")
    mixer = keys.attention(c, bias=bias)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    sizes = Neomme.read(c)
    heads = keys.named(("ForMaskedLM", "Model"), ForRetrieval="retrieval")
    model = keys.decoder_spec(c, layer, tied=True, heads=heads, patches=patch, windows=_alternating(c))
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[Neomme]) -> Block:
    d, rank, pixels = s.hidden, s.own.embedding_rank, s.seen.pixels

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        out = block(gate_proj=Linear(d, a.heads * a.head_dim), o_proj=Linear(a.heads * a.head_dim, d, a.out_bias))
        exclusive = block(alpha=Tensor((a.heads,)))
        attention = altered(gqa(d, a), o_proj=None, exclusive_self_attention=exclusive, output_projection=out)
        network = mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj")
        return block(lambdas=Tensor((2,), component="other"), self_attn=attention, mlp=network)

    a = s.layers[0].layer.attention
    patches = block(norm=layer_norm(pixels), up_proj=Linear(pixels, 2 * d), down_proj=Linear(2 * d, d, True))
    body = block(
        embed_tokens=block("embedding", word_embeddings=embedding(s.vocab, rank), embedding_projection=Linear(rank, d)),
        patch_embeddings=Block(patches.children, "embedding"),
        layers=stack(s.layers, layer_block),
        value_embeddings=embedding(s.vocab, a.kv_heads * a.head_dim),
    )
    if s.head == "base":
        return body
    if s.head == "retrieval":
        return block(model=body, multi_vector_head=block(proj=Linear(d, s.own.embedding_dim, component="projector")))
    table, projection = (f"model.embed_tokens.{name}.weight" for name in ("word_embeddings", "embedding_projection"))
    back = Tied(projection, (d, rank), "lm_head") if s.tied else Linear(rank, d, component="lm_head")
    return block(model=body, unembedding_projection=back, lm_head=lm_head(s, table, width=rank))


def _alternating(c: Config) -> tuple[Window, ...]:
    """Windows on both sides, every other one longer, but in each sixth and the last layer, or as the config lists them.

    Source: transformers 5.23, configuration_neomme.py, NeoMMEConfig.
    """
    count, given = keys.layer_count(c), c.strs("layer_types")
    full = Indices.span(5, count, 6)
    local = Indices.below(count).difference(full, Indices.of(() if count - 1 in full else (count - 1,)))
    if given:
        local = keys.listing(c, "layer_types", given, "full_attention", "sliding_attention")[1]
    usual, layers = keys.extent(c, "sliding_window", default=256), list[tuple[Indices, int | None]]()
    if c.has("per_layer_config"):
        several = overrides(c, ("sliding_window",), count)
        layers = [(Indices.of(some), keys.extent(config, "sliding_window")) for some, config in several]
    elif count <= _WRITTEN_OUT:
        layers = [(Indices.of(list(local)[1::2]), _LONG)]
    placed = [(intersection(local, part), size) for part, size in layers]
    placed.append((local.difference(*(part for part, _ in placed)), usual))
    return tuple(window for part, size in placed if size for window in keys.within(part, 2 * int(size) + 1))


_LONG = 1024


_WRITTEN_OUT = 1 << 20  # of more layers the alternation is left out
