"""GLM-5: latent attention to tokens that an indexer picks, in some layers for those after too (arXiv:2603.12201)."""

from collections.abc import Callable, Iterator

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import decoder, indexer, mla, network, pre_norm, predicting, shared_moe
from hfcount.spec import FeedForward, Layer, Spec
from hfcount.tree.indices import Indices, intersection
from hfcount.tree.nodes import Block

MODEL_TYPES = ("glm_moe_dsa",)


def spec(c: Config) -> Spec:
    mixer, follower = keys.indexed(c, keys.mla(c))
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace")

    def dense() -> FeedForward:
        return keys.dense(c)

    def sparse() -> FeedForward:
        return keys.deepseek_moe(c)

    def kinds(places: Indices, ffn: Callable[[], FeedForward]) -> Iterator[tuple[Indices, Callable[[], Layer]]]:
        full = [intersection(part, places) for part in _indexed(c)]
        yield from ((part, lambda: Layer(mixer=mixer, ffn=ffn())) for part in full)
        yield places.difference(*full), lambda: Layer(mixer=follower, ffn=ffn())

    layers = keys.split(c, *kinds(first, dense), *kinds(rest, sparse))
    return keys.decoder_spec(c, layers, mtp=keys.mtp(c, lambda: Layer(mixer=mixer, ffn=sparse())))


def _indexed(c: Config) -> list[Indices]:
    """The layers with an indexer of their own; the others follow the one before."""
    count, given = keys.layer_count(c), c.strs("indexer_types")
    if given:
        return keys.listing(c, "indexer_types", given, "full", "shared")[:1]
    step = c.int("index_topk_freq", default=1, maximum=MAX_LAYERS)
    start = c.int("index_skip_topk_offset", default=2, maximum=MAX_LAYERS) - 1
    return [Indices.below(min(start, count)), Indices.of(range(start, count, step))]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.latent
        attention = mla(d, a)
        whole = pre_norm(
            d,
            self_attn=Block({**attention.children, "indexer": indexer(d, a)}, "attention")
            if a.index_heads
            else attention,
            mlp=network(d, one, lambda m: shared_moe(d, m, balanced=True)),
        )
        return predicting(s, one, whole, tables=False)

    return decoder(s, layer)
